"""`worker-2: text` as DeepSpeed's launcher and pdsh print it: the node.

A word with a colon may be anything, so it is believed only once several lines began with such a name.
"""

import re

from diagnosis.formats.envelopes.base import Envelope

ENVELOPE = Envelope(
    "host name",
    "a0",
    re.compile(
        r"(?P<node>(?!(?:step|iter|iteration|epoch|batch|rank|gpu|cuda|layer|loss|line|head|block|group|stage)s?[-_]?\d)"
        r"(?:[A-Za-z][A-Za-z0-9.-]*\d[A-Za-z0-9.-]*|\d{1,3}(?:\.\d{1,3}){3})): "
    ),
    sure=False,
)
