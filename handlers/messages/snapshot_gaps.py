"""What a snapshot lacks, in few words: the same lack of several nodes once, pieces of one tool together."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from handlers.messages.phrase import Clause, Phrase, and_more, join, say

if TYPE_CHECKING:
    from handlers.messages.snapshot import NodeSaved

MOST_LINES = 20
MOST_NODES = 4


def gaps(saved: Sequence["NodeSaved"]) -> list[Phrase]:
    """A line for each lack; each piece's own outcome is in the text beside the answer."""
    good, failed = [node for node in saved if not node.error], [node for node in saved if node.error]
    nodes: dict[tuple[str, ...], list[str]] = {}
    for node in good:
        if node.missing:
            nodes.setdefault(node.missing, []).append(node.node)
    found = [
        say("• Not saved on {nodes}: {what}", nodes=_named(names), what=_by_reason(missing))
        for missing, names in nodes.items()
    ]
    found += [say("• {node}: {error}", node=node.node, error=Clause(node.error)) for node in failed]
    found += [
        say("• {node}: no copy in the store, only on the node: {why}", node=node.node, why=Clause(node.url_problem))
        for node in good
        if node.url_problem
    ]
    return found[:MOST_LINES]


def _named(nodes: Sequence[str]) -> Phrase:
    listed = ", ".join(nodes[:MOST_NODES])
    return say("{nodes}{more}", nodes=listed, more=and_more(len(nodes) - MOST_NODES))


def _by_reason(missing: Sequence[str]) -> Phrase:
    """`nvidia-smi (4 pieces): no nvidia-smi here; stacks: …`: each reason once."""
    pieces: dict[str, list[str]] = {}
    for one in missing:
        piece, _, why = one.partition(": ")
        pieces.setdefault(why, []).append(piece)
    told = []
    for why, names in pieces.items():
        named = _together(names)
        told.append(say("{pieces}: {why}", pieces=named, why=Clause(why)) if why else say("{pieces}", pieces=named))
    return join(told, "; ")


def _together(names: Sequence[str]) -> Phrase:
    """Pieces of one tool are counted, where they lack for one reason: `nvidia-smi (4 pieces)`."""
    tool = names[0].rpartition("_")[0]
    if len(names) > 1 and tool and all(name.startswith(f"{tool}_") for name in names):
        return say("{tool} ({n} pieces)", tool=tool.replace("_", "-"), n=len(names))
    return say("{pieces}", pieces=", ".join(names))
