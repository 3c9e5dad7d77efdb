"""`pretrain/0 [default2]:text` as TorchX and NeMo-Run print it: the role and its replica, before torchrun's own tag."""

import re

from diagnosis.formats.envelopes.base import Envelope

ENVELOPE = Envelope("torchx", "a", re.compile(r"[A-Za-z][\w.-]{0,80}/\d{1,5} (?=\[(?!rank)[a-zA-Z_]+\d{1,6}\]:)"))
