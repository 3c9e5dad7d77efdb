"""`[0434:0]:text` as some launchers print it: node and local rank by number."""

import re

from diagnosis.formats.envelopes.base import Envelope

ENVELOPE = Envelope("node and rank", "[", re.compile(r"\[(?P<node>\d+):(?P<local_rank>\d{1,6})\]: ?"))
