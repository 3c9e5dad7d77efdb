"""What only the whole run can know: no progress anywhere, processes gone, a node or its watcher silent.

Each judgement must stand twice in a row before it becomes a finding, and is taken back when it no longer holds. Before
a stall or an end is told, every node is asked what it knows of the cause, in the meantime of the second look.
"""

import logging
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bot import together
from bot.causes import Causes, details_of, origin_of
from bot.monitor import Turn
from bot.over import Key, Since, gone_over, since, why_over
from diagnosis import wording
from diagnosis.findings import Cleared, Finding, Severity
from diagnosis.incidents import Tracker
from diagnosis.observations import Origin, RankProgress
from diagnosis.root_cause import Diagnosis
from diagnosis.stall import Outcome, Standing
from diagnosis.thresholds import Thresholds
from handlers.ask_nodes import beats_of, view_of_beat
from handlers.command import Desk
from handlers.explaining import NUMBERS
from handlers.patience import limits_for
from handlers.routes import channel_for
from handlers.stall import pace_of
from handlers.standing import OVER, Picture, picture_of
from registry import Registry, Run
from registry.errors import RegistryError

logger = logging.getLogger(__name__)

PENDING = 2
"""So many judgements in a row before a person is paged."""
SETTLE_SECONDS = 1.5
"""So long the last step of a run that died must stay before it is told: watchers tell every second what they read."""
MOST_SETTLING = 15
"""So many judgements at most: a log that grows on for ever must not hide that nobody writes it any more."""
MOST_RUNS = 10_000
KINDS = frozenset({Outcome.STALLED, Outcome.INITIALISING_TOO_LONG, Outcome.RUN_DOWN, Outcome.WATCHER_SILENT})
"""Outcomes that are findings, under their own names."""
CRITICAL = frozenset({Outcome.STALLED, Outcome.RUN_DOWN})
EXPLAINED = frozenset({Outcome.STALLED, Outcome.RUN_DOWN, Outcome.INITIALISING_TOO_LONG})
"""Outcomes whose cause the nodes are asked for."""


@dataclass(slots=True)
class _Watched:
    """What is remembered of one run between two judgements."""

    intervals: deque[float] = field(default_factory=lambda: deque(maxlen=50))
    is_seeded: bool = False
    newest: float | None = None
    attempt: int | None = None
    state: str = ""
    heard_at: float | None = None
    """When the run was last active, as of the last judgement."""
    pending: dict[Key, int] = field(default_factory=dict)
    last_step: tuple[int | None, float] = (None, 0.0)
    """The newest step that was seen, and since when it is that."""
    firing: dict[Key, Since] = field(default_factory=dict)
    """What was said and is not over, and where the run stood then."""
    is_told: bool = False
    """Whether that is what the incidents of this reign tell."""

    def forget_silence(self) -> None:
        """That its watcher is silent was not said."""
        for key in [key for key in self.firing if key[0] == Outcome.WATCHER_SILENT]:
            del self.firing[key]


