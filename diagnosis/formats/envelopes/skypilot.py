"""`(worker1, rank=1, pid=22755, ip=10.0.0.3) text` as SkyPilot prints it: rank is the node's number.

Some releases put the cluster's name of the node before the word worker.
"""

import re

from diagnosis.formats.envelopes.base import Envelope

ENVELOPE = Envelope(
    "skypilot",
    "(",
    re.compile(r"\((?P<node>[\w.-]+), (?:(?:head|worker ?\d+), )?rank=\d+, pid=\d+(?:, ip=[\w.:-]+)?\) ?"),
)
