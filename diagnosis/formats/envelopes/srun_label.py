"""`  0: text` as `srun -l` prints it: the task, which is the global rank or the node, as the job was laid out."""

import re

from diagnosis.formats.envelopes.base import Envelope

ENVELOPE = Envelope(
    "srun label", " 0", re.compile(r" *(?P<task>\d{1,6}):(?: (?! ?\d\d:| ?[-\d.na]+, [-\d.na]+ avg)|$)")
)
