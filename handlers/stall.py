"""`/stall RUN`: asks every node for a fresh look and says whether the run stands, and for whom it waits."""

import asyncio
import math
from collections.abc import AsyncIterator
from itertools import pairwise

from charts import Look as Paper
from charts import draw_gpus
from diagnosis.incidents.incident import RANKS
from diagnosis.stall import Outcome
from handlers.arguments import read_arguments
from handlers.command import IN_TERMINAL, Asked, Command, Desk, Reply, Say, Upload
from handlers.explaining import look
from handlers.find_incident import kept_of
from handlers.find_run import find_run
from handlers.gpu_history import gpu_history
from handlers.loss import file_word
from handlers.messages.blocks import Message
from handlers.messages.phrase import say
from handlers.messages.stall import stall_answer
from handlers.messages.standing_incident import with_incident
from handlers.run_state import ended_by, state_of
from registry import Run

PACE_POINTS = 60
SEEMS_WELL = frozenset({Outcome.FINE, Outcome.PROGRESS_UNKNOWN})
"""Outcomes that say nothing of trouble."""


async def answer(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """One sentence and a table at once; then the GPUs as a picture, where there are any."""
    given = read_arguments(asked.words)
    run = await find_run(desk, asked, given.names[0] if given.names else None)
    picture, nodes, now = await look(desk, run, await pace_of(desk, run.name))
    told = stall_answer(run.name, picture, now, len(nodes.answers), len(nodes.beats))
    yield Say(await _pointed(desk, run, told, picture.outcome, now))
    gpus = await asyncio.to_thread(gpu_history, nodes, picture)
    if gpus.samples and asked.how != IN_TERMINAL:
        drawn = await desk.draw(
            draw_gpus, gpus.samples, Paper.LIGHT, stopped_at=gpus.stopped_at, ranks=gpus.ranks, title=run.name
        )
        yield Upload(
            f"{file_word(run.name)}-gpus.png", drawn, say("{run} · GPUs of the last minutes", run=run.name).plain
        )


async def pace_of(desk: Desk, run: str) -> tuple[float, ...]:
    """Seconds between the newest progress lines, as far as the log prints times."""
    newest = await desk.registry.series.newest(run, PACE_POINTS)
    times = [time for time in newest.loss.times if math.isfinite(time)]
    return tuple(later - earlier for earlier, later in pairwise(times))


async def _pointed(desk: Desk, run: Run, told: Message, outcome: Outcome, now: float) -> Message:
    """The answer with the open incident that ended the run, else with the gravest: what trains may train on NaN."""
    found = (await desk.registry.incidents.open_of(run.name)).values()
    opened = {kept.incident.id: kept for fields in found if (kept := kept_of(fields)) is not None}
    incidents = [kept.incident for kept in opened.values()]
    ended = ended_by(run, incidents)
    incident = ended or max(incidents, key=lambda one: (RANKS[one.severity], one.opened_at), default=None)
    if incident is None:
        return told
    return with_incident(
        told,
        opened[incident.id],
        state_of(run, incidents),
        replaces_head=ended is not None and outcome in SEEMS_WELL,
        workspace_url=desk.workspace_url(),
        now=now,
    )


COMMAND = Command(
    name="stall",
    usage="RUN",
    summary="Hung or busy, since when, and which rank stopped first",
    examples=("run42",),
    answer=answer,
)
