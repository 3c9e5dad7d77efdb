"""`Mar 01 12:00:00 node001 python[123]: text` as journald and syslog print it: node and time without a year.

Newer ones print `2024-05-01T12:00:00.123456+02:00 node001 python[123]: text`, and between machines
`<14>1 2024-05-01T12:00:00.123Z node001 train 1234 - - text`.
"""

import re

from diagnosis.formats.envelopes.base import Envelope

ENVELOPE = Envelope(
    "syslog",
    "a",
    re.compile(
        r"(?P<stamp>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?) (?P<node>[\w.-]+) (?!kernel)[\w./@-]+(?:\[\d+\])?: "
    ),
)

_STAMP = r"(?P<stamp>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)) (?P<node>[\w.-]+) "

ISO = Envelope("syslog", "0", re.compile(_STAMP + r"(?!kernel)[\w./@-]+\[\d+\]: "))
RELAYED = Envelope("syslog", "<", re.compile(r"<\d{1,3}>1 " + _STAMP + r"(?!kernel)\S+ \S+ \S+ (?:-|\[[^\]]*\]) "))
