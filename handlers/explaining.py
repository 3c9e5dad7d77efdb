"""Why a run stopped: what every node answered, put together and diagnosed as a folder of its files would be."""

import asyncio
import statistics
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from diagnosis.case import Case
from diagnosis.gpu_holders import with_holders
from diagnosis.live_case import case_of
from diagnosis.live_verdict import Whole, complete
from diagnosis.node_facts import NodeFacts
from diagnosis.observations import Category
from diagnosis.root_cause import Diagnosis, diagnose
from diagnosis.stall import Outcome
from handlers.ask_nodes import Asked, ask_nodes, beats_of, ranks_of, view_of_beat, views_of
from handlers.command import Desk
from handlers.messages.causes import ONLY_NUMBERS
from handlers.patience import limits_for
from handlers.standing import Picture, picture_of
from registry import Run
from registry.facts import unpack

LEAST_UNCERTAINTY_SECONDS = 1.0
STILL = frozenset({Outcome.STALLED, Outcome.INITIALISING_TOO_LONG})
"""Outcomes of a run that lives and does not move."""
NUMBERS = frozenset({Category.NAN_INF, Category.LOSS_SPIKE})
"""Categories that tell of a run's numbers, and seldom of how its processes came to their end."""
ENDED_BADLY = frozenset({"crashed", "killed", "preempted"})


async def look(
    desk: Desk, run: Run, pace: tuple[float, ...], *, explains: bool = False, knows_numbers: bool = False
) -> tuple[Picture, Asked, float]:
    """A fresh look at every node of a run, explained where it stands still or broke, or if somebody `explains` it.

    `knows_numbers`: that its numbers went bad is told already; what is asked is why it stands or died.
    """
    stands = await _stands(desk, run, pace)
    nodes = await ask_nodes(desk, run.name, "facts", {"stands": stands}, desk.ask_deadline_seconds)
    ranks = tuple(ranks_of(nodes, await desk.registry.ranks.all(run.name)))
    now = await desk.registry.clock.estimate()
    picture = picture_of(run, ranks, tuple(views_of(nodes)), pace, limits=limits_for(run, desk.thresholds), now=now)
    if explains or wants_a_cause(picture, run):
        picture = replace(picture, diagnosis=await explain(picture, nodes, pace, now, knows_numbers=knows_numbers))
    return picture, nodes, now


async def _stands(desk: Desk, run: Run, pace: tuple[float, ...]) -> bool:
    """Whether the run stands by what the registry knows already: only then may a node look into its processes."""
    ranks = tuple(await desk.registry.ranks.all(run.name))
    views = tuple(map(view_of_beat, await beats_of(desk, run.name)))
    now = await desk.registry.clock.estimate()
    limits = limits_for(run, desk.thresholds)
    return picture_of(run, ranks, views, pace, limits=limits, now=now).outcome is Outcome.STALLED


def wants_a_cause(picture: Picture, run: Run) -> bool:
    """Whether anything is to be explained."""
    has_broken = picture.outcome is Outcome.ENDED and run.state in ENDED_BADLY
    return picture.outcome in STILL or picture.outcome is Outcome.RUN_DOWN or has_broken


async def explain(
    picture: Picture, nodes: Asked, pace: tuple[float, ...], now: float, *, knows_numbers: bool = False
) -> Diagnosis:
    """The one explanation that the nodes' evidence bears best; off the event loop, since a big run has much of it."""
    return await asyncio.to_thread(_explain, picture, nodes, pace, now, knows_numbers=knows_numbers)


def _explain(picture: Picture, nodes: Asked, pace: tuple[float, ...], now: float, *, knows_numbers: bool) -> Diagnosis:
    told = list(facts_of(nodes).values())
    case = case_of(told, looked_at=now, is_stalled=picture.outcome in STILL)
    is_down = picture.outcome in {Outcome.RUN_DOWN, Outcome.ENDED}
    found = diagnose(case)
    if knows_numbers and found.category in NUMBERS:
        found = _beside_the_numbers(case, found, is_down=is_down)
    said = complete(found, _whole(picture, pace, now))
    return with_holders(said, (one for facts in told for one in facts.holders), is_down=is_down)


def _beside_the_numbers(case: Case, found: Diagnosis, *, is_down: bool) -> Diagnosis:
    """What the nodes tell of a stop when the numbers, which are known, do not speak first."""
    other = diagnose(replace(case, findings=[]))
    if other.category is not Category.NONE or not is_down:
        return other
    return replace(
        found, signature=ONLY_NUMBERS, evidence=None, because=(), next=(), runner_up="", unknown=other.unknown
    )


def facts_of(nodes: Asked) -> Mapping[str, NodeFacts]:
    """What each watcher told; for one that did not answer, what its last heartbeat said."""
    found: dict[str, NodeFacts] = {}
    for beat in nodes.beats:
        watcher, heartbeat = beat.heartbeat.watcher, beat.heartbeat
        body: Mapping[str, Any] = nodes.answers.get(watcher, {})
        facts = unpack(body.get("facts"))
        if facts is None and not beat.is_silent:
            said = str(body.get("error") or "its watcher did not answer in time")
            offset = heartbeat.clock_offset_seconds or 0.0
            facts = NodeFacts(heartbeat.node, heartbeat.time, offset, gpus=beat.gpus, processes=beat.processes)
            facts = replace(facts, problems=(said,))
        if facts is not None:
            found[watcher] = facts
    return found


def _whole(picture: Picture, pace: tuple[float, ...], now: float) -> Whole:
    uncertainty = 2 * max((node.clock_uncertainty_seconds for node in picture.nodes), default=0.0)
    return Whole(
        silent_nodes={node.node: now - node.age_seconds for node in picture.nodes if node.is_silent},
        nodes=len({node.node for node in picture.nodes}),
        stopped_at=max((one.progressed_at for one in picture.ranks if one.progressed_at is not None), default=None),
        ranks=picture.ranks,
        usual_gaps=_usual_gaps(picture, pace),
        clock_uncertainty_seconds=max(LEAST_UNCERTAINTY_SECONDS, uncertainty),
    )


def _usual_gaps(picture: Picture, pace: tuple[float, ...]) -> dict[int, float]:
    """A rank that prints steps prints at the run's own pace; of the others nothing is known."""
    known = [seconds for seconds in pace if seconds > 0]
    if not known:
        return {}
    middle = statistics.median(known)
    return {one.origin.rank: middle for one in picture.ranks if one.origin.rank is not None and one.step is not None}
