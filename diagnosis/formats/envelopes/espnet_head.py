"""`[node001] 2021-04-23 19:22:56,245 (trainer:636) INFO: text` as ESPnet prints it: the node in front."""

import re

from diagnosis.formats.envelopes.base import STAMP, Envelope

ENVELOPE = Envelope(
    "espnet head",
    "[",
    re.compile(rf"\[(?P<node>[A-Za-z][\w.-]*)\] (?P<stamp>{STAMP}) \([\w.]+:\d+\) [A-Z]+: "),
    every_line=False,
)
