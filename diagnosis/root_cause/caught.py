"""Exceptions that a program caught, logged and went on from, though few steps or none came after them."""

import re

from diagnosis.case import CaseFile
from diagnosis.log_facts import LogFacts, Sighting

_BEFORE = re.compile(
    r"(?i)\bskip(?:s|ping|ped)?\b|\bignor(?:e[sd]?|ing)\b|\bretry(?:ing)?\b|\bcaught\b|\bfall(?:s|ing)? ?back\b|"
    r"\b(?:failed|unable|could not|couldn't|cannot|can't|error)\b[^\n]{0,20}\b(?:load|decod|read|open|pars|"
    r"fetch|download|upload|log|report|sync)|"
    r"\b(?:bad|corrupt(?:ed)?|broken) (?:sample|record|image|file|example|batch)|"
    r"Exception (?:in thread|ignored in)"
)
"""What a program says in front of a traceback that it only logs."""
_AFTER = re.compile(
    r"(?i)\bskip(?:s|ping|ped)?\b|\bignor(?:e[sd]?|ing)\b|\bretry(?:ing)?\b|\bfall(?:s|ing)? ?back\b|\binstead\b|"
    r"\bcontinu(?:e[sd]?|ing)\b|\bis not (?:there|available|installed)\b"
)
"""What it says behind one that it met with something else."""
_LOGGED = re.compile(r"^(?:\[rank\d{1,7}\]:)?[VIDW]\d{4} \d\d:\d\d:\d\d\.\d{1,9} ")
"""A line that PyTorch's own loggers print at a level below an error."""
_AT_IMPORT = frozenset({"ImportError", "ModuleNotFoundError"})


def was_caught(sighting: Sighting, file: CaseFile, log: LogFacts) -> bool:
    """Whether its own process told a step after it, and words beside it say that it was only logged.

    Steps alone prove nothing: what a full buffer held back is printed when the process ends.
    """
    raised, line = sighting.raised, sighting.symptom.evidence.line
    if raised is None or line is None:
        return False
    if _LOGGED.match(raised.opened.evidence.text) is not None:
        return True
    if not went_on(sighting, log):
        return False
    kind = (sighting.symptom.fields.get("type") or "").rsplit(".", 1)[-1]
    if kind in _AT_IMPORT and not sighting.steps_before:
        return True  # a process that fails to import ends before it trains
    before = file.line((raised.opened.evidence.line or 0) - 1) or ""
    after = file.line(line + 1) or ""
    return _BEFORE.search(before) is not None or _AFTER.search(after) is not None


def went_on(sighting: Sighting, log: LogFacts) -> bool:
    """The process that raised it told a step afterwards."""
    facts = log.ranks.get(sighting.symptom.origin.rank)
    last = facts.last if facts is not None else None
    return last is not None and last.attempt == sighting.attempt and last.order > sighting.order
