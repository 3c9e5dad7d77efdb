"""How a log ends, in words that no row knows: nothing is concluded from them, but nobody is told that all is well."""

import re

from diagnosis import signatures
from diagnosis.case import Case
from diagnosis.observations import Evidence, Origin, Role

NEWEST = 5
"""Lines of each rank that count as its end."""

_TROUBLE = re.compile(
    r"\b(?:FATAL|CRITICAL|ERROR|[Ff]atal|[Ee]rror:|[Ff]ailed|[Ff]ailure|[Aa]bort(?:ed|ing)?|[Ee]xception|[Pp]anic|"
    r"[Cc]rash(?:ed)?|[Tt]erminated|[Kk]illed|[Cc]annot|[Uu]nable to)\b"
)
_ORDINARY = re.compile(r"(?i)\b(?:step|iter(?:ation)?|epoch|warning|warn|info|debug|retry(?:ing)?|0 failed)\b|%\|")
"""Words of a training's own lines, and of those that are no trouble."""


def unknown_end(case: Case) -> Evidence | None:
    """The first line of trouble among the last ones of a rank that did not say it was done, or what it raised at once.

    None when there is none.
    """
    for _, log in case.logs():
        for facts in log.ranks.values():
            if facts.finished is not None:
                continue
            found = next((line for line in facts.newest[-NEWEST:] if _is_trouble(line)), None)
            if found is not None:
                return found
        raised = next((item for item in reversed(log.sightings) if item.raised is not None), None)
        if raised is not None and log.last_told is None:
            return raised.symptom.evidence
    return None


def _is_trouble(line: Evidence) -> bool:
    if _TROUBLE.search(line.text) is None or _ORDINARY.search(line.text) is not None:
        return False
    return not any(seen.role is Role.BENIGN for seen in signatures.match(line.text, Origin(), line))
