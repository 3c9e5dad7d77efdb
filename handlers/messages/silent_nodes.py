"""The nodes that did not answer, and who else has their logs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from diagnosis import wording
from handlers.messages.phrase import NOTHING, Phrase, and_more, listed, say

if TYPE_CHECKING:
    from handlers.messages.snapshot import NodeSaved

MOST_NAMED = 6


def silent_nodes(silent: Sequence["NodeSaved"]) -> Phrase:
    """`No answer from node09 (…)`; nothing where all answered."""
    if not silent:
        return NOTHING
    names = listed(_named(node) for node in silent[:MOST_NAMED])
    more = and_more(len(silent) - MOST_NAMED)
    return say("*No answer from* {names}{more}. ", names=names, more=more)


def _named(node: "NodeSaved") -> Phrase:
    span = wording.duration(node.silent_seconds or 0.0)
    told = {"node": node.node, "span": span, "other": node.logs_from}
    if node.has_logs_elsewhere:
        return say(
            "{node} (its watcher was last heard {span} ago; its logs are on a shared disk and were saved from {other})",
            **told,
        )
    if node.logs_from:
        return say("{node} (its watcher was last heard {span} ago; {other} sees the folder of its logs too)", **told)
    return say("{node} (its watcher was last heard {span} ago)", node=node.node, span=span)
