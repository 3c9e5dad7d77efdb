"""What only the whole of a living run adds to a diagnosis: nodes that fell silent, and who fell silent first.

Files hold no heartbeats. A node whose watcher was last heard when the others stopped is what they wait for; one that
fell silent at another time has only lost its watcher.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from diagnosis.instructions import MOST_STEPS, without_repeats
from diagnosis.observations import Category, Evidence, RankProgress
from diagnosis.root_cause.answer import Diagnosis
from diagnosis.wording import duration

SAME_TIME_SECONDS = 120.0
"""A watcher and a run that fell silent within this time did so for one reason."""
FEW = 1 / 3
GAP_FACTOR = 3.0
SHORTEST_GAP = 5.0
"""A rank stopped first only when it fell silent this long before the next one."""
_WAITS = frozenset(
    {Category.NONE, Category.COLLECTIVE_HANG, Category.NETWORK_FAULT, Category.NODE_LOST, Category.DATALOADER_STALL}
)
"""What a run shows that waits for a node that is gone."""


@dataclass(frozen=True, slots=True)
class Silence:
    """When one rank printed its last line, and how often it usually prints."""

    rank: int
    last_at: float
    usual_gap: float | None


@dataclass(frozen=True, slots=True)
class Whole:
    """What is known of the whole run beside what its nodes told; times on the registry's clock."""

    silent_nodes: Mapping[str, float]
    """Node → when its watcher was last heard."""
    nodes: int
    """How many nodes the run has."""
    stopped_at: float | None
    """The last progress of any rank."""
    ranks: Sequence[RankProgress] = ()
    usual_gaps: Mapping[int, float] | None = None
    clock_uncertainty_seconds: float = 1.0


def complete(said: Diagnosis, whole: Whole) -> Diagnosis:
    """The diagnosis with what the whole run adds; what the nodes showed of a rank is never overruled by a guess."""
    told = _place(said, whole.ranks)
    lost = _lost_node(whole)
    if lost is not None and (told.category in _WAITS or told.confidence == "low") and not _is_sure(told):
        return _name_node(told, lost, whole)
    if told.culprit_rank is None and not told.suspects and told.category in {Category.NONE, Category.COLLECTIVE_HANG}:
        first = silence_order(_silences(whole), whole.clock_uncertainty_seconds)
        if first is not None:
            rank, text = first
            suspected = replace(told, suspects=(rank,), because=(*told.because, text))
            return replace(suspected, category=Category.COLLECTIVE_HANG, confidence="low")
    return told


def silence_order(silences: Sequence[Silence], clock_uncertainty: float) -> tuple[int, str] | None:
    """The rank that fell silent first, where neither its own habit nor the clocks can explain it (the weakest sign)."""
    chatty = _alike(silences)
    if len(chatty) < 2:
        return None
    ordered = sorted(chatty, key=lambda item: item.last_at)
    first, second = ordered[0], ordered[1]
    gap = second.last_at - first.last_at
    if gap <= max(GAP_FACTOR * (first.usual_gap or 0.0), clock_uncertainty, SHORTEST_GAP):
        return None
    return first.rank, (
        f"rank {first.rank} fell silent {duration(gap)} before the next one (clocks ±{clock_uncertainty:g} s)"
    )


def _is_sure(said: Diagnosis) -> bool:
    return said.culprit_rank is not None and said.confidence == "high"


def _lost_node(whole: Whole) -> str | None:
    """The one node that fell silent when the run stopped, where most others are still heard."""
    if whole.stopped_at is None or not whole.silent_nodes or len(whole.silent_nodes) > max(1, whole.nodes * FEW):
        return None
    if whole.nodes <= len(whole.silent_nodes):
        return None
    same = [node for node, heard in whole.silent_nodes.items() if abs(heard - whole.stopped_at) <= SAME_TIME_SECONDS]
    return same[0] if len(same) == 1 else None


def _name_node(said: Diagnosis, node: str, whole: Whole) -> Diagnosis:
    assert whole.stopped_at is not None
    gap = whole.silent_nodes[node] - whole.stopped_at
    when = f"{duration(abs(gap))} {'after' if gap > 0 else 'before'} the last progress of the run"
    others = whole.nodes - len(whole.silent_nodes)
    heard = "the other is still heard" if others == 1 else f"the {others} others are still heard"
    sentence = f"the watcher of {node} was last heard {when}; {heard}"
    ranks = tuple(
        sorted(one.origin.rank for one in whole.ranks if one.origin.node == node and one.origin.rank is not None)
    )
    return replace(
        said,
        category=Category.NODE_LOST,
        confidence="medium",
        culprit_node=node,
        culprit_rank=None,
        culprit_local_rank=None,
        suspects=ranks,
        evidence=Evidence(f"heartbeats of {node}", None, sentence),
        signature="silent_node",
        because=(sentence, *said.because),
        runner_up="only the watcher of that node ended, and the run stopped for another reason",
        next=tuple(
            without_repeats(
                (
                    f"Find out whether {node} is alive: ping it, look at its console and the scheduler's view.",
                    f"If it lives, start the watcher there again and ask once more: nobody could look at {node}.",
                    *said.next,
                ),
                MOST_STEPS,
            )
        ),
    )


def _place(said: Diagnosis, ranks: Iterable[RankProgress]) -> Diagnosis:
    """Node and local rank of whom it names, as the registry knows them."""
    origin = next((one.origin for one in ranks if one.origin.rank == said.culprit_rank), None)
    if said.culprit_rank is None or origin is None:
        return said
    local = said.culprit_local_rank if said.culprit_local_rank is not None else origin.local_rank
    return replace(said, culprit_node=said.culprit_node or origin.node, culprit_local_rank=local)


def _silences(whole: Whole) -> list[Silence]:
    gaps = whole.usual_gaps or {}
    return [
        Silence(one.origin.rank, one.heard_at, gaps.get(one.origin.rank))
        for one in whole.ranks
        if one.origin.rank is not None and one.heard_at is not None
    ]


def _alike(silences: Sequence[Silence]) -> list[Silence]:
    """Ranks of similar chatter: one that prints rarely is never compared with one that prints always."""
    gaps = sorted(item.usual_gap for item in silences if item.usual_gap is not None)
    if not gaps:
        return []
    middle = gaps[len(gaps) // 2]
    return [item for item in silences if item.usual_gap is not None and item.usual_gap <= max(3.0 * middle, 1.0)]
