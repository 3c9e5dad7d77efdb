"""`[HCTR][19:39:43.963][INFO][RK0][main]: text` as HugeCTR prints it: rank, and a time of day without a date."""

import re

from diagnosis.formats.envelopes.base import Envelope

ENVELOPE = Envelope(
    "hugectr head",
    "[",
    re.compile(r"\[HCTR\]\[(?P<stamp>[\d:.]+)\]\[[A-Z]+\]\[RK(?P<rank>\d{1,6})\]\[[^\]]*\]: ?"),
    every_line=False,
)
