"""`10/17/2025 16:31:56 [INFO|DP=0|PP=0|TP=0]: text` as nanotron prints it: parallel coordinates, perhaps a node."""

import re

from diagnosis.formats.envelopes.base import Envelope

ENVELOPE = Envelope(
    "nanotron head",
    "0",
    re.compile(
        r"(?P<stamp>\d\d/\d\d/\d{4} \d\d:\d\d:\d\d) \[[A-Z]+\|DP=\d+\|PP=\d+\|TP=\d+(?:\|(?P<node>[\w.-]+))?\]: ?"
    ),
    every_line=False,
)
