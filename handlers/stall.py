"""`/stall RUN`: asks every node for a fresh look and says whether the run stands, and for whom it waits."""

import asyncio
import math
from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import pairwise

from charts import Look as Paper
from charts import draw_gpus
from diagnosis.findings import Severity
from diagnosis.incidents.incident import RANKS
from diagnosis.stall import Outcome
from handlers.arguments import read_arguments
from handlers.command import IN_TERMINAL, Asked, Command, Desk, Reply, Say, Upload
from handlers.explaining import NUMBERS, look
from handlers.find_run import find_run
from handlers.gpu_history import gpu_history
from handlers.kept import Kept, kept_of_run
from handlers.loss import file_word
from handlers.messages.blocks import Message
from handlers.messages.phrase import say
from handlers.messages.stall import stall_answer
from handlers.messages.standing_incident import with_incident
from handlers.run_state import NOT_GOING_ON, ended_by, state_of
from handlers.shown_runs import heard_of
from registry import Run

PACE_POINTS = 60
SEEMS_WELL = frozenset({Outcome.FINE, Outcome.PROGRESS_UNKNOWN})
"""Outcomes that say nothing of trouble."""


async def answer(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """One sentence and a table at once; then the GPUs as a picture, where there are any."""
    given = read_arguments(asked.words)
    run = await find_run(desk, asked, given.names[0] if given.names else None)
    about = await _known_of(desk, run)
    picture, nodes, now = await look(desk, run, await pace_of(desk, run.name), knows_numbers=about.knows_numbers)
    told = stall_answer(
        run.name,
        picture,
        now,
        len(nodes.answers),
        len(nodes.beats),
        state=about.state,
        loudest=about.loudest,
        known=about.pointed.incident if about.pointed is not None else None,
    )
    answered = _pointed(desk, about, told, picture.outcome, now, here=asked.thread_incident)
    yield Say(answered, is_trouble=_is_trouble(about, picture.outcome))
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


@dataclass(frozen=True, slots=True)
class _Known:
    """What incidents tell of a run before anybody looks at its nodes."""

    state: str
    """As `/runs` says it."""
    ended: Kept | None = None
    """The incident that tells why it does not go on; a person may have closed it."""
    gravest: Kept | None = None
    """Of those that are open: what trains may train on NaN."""

    @property
    def pointed(self) -> Kept | None:
        """The one that the answer points to."""
        return self.ended or self.gravest

    @property
    def knows_numbers(self) -> bool:
        """Whether that one tells already that the numbers went bad."""
        return self.pointed is not None and bool(NUMBERS.intersection(self.pointed.incident.troubles))

    @property
    def loudest(self) -> Severity | None:
        """Of what is open; None: nothing is."""
        return self.gravest.incident.severity if self.gravest is not None else None


async def _known_of(desk: Desk, run: Run) -> _Known:
    kept = {one.incident.id: one for one in await kept_of_run(desk, run.name)}
    incidents = [one.incident for one in kept.values()]
    heard_at = (await heard_of(desk, [run], incidents)).get(run.name)
    opened = [one for one in incidents if one.is_open]
    ended = ended_by(run, incidents, heard_at)
    gravest = max(opened, key=lambda one: (RANKS[one.severity], one.opened_at), default=None)
    return _Known(
        state_of(run, incidents, heard_at),
        kept[ended.id] if ended is not None else None,
        kept[gravest.id] if gravest is not None else None,
    )


def _is_trouble(about: _Known, outcome: Outcome) -> bool:
    """Whether it stands or breaks, whether something critical is open, or whether nobody can tell."""
    is_well = outcome in (Outcome.FINE, Outcome.ENDED) and about.state not in NOT_GOING_ON
    return not is_well or about.loudest is Severity.CRITICAL


def _pointed(
    desk: Desk, about: _Known, told: Message, outcome: Outcome, now: float, *, here: str | None = None
) -> Message:
    """The answer with the incident that ended the run, else with the gravest that is open; nobody is sent `here`."""
    pointed = about.pointed
    if pointed is None:
        return told
    replaces_head = about.ended is not None and outcome in SEEMS_WELL
    if pointed.incident.id == here and not replaces_head:
        return told
    return with_incident(
        told, pointed, about.state, replaces_head=replaces_head, workspace_url=desk.workspace_url(), now=now
    )


COMMAND = Command(
    name="stall",
    usage="RUN",
    summary="Hung or busy, since when, and which rank stopped first",
    examples=("run42",),
    answer=answer,
)
