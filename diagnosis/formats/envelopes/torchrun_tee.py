"""`[default7]:text` as `torchrun --tee 3` prints it: the LOCAL rank, so eight nodes have eight of each."""

import re

from diagnosis.formats.envelopes.base import Envelope

ENVELOPE = Envelope("torchrun tee", "[", re.compile(r"\[(?!rank)[a-zA-Z_]+(?P<local_rank>\d{1,6})\]: ?"))
