"""`slurm_procid 0 : text` as the metaseq launcher prints it."""

import re

from diagnosis.formats.envelopes.base import Envelope

ENVELOPE = Envelope("slurm procid", "a", re.compile(r"slurm_procid (?P<task>\d{1,6}) ?: ?"))
