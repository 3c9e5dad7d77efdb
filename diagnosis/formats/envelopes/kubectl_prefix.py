"""`[pod/train-worker-3/pytorch] text` as `kubectl logs --prefix` prints it: the pod stands for the node."""

import re

from diagnosis.formats.envelopes.base import Envelope

ENVELOPE = Envelope("kubectl prefix", "[", re.compile(r"\[pod/(?P<node>[\w.-]+)/[\w.-]+\] "))
