"""`[1,0]<stdout>:text` as `mpirun --tag-output` prints it: job and global rank; `--timestamp-output` adds the time.

Horovod's own launcher prints the rank alone, Open MPI 5 the name of its daemon before the job, and SageMaker
`[1,mpirank:5,algo-2]<stderr>:` with the node.
"""

import re

from diagnosis.formats.envelopes.base import Envelope

_TIME = r"[A-Z][a-z]{2} (?P<stamp>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}) ?"

ENVELOPE = Envelope(
    "mpirun tag",
    "[MTWFS",
    re.compile(
        rf"(?:{_TIME})?\[(?:[\w.@-]{{1,80}},)?(?:mpirank:)?(?P<rank>\d{{1,6}})(?:,(?P<node>[\w.-]{{1,80}}))?\]"
        r"<std(?:out|err|diag)>: ?"
    ),
)
