"""What could not be looked at, in few words: the same lack of many nodes once, and nothing that another item says."""

from collections.abc import Iterable

MOST_LACKS = 4
MOST_NODES = 2
_REASONS_FALL = ("kernel log not readable",)
"""Why, is in the node's own log."""
_ORDINARY = ("kernel log not readable", "no NVIDIA driver here")
_SAID_BY = {"no kernel log": "kernel log not readable", "no GPU readings": "no NVIDIA driver here"}
"""What lacks → the reason that tells it already."""


def is_ordinary(item: str) -> bool:
    """Whether a node may lack this for good without anything being wrong."""
    return item.partition(": ")[2].startswith(_ORDINARY)


def unseen(told: Iterable[str]) -> str:
    """`kernel log not readable (5 nodes), no NVIDIA driver here (node002)`; empty when all could be looked at."""
    lacks: dict[str, list[str]] = {}
    for item in told:
        node, has_node, lack = item.partition(": ")
        if not has_node or " " in node:
            node, lack = "", item
        lack = next((short for short in _REASONS_FALL if lack.startswith(short)), lack)
        nodes = lacks.setdefault(lack, [])
        if node and node not in nodes:
            nodes.append(node)
    kept = [lack for lack in lacks if not _is_said(lack, lacks)]
    more = [f"{len(kept) - MOST_LACKS} more"] if len(kept) > MOST_LACKS else []
    return "; ".join([*(_with_nodes(lack, lacks[lack]) for lack in kept[:MOST_LACKS]), *more])


def _is_said(lack: str, lacks: Iterable[str]) -> bool:
    return any(lack.startswith(absent) and reason in lacks for absent, reason in _SAID_BY.items())


def _with_nodes(lack: str, nodes: list[str]) -> str:
    if not nodes:
        return lack
    named = ", ".join(nodes) if len(nodes) <= MOST_NODES else f"{len(nodes)} nodes"
    return f"{lack} ({named})"
