"""`Mar 01 12:00:00 node001 python[123]: text` as journald and syslog print it: node and time without a year."""

import re

from diagnosis.formats.envelopes.base import Envelope

ENVELOPE = Envelope(
    "syslog",
    "a",
    re.compile(
        r"(?P<stamp>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?) (?P<node>[\w.-]+) (?!kernel)[\w./@-]+(?:\[\d+\])?: "
    ),
)
