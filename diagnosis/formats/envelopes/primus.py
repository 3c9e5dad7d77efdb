"""`[20251202 09:12:08][rank-7/8][INFO ] [trainer.py:2560] : text` as AMD Primus prints it."""

import re

from diagnosis.formats.envelopes.base import Envelope

ENVELOPE = Envelope(
    "primus",
    "[",
    re.compile(r"\[(?P<stamp>\d{8} \d\d:\d\d:\d\d)\]\[rank-(?P<rank>\d{1,6})/\d+\]\[\w+ *\] ?(?:\[[^\]]*\] ?)?: ?"),
    every_line=False,
)
