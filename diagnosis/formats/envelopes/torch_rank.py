"""`[rank3]: text` as PyTorch 2 and torchtitan print it: the global rank."""

import re

from diagnosis.formats.envelopes.base import Envelope

ENVELOPE = Envelope("rank tag", "[", re.compile(r"\[[Rr]ank ?(?P<rank>\d{1,6})\]: ?"))