class RunJudge:
    """Judges every run that was heard of lately."""

    def __init__(self, registry: Registry, desk: Desk, thresholds: Thresholds, *, idle_after_seconds: float) -> None:
        self._registry = registry
        self._desk = desk
        self._thresholds = thresholds
        self._idle_after = idle_after_seconds
        self._watched: dict[str, _Watched] = {}
        self._turns: list[Turn] = []
        self._unsaid: list[Finding | Cleared] = []
        """What a look found that could not be taken to its end."""
        self._causes = Causes(desk)
        self._troubles: dict[str, str] = {}

    @property
    def troubles(self) -> Mapping[str, str]:
        """Run → why it could not be judged, or its cause not be searched."""
        return {**self._causes.troubles, **self._troubles}

    def begin(self) -> None:
        """A new reign: what was said is what its incidents know, since the rest may never have arrived."""
        self._unsaid.clear()
        for watched in self._watched.values():
            watched.is_told = False

    async def judge(self, now: float, tracker: Tracker) -> Sequence[Finding | Cleared]:
        """What is news about whole runs."""
        said = self._unsaid
        heard = await self._registry.runs.heard(now - self._idle_after, MOST_RUNS)
        # A silent run stands behind all that go on, so all of them are looked at; what is over and silent is not read.
        troubled = set(tracker.troubled_runs)
        wanted = [name for name, at in heard.items() if name in troubled or not self._is_settled(name, at)]
        for run in await self._registry.runs.many(wanted):
            try:
                said += await self._judge_one(run, now, tracker)
                self._watched[run.name].heard_at = heard[run.name]
            except RegistryError:
                raise
            except Exception as failure:
                # One run that cannot be judged must not silence the others; health tells of it.
                logger.exception("The run %r cannot be judged", run.name)
                self._troubles[run.name] = f"{type(failure).__name__}: {failure}"
            else:
                self._troubles.pop(run.name, None)
        told = await self._told_together(said, tracker, now)
        self._unsaid = []
        self._causes.tidy(tracker)
        for name in self._watched.keys() - heard.keys() - troubled:
            if not self._watched[name].firing:
                del self._watched[name]
        return told

    async def _told_together(
        self, said: list[Finding | Cleared], tracker: Tracker, now: float
    ) -> list[Finding | Cleared]:
        """One thread for all the runs of a watcher that fell silent."""
        for run in together.silences(said):
            # Whoever it spoke for speaks for itself from now on, if that is still silent.
            for name in together.spoken_for_by(run, tracker) & self._watched.keys():
                self._watched[name].forget_silence()
        silent = [one.origin.run for one in said if one.kind == Outcome.WATCHER_SILENT]
        if not silent:
            return said
        routes = await self._registry.routes.all()
        channels = {run.name: channel_for(run, routes, "") for run in await self._registry.runs.many(silent)}
        return together.as_one(said, channels, tracker, now, is_silent=self._is_told_silent)

    def _is_told_silent(self, run: str) -> bool:
        return run in self._watched and any(key[0] == Outcome.WATCHER_SILENT for key in self._watched[run].firing)

    async def turns(self, now: float, tracker: Tracker) -> Sequence[Turn]:
        """Runs that train again in a later attempt, or ended, since the last call."""
        del now, tracker
        turns, self._turns = self._turns, []
        return turns

    async def until_explained(self) -> None:
        """Wait until every node that is being asked has answered or had its time."""
        await self._causes.settle()

    def _is_settled(self, name: str, heard_at: float) -> bool:
        """Whether a run is over, and nothing was heard of it since that was seen."""
        known = self._watched.get(name)
        if known is None or not known.is_told or known.firing:
            return False
        return known.state in OVER and known.heard_at == heard_at

    async def _judge_one(self, run: Run, now: float, tracker: Tracker) -> list[Finding | Cleared]:
        watched = self._watched.get(run.name)
        if watched is None:
            watched = self._watched[run.name] = _Watched(attempt=run.attempt, state=run.state)
        if not watched.is_told:
            # What an earlier bot said and nobody took back is still ours to take back.
            watched.firing, watched.pending, watched.is_told = _told_of(run.name, tracker), {}, True
        if run.state in OVER and watched.state in OVER and not watched.firing:
            return [*self._causes.explain_incidents(run, tracker, tuple(watched.intervals), now)]
        ranks = await self._registry.ranks.all(run.name)
        await self._learn_pace(run, ranks, watched)
        beats = await beats_of(self._desk, run.name)
        views = tuple(view_of_beat(beat) for beat in beats)
        pace = tuple(watched.intervals)
        picture = picture_of(run, tuple(ranks), views, pace, limits=limits_for(run, self._thresholds), now=now)
        self._note_turn(run, picture, watched, tracker)
        knows_numbers = any(NUMBERS.intersection(one.troubles) for one in tracker.open_of(run.name))
        said = self._changes(run, picture, watched, now, knows_numbers=knows_numbers)
        return [*said, *self._causes.explain_incidents(run, tracker, pace, now)]

    async def _learn_pace(self, run: Run, ranks: Sequence[RankProgress], watched: _Watched) -> None:
        """How far apart this run's progress lines are, by the log's times at first and by our own clock after."""
        if not watched.is_seeded:
            watched.is_seeded = True
            watched.intervals.extend(await pace_of(self._desk, run.name))
        newest = max((rank.progressed_at for rank in ranks if rank.progressed_at is not None), default=None)
        if run.attempt != watched.attempt:
            watched.intervals.clear()
        elif newest is not None and watched.newest is not None and newest > watched.newest:
            watched.intervals.append(newest - watched.newest)
        watched.newest = newest

    def _note_turn(self, run: Run, picture: Picture, watched: _Watched, tracker: Tracker) -> None:
        step = wording.whole(picture.standing.step)
        if watched.attempt is not None and run.attempt > watched.attempt and picture.standing.is_going_on:
            text = f"the run trains again in attempt {run.attempt + 1}, now at step {step}"
            self._turns.append(Turn(run.name, run.attempt, has_ended=False, text=text))
            watched.attempt = run.attempt
        elif watched.attempt is None:
            watched.attempt = run.attempt
        if picture.outcome is Outcome.ENDED and watched.state not in OVER:
            is_good = run.state == "finished"
            if is_good and tracker.open_of(run.name):
                self._turns.append(Turn(run.name, run.attempt, has_ended=True, text=f"the run finished at step {step}"))
            watched.state = run.state if run.state in OVER else "ended"
        elif picture.outcome is not Outcome.ENDED:
            watched.state = run.state

    def _ask_why(
        self, run: Run, wanted: Mapping[Key, str], watched: _Watched, now: float, *, knows_numbers: bool
    ) -> None:
        """Begin to ask when it is seen first; forget the answer when it is over, or was one to another question."""
        asked = [key for key in wanted if key[0] in EXPLAINED]
        news = [key for key in asked if key not in watched.firing]
        if not asked or (watched.firing and any(key not in watched.pending for key in news)):
            self._causes.forget(run.name)
        if news:
            self._causes.ask(run, tuple(watched.intervals), now, knows_numbers=knows_numbers)

    def _changes(
        self, run: Run, picture: Picture, watched: _Watched, now: float, *, knows_numbers: bool
    ) -> list[Finding | Cleared]:
        said: list[Finding | Cleared] = []
        wanted = wanted_findings(picture)
        if picture.standing.step != watched.last_step[0]:
            watched.last_step = (picture.standing.step, now)
        self._ask_why(run, wanted, watched, now, knows_numbers=knows_numbers)
        for key, text in wanted.items():
            watched.pending[key] = watched.pending.get(key, 0) + 1
            is_explained = key[0] not in EXPLAINED or not self._causes.is_asking(run.name)
            is_sure = watched.pending[key] >= PENDING and _has_settled(watched, key, now)
            if key not in watched.firing and is_sure and is_explained:
                told = gone_over(text, watched.firing) if key[0] == Outcome.RUN_DOWN else text
                watched.firing[key] = since(picture, run.attempt)
                why = self._causes.answer(run.name) if key[0] in EXPLAINED else None
                said.append(_finding(run, picture.standing, key, told, now, why=why))
        for key in [key for key in watched.pending if key not in wanted]:
            del watched.pending[key]
        for key in [key for key in watched.firing if key not in wanted]:
            over = why_over(key, picture, run.attempt, watched.firing[key])
            if over is not None:
                del watched.firing[key]
                said.append(Cleared(key[0], Origin(run.name, key[1]), over, picture.standing.step, seen_at=now))
        return said


