"""Asks every node of a run at once, and waits no longer than the deadline."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from diagnosis.gpu_reading import MIN_SAMPLES, NodeReading, read_node
from diagnosis.observations import GpuSample, Heartbeat, ProcessSample, RankProgress
from handlers.command import Desk
from handlers.standing import NodeView
from registry import Beat, wire

GONE_SECONDS = 3600.0
"""A watcher that fell silent longer ago belongs to an earlier life of the run."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What came back."""

    answers: Mapping[str, Mapping[str, Any]]
    """Watcher → the body of its answer."""
    beats: tuple[Beat, ...]
    """Every watcher that belongs to the run."""
    silent: tuple[Beat, ...] = field(default=())
    """Those that did not answer."""


async def ask_nodes(desk: Desk, run: str, kind: str, payload: Mapping[str, Any], seconds: float) -> Asked:
    """Ask all watchers of a run; those already silent are not waited for."""
    beats = await beats_of(desk, run)
    asked = [beat.heartbeat.watcher for beat in beats if not beat.is_silent]
    answers: dict[str, Mapping[str, Any]] = {}
    if asked:
        until = await desk.registry.now() + seconds
        request = await desk.registry.requests.ask(asked, kind, {"run": run, **payload}, until)
        found = await desk.registry.requests.gather(request, asked, until)
        answers = {watcher: answer.body for watcher, answer in found.items()}
    silent = tuple(beat for beat in beats if beat.heartbeat.watcher not in answers)
    return Asked(answers, beats, silent)


async def beats_of(desk: Desk, run: str) -> tuple[Beat, ...]:
    """The watchers that belong to a run now, in order of node."""
    found = await desk.registry.heartbeats.of_run(run)
    living = [_own(beat, run) for beat in found if beat.age_seconds - beat.ttl_seconds < GONE_SECONDS]
    return tuple(sorted(living, key=lambda beat: beat.heartbeat.node))


def _own(beat: Beat, run: str) -> Beat:
    """What a watcher of several runs says of this one: another run's processes and GPUs name nobody of it."""
    if len(beat.heartbeat.runs) < 2:
        return beat
    processes = tuple(process for process in beat.processes if process.run == run)
    used = {index for process in processes for index in process.gpu_indices}
    return replace(beat, processes=processes, gpus=tuple(gpu for gpu in beat.gpus if gpu.gpu_index in used))


def views_of(asked: Asked) -> list[NodeView]:
    """What each node says now, and for the silent ones what they said last."""
    views = []
    for beat in asked.beats:
        body = asked.answers.get(beat.heartbeat.watcher)
        if body is None:
            views.append(view_of_beat(beat))
        else:
            views.append(_view(body, beat))
    return views


def view_of_beat(beat: Beat) -> NodeView:
    """A node by its last heartbeat."""
    heartbeat = beat.heartbeat
    return NodeView(
        node=heartbeat.node,
        age_seconds=beat.age_seconds,
        is_silent=beat.is_silent,
        gpus=beat.gpus,
        reading=reading_of(beat.gpus, heartbeat.node),
        processes=beat.processes,
        clock_uncertainty_seconds=heartbeat.clock_uncertainty_seconds or 0.0,
        problems=heartbeat.problems,
    )


def ranks_of(asked: Asked, known: Sequence[RankProgress]) -> list[RankProgress]:
    """Progress by fresh answers over what the registry knew."""
    newest = {_place(rank): rank for rank in known}
    for body in asked.answers.values():
        for plain in body.get("ranks") or ():
            rank = _built(RankProgress, plain)
            if rank is not None:
                newest[_place(rank)] = rank
    return sorted(
        newest.values(), key=lambda one: (one.origin.rank is None, one.origin.rank or 0, one.origin.node or "")
    )


def reading_of(samples: Sequence[GpuSample], node: str) -> NodeReading | None:
    """The GPUs of a node; one moment's reading stands for the window where there is only one."""
    if not samples:
        return None
    by_gpu: dict[int, list[GpuSample]] = defaultdict(list)
    for sample in samples:
        by_gpu[sample.gpu_index].append(sample)
    filled = {
        index: found if len(found) >= MIN_SAMPLES else [*found, *[found[-1]] * (MIN_SAMPLES - len(found))]
        for index, found in by_gpu.items()
    }
    return read_node(filled, node=node)


def _view(body: Mapping[str, Any], beat: Beat) -> NodeView:
    gpus = tuple(sample for plain in body.get("gpus") or () if (sample := _built(GpuSample, plain)) is not None)
    found = [_built(ProcessSample, plain) for plain in body.get("processes") or ()]
    heartbeat = _built(Heartbeat, body.get("heartbeat") or {}) or beat.heartbeat
    problems = tuple(str(problem) for problem in body.get("problems") or heartbeat.problems)
    if body.get("error"):
        problems = (*problems, str(body["error"]))
    return NodeView(
        node=heartbeat.node or beat.heartbeat.node,
        gpus=gpus,
        reading=reading_of(gpus, heartbeat.node),
        processes=tuple(sample for sample in found if sample is not None),
        clock_uncertainty_seconds=heartbeat.clock_uncertainty_seconds or 0.0,
        problems=problems,
    )


def _place(rank: RankProgress) -> tuple[str | None, int | None, int | None]:
    """A global rank is one rank wherever it runs."""
    origin = rank.origin
    return (None, origin.rank, None) if origin.rank is not None else (origin.node, None, origin.local_rank)


def _built(kind: type[Any], plain: object) -> Any:
    try:
        return wire.build(kind, plain) if isinstance(plain, Mapping) else None
    except wire.Unreadable:
        return None
