"""`date<tab>node001:0<tab>olmo.train:979<tab>INFO<tab>text` as OLMo prints it: node and local rank."""

import re

from diagnosis.formats.envelopes.base import STAMP, Envelope

ENVELOPE = Envelope(
    "olmo head",
    "0",
    re.compile(rf"(?P<stamp>{STAMP})\t(?P<node>[\w.-]+):(?P<local_rank>\d{{1,6}})\t[^\t]*\t[A-Z]+\t"),
    every_line=False,
)
