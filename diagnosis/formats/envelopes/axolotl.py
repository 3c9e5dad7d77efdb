"""`[date] [INFO] [name] [PID:6552] [RANK:4] text` as axolotl prints it."""

import re

from diagnosis.formats.envelopes.base import STAMP, Envelope

ENVELOPE = Envelope(
    "axolotl",
    "[",
    re.compile(rf"\[(?P<stamp>{STAMP})\] \[\w+\] \[[^\]]*\] \[PID:\d+\] \[RANK:(?P<rank>\d{{1,6}})\] ?"),
    every_line=False,
)
