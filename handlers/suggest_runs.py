"""Names of runs while somebody types: those that begin so, those that hold it, those that look alike."""

import difflib
from collections.abc import Sequence

from handlers.command import Desk, Right, Select
from handlers.messages.home import CHOOSE

MOST = 50
LOOKED_AT = 5000
LONGEST_VALUE = 150
"""Longer names do not fit into a menu of Slack's; they can be typed after a command."""


async def suggest(desk: Desk, typed: str) -> Sequence[tuple[str, str]]:
    """The runs that may be meant; nothing typed: the most recently active."""
    names = await desk.registry.runs.names(LOOKED_AT)
    return [(name, name) for name in like(names, typed) if len(name) <= LONGEST_VALUE]


def like(names: Sequence[str], typed: str) -> list[str]:
    """In the order in which they are offered."""
    wanted = typed.strip().lower()
    if not wanted:
        return list(names[:MOST])
    begins = [name for name in names if name.lower().startswith(wanted)]
    holds = [name for name in names if wanted in name.lower() and name not in begins]
    alike = difflib.get_close_matches(wanted, [name.lower() for name in names], n=5, cutoff=0.6)
    near = [name for match in alike for name in names if name.lower() == match]
    return list(dict.fromkeys((*begins, *holds, *near)))[:MOST]


SELECT = Select(CHOOSE, suggest, Right.READ)
