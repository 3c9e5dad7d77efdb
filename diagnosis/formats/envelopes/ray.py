"""`(WorkerDict pid=19740, ip=10.0.0.2) text` as Ray prints it for every actor: no rank, the node by its address.

Which rank an actor is, some of its own lines tell: `(WorkerDict pid=19740) [rank3]: …`. The unwrapper remembers it.
"""

import re

from diagnosis.formats.envelopes.base import Envelope

ENVELOPE = Envelope(
    "ray", "(", re.compile(r"\((?P<actor>[A-Za-z_][\w.:<>()-]*? pid=\d+(?:, ip=(?P<node>[\w.:-]+))?)\) ?")
)