def _told_of(run: str, tracker: Tracker) -> dict[Key, Since]:
    """What the open incidents of a run tell that we would have said."""
    told: dict[Key, Since] = {}
    for incident in tracker.open_of(run):
        ours = [one for one in incident.firing if one.kind in KINDS]
        told |= {_key(one.kind, one.node): Since(incident.told_of(one).step, incident.attempt) for one in ours}
    return told


def wanted_findings(picture: Picture) -> dict[Key, str]:
    """(kind, node) → sentence, for everything that is the matter now; node None: the whole run."""
    standing, found = picture.standing, dict[Key, str]()
    at = f" at step {wording.whole(standing.step)}" if standing.step is not None else ""
    if standing.outcome is Outcome.STALLED:
        span = wording.duration(standing.silent_seconds or 0.0)
        found[standing.outcome, None] = f"stalled{at}, no progress for {span}"
    elif standing.outcome is Outcome.RUN_DOWN:
        found[standing.outcome, None] = f"the run is down{at}: its processes are gone"
    elif standing.outcome is Outcome.INITIALISING_TOO_LONG:
        found[standing.outcome, None] = standing.text
    elif standing.outcome is Outcome.WATCHER_SILENT and len(standing.silent_nodes) == len(picture.nodes):
        found[standing.outcome, None] = "no watcher of the run can be heard; nobody knows whether it trains"
        return found
    elif standing.is_unread:
        span = wording.duration(standing.silent_seconds or 0.0)
        text = f"no step was read for {span}, and no watcher that reads the steps can be heard"
        found[standing.outcome, None] = f"{text}; nobody knows whether the run trains"
    for node in picture.nodes:
        if node.node in standing.silent_nodes:
            ago = wording.duration(node.age_seconds)
            found[Outcome.WATCHER_SILENT, node.node] = f"the watcher on {node.node} fell silent {ago} ago"
    return found


def _has_settled(watched: _Watched, key: Key, now: float) -> bool:
    """Whether all that a dead run wrote was read: else its thread names another last step than every answer after."""
    is_read = now - watched.last_step[1] >= SETTLE_SECONDS
    return key[0] != Outcome.RUN_DOWN or is_read or watched.pending[key] >= MOST_SETTLING


def _finding(run: Run, standing: Standing, key: Key, text: str, now: float, *, why: Diagnosis | None) -> Finding:
    kind, node = key
    details = dict(details_of(why)) if why is not None else {}
    if kind == Outcome.WATCHER_SILENT:
        details[together.NODES] = ", ".join([node] if node is not None else sorted(standing.silent_nodes))
    allowed = f", {wording.duration(standing.allowed_seconds)} allowed" if standing.allowed_seconds else ""
    return Finding(
        kind=kind,
        severity=Severity.CRITICAL if kind in CRITICAL or _may_be_down(standing, key) else Severity.WARNING,
        origin=origin_of(run, why, node),
        text=text,
        evidence=(why.evidence,) if why is not None and why.evidence is not None else (),
        step=standing.step,
        seen_at=now,
        rule=f"{kind}{allowed}",
        details=details,
        attempt=run.attempt,
    )


def _may_be_down(standing: Standing, key: Key) -> bool:
    """Whether the one node that tells the steps fell silent beside others: it may have taken the run with it."""
    return key == (Outcome.WATCHER_SILENT, None) and standing.is_unread


def _key(kind: str, node: str | None) -> Key:
    """A stall is one of the run, whatever node its message names; a silent watcher is one of its node."""
    return kind, node if kind == Outcome.WATCHER_SILENT else None
