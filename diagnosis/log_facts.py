"""What stays of one log after it was read: steps, phases, telling lines and tracebacks, bounded at any length."""

import re
from bisect import insort
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from diagnosis.observations import (
    AttemptMark,
    Evidence,
    OptimizerSkip,
    Origin,
    Phase,
    PhaseMark,
    Role,
    StepSample,
    Symptom,
)
from diagnosis.pace import Pace, work_of
from diagnosis.tracebacks import MAX_OPEN, Raised, TracebackReader, ended_unknown, is_source

KEPT_OF_A_KIND = 6
"""Sightings kept of each (row, rank, attempt); the rest is counted."""
KEPT_SIGHTINGS = 50_000
KEPT_APART = 4096
"""Processes, GPUs or nodes that lines of one row are told apart by, where no rank stands in front."""
KEPT_TRACEBACKS = 4_000
KEPT_MARKS = 64
MAX_WORLD = 1 << 20

_TRACEBACK_LINES = frozenset({"traceback", "traceback_frame", "traceback_chained"})
_ELASTIC_LINES = frozenset({"elastic_block", "elastic_field"})

_DONE = re.compile(
    r"(?i)\b(?:training|fine-?tuning|run) (?:is |has )?(?:done|finished|completed?|ended)\b(?! (?:step|epoch|iter))"
)

_TOLD_APART = ("rank", "xid", "bus", "pid", "node")
"""Fields that make two lines of a row, where no rank is in front, those of different processes, GPUs or nodes."""

_OF_ANOTHER = frozenset(
    {"coordination_task_lost", "coordination_restarted", "composer_rank_exit", "launcher_rank_ended"}
)
"""Rows that name a rank which is not the one that prints them."""

LINES_IN_ORDER = _TRACEBACK_LINES | _ELASTIC_LINES
"""Rows whose lines are put together with those around them: each counts."""

LogLine = StepSample | OptimizerSkip | PhaseMark | AttemptMark | Symptom
"""What a reader makes of a log's lines."""


def _is_of_another(seen: LogLine) -> bool:
    return isinstance(seen, Symptom) and seen.signature in _OF_ANOTHER


@dataclass(slots=True)
class Sighting:
    """A telling line in its place."""

    symptom: Symptom
    order: int
    """Position among everything the file said."""
    step: int | None
    """The newest step the file had told before it."""
    time: float | None
    """Its own time, or the newest one the file had told before it."""
    attempt: int
    phase: Phase
    """What its rank was doing, or the file where the rank is not known."""
    steps_before: int
    """New steps the file had told in this attempt."""
    count: int = 1
    raised: Raised | None = None
    """The traceback it ends."""
    steps_after: int = 0
    """New steps the attempt told after it: an error that training survived is none."""


@dataclass(frozen=True, slots=True)
class Told:
    """One step as one rank told it."""

    step: int
    time: float | None
    evidence: Evidence
    order: int
    attempt: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A phase mark in its place."""

    mark: PhaseMark
    order: int
    step: int | None
    """The newest step before it."""
    time: float | None
    attempt: int


@dataclass(slots=True)
class ElasticFailure:
    """One entry of torchrun's summary, put together from its lines."""

    is_root: bool
    order: int
    attempt: int
    rank: int | None = None
    local_rank: int | None = None
    host: str | None = None
    time: str | None = None
    exit_code: int | None = None
    pid: int | None = None
    evidence: Evidence | None = None
    """The line that tells the exit code."""
    signal_evidence: Evidence | None = None


@dataclass(slots=True)
class RankFacts:
    """One rank, as far as one file tells."""

    origin: Origin
    last: Told | None = None
    steps: int = 0
    """Step lines told."""
    began: int | None = None
    """The first step of its newest attempt."""
    told: int = 0
    """Step lines of its newest attempt."""
    phase: Phase = Phase.INITIALISING
    finished: PhaseMark | None = None
    marks: deque[Passage] = field(default_factory=lambda: deque(maxlen=8))
    newest: tuple[Evidence, ...] = ()
    """Its last lines of any kind; filled when the file has been read."""

    @property
    def stride(self) -> float:
        """Steps from one of its lines to the next, 1 while not known."""
        last = self.last.step if self.last is not None else None
        if self.began is None or last is None or self.told < 2:
            return 1.0
        return max(1.0, (last - self.began) / (self.told - 1))

    def count(self, told: Told) -> None:
        """One more step line, before it becomes the last."""
        if self.last is None or self.last.attempt != told.attempt:
            self.began, self.told = told.step, 0
        self.told += 1


class LogFacts:
    """Takes a file's observations in order and keeps what a diagnosis needs."""

    def __init__(self) -> None:
        self.sightings: list[Sighting] = []
        self.raised: list[Raised] = []
        """Tracebacks in the order in which they ended."""
        self.elastic: list[ElasticFailure] = []
        self.ranks: dict[int | None, RankFacts] = {}
        self.passages: deque[Passage] = deque(maxlen=KEPT_MARKS)
        """The newest phase marks."""
        self.first_told: Told | None = None
        self.last_told: Told | None = None
        """The newest step of the newest attempt."""
        self.pace = Pace()
        self.attempt = 0
        self.last_time: float | None = None
        """The newest time in the file, whatever line told it."""
        self.heard_at: float | None = None
        """The time of its last line of any kind, where that bears one."""
        self.skips: deque[tuple[OptimizerSkip, int | None]] = deque(maxlen=256)
        """Skipped optimizer steps with the newest step before each."""
        self.world: int | None = None
        """World size, where the log tells it."""
        self.local_ranks: dict[tuple[str | None, int], int] = {}
        """(node, local rank) → rank, where lines told both."""
        self.observed_ranks: set[int] = set()
        self._kept: dict[tuple[str, int | tuple[str, ...] | None, int], list[Sighting]] = {}
        self._apart: Counter[str] = Counter()
        self._tracebacks = TracebackReader()
        self._opened: dict[int | None, Sighting] = {}
        """Where the newest traceback of each rank began."""
        self._order = 0
        self._new_steps = {0: 0}
        self._phase = Phase.INITIALISING
        self._is_root_block = False
        self._origin: Origin | None = None

    def observe(self, seen: LogLine) -> None:
        """Take the next observation."""
        self._order += 1
        if seen.origin is not self._origin and not _is_of_another(seen):
            self._note_origin(seen.origin)
        if isinstance(seen, StepSample):
            self._note_time(seen.time)
            self._take_step(seen)
        elif isinstance(seen, Symptom):
            self._note_time(seen.time)
            self._take_symptom(seen)
        elif isinstance(seen, PhaseMark):
            self._note_time(seen.time)
            self._take_phase(seen)
        elif isinstance(seen, AttemptMark):
            self._note_time(seen.time)
            self._take_attempt(seen)
        elif isinstance(seen, OptimizerSkip):
            self._note_time(seen.time)
            self.skips.append((seen, self.last_step))

    def hear_again(self, symptoms: Sequence[Symptom], times: int) -> None:
        """`observe` for lines that were taken so often that more of them only count, and come again."""
        self._order += times * len(symptoms)
        for seen in symptoms:
            known = self._kept.get(self._key(seen))
            if known and seen.role is not Role.BENIGN and not self._is_quoted(seen):
                known[-1].count += times

    @property
    def last_step(self) -> int | None:
        """The newest step the file has told."""
        return self.last_told.step if self.last_told is not None else None

    def finish(self, newest_lines: dict[int | None, tuple[Evidence, ...]]) -> None:
        """The file has been read: count what came after each sighting, and take every rank's last lines."""
        for raised in self._tracebacks.unfinished():
            self._end_unknown(raised, newest_lines)
        for sighting in self.sightings:
            sighting.steps_after = self._new_steps[sighting.attempt] - sighting.steps_before
        for rank, lines in newest_lines.items():
            facts = self.ranks.setdefault(rank, RankFacts(Origin(rank=rank)))
            facts.newest = lines
            done = next((line for line in reversed(lines) if _DONE.search(line.text)), None)
            if facts.finished is None and done is not None:
                facts.finished = PhaseMark(facts.origin, Phase.FINISHED, True, done)

    def all_of(self, *signatures: str) -> list[Sighting]:
        """Sightings of these rows, in order."""
        return [seen for seen in self.sightings if seen.symptom.signature in signatures]

    def _note_origin(self, origin: Origin) -> None:
        self._origin = origin
        if origin.rank is not None:
            self.observed_ranks.add(origin.rank)
            if origin.local_rank is not None:
                self.local_ranks[origin.node, origin.local_rank] = origin.rank

    def _take_attempt(self, seen: AttemptMark) -> None:
        told = seen.environment.get("world_size", "")
        if told.isdecimal() and 0 < int(told) <= MAX_WORLD:
            self.world = int(told)
        if not self._new_steps[self.attempt] and not any(seen.attempt == self.attempt for seen in self.sightings[-1:]):
            return
        self.attempt += 1
        self._new_steps[self.attempt] = 0
        self._phase = Phase.INITIALISING
        self.pace.restart()

    def _take_step(self, seen: StepSample) -> None:
        rank = self._rank(seen.origin)
        rank.steps += 1
        self._phase = rank.phase = Phase.TRAINING
        if seen.step is None or seen.step_kind in {"samples", "none"}:
            return
        told = Told(seen.step, seen.time, seen.evidence, self._order, self.attempt)
        rank.count(told)
        if rank.last is None or rank.last.attempt != self.attempt or seen.step >= rank.last.step:
            rank.last = told
        last = self.last_told
        is_new = last is None or last.attempt != self.attempt or seen.step > last.step
        if is_new:
            self._new_steps[self.attempt] += 1
            self._tell_before(told)
            self.last_told = told
            self.first_told = self.first_told or told
            if last is not None and last.attempt == self.attempt:
                self._note_pace(last, told, seen)

    def _tell_before(self, told: Told) -> None:
        """A step whose number was known late may stand above lines that were told already: those came after it."""
        for sighting in reversed(self.sightings):
            evidence = sighting.symptom.evidence
            is_below = evidence.file == told.evidence.file and (evidence.line or 0) > (told.evidence.line or 0)
            if not is_below or sighting.attempt != told.attempt:
                return
            sighting.steps_before += 1
            sighting.step = told.step

    def _note_pace(self, last: Told, told: Told, seen: StepSample) -> None:
        self.pace.note_work(told.step, work_of(seen.fields.get("batch_size"), seen.fields.get("sequence_length")))
        seconds = seen.fields.get("step_seconds")
        if seconds is None and last.time is not None and told.time is not None:
            seconds = (told.time - last.time) / (told.step - last.step)
        if seconds is not None:
            self.pace.add(told.step, seconds, told.evidence)

    def _take_symptom(self, seen: Symptom) -> None:
        raised = self._tracebacks.observe(seen)
        if seen.signature == "traceback" and len(self._opened) < MAX_OPEN:
            self._opened[seen.origin.rank] = self._sighting(seen, None)
        if raised is not None and len(self.raised) < KEPT_TRACEBACKS:
            self.raised.append(raised)
        if seen.signature in _ELASTIC_LINES:
            self._take_elastic(seen)
        elif seen.role is not Role.BENIGN and seen.signature not in _TRACEBACK_LINES and not self._is_quoted(seen):
            self._keep(seen, raised)

    def _key(self, seen: Symptom) -> tuple[str, int | tuple[str, ...] | None, int]:
        """The row, and of what it tells: a rank, or else the process, GPU or node in its fields."""
        rank = seen.origin.rank
        if rank is None:
            apart = tuple(seen.fields[name] for name in _TOLD_APART if name in seen.fields)
            key = (seen.signature, apart, self.attempt)
            if apart and (key in self._kept or self._apart[seen.signature] < KEPT_APART):
                self._apart[seen.signature] += key not in self._kept
                return key
        return seen.signature, rank, self.attempt

    def _is_quoted(self, seen: Symptom) -> bool:
        return self._tracebacks.is_open(seen.origin.rank) and is_source(seen)

    def _keep(self, seen: Symptom, raised: Raised | None) -> None:
        known = self._kept.setdefault(self._key(seen), [])
        if len(known) >= KEPT_OF_A_KIND or len(self.sightings) >= KEPT_SIGHTINGS:
            if known:
                known[-1].count += 1
            return
        sighting = self._sighting(seen, raised)
        known.append(sighting)
        self.sightings.append(sighting)

    def _end_unknown(self, raised: Raised, newest_lines: dict[int | None, tuple[Evidence, ...]]) -> None:
        """A traceback that ends with a name no row knows: it is told in the place where it began."""
        rank = raised.opened.origin.rank
        ended = ended_unknown(raised, newest_lines.get(rank, ()))
        opened = self._opened.get(rank)
        if ended is not None and opened is not None and opened.symptom is raised.opened:
            raised.exception = ended
            opened.symptom, opened.raised = ended, raised
            insort(self.sightings, opened, key=lambda sighting: sighting.order)

    def _sighting(self, seen: Symptom, raised: Raised | None) -> Sighting:
        rank = self.ranks.get(seen.origin.rank)
        return Sighting(
            symptom=seen,
            order=self._order,
            step=self.last_step,
            time=seen.time if seen.time is not None else self.last_time,
            attempt=self.attempt,
            phase=rank.phase if rank is not None else self._phase,
            steps_before=self._new_steps[self.attempt],
            raised=raised,
        )

    def _take_elastic(self, seen: Symptom) -> None:
        fields = seen.fields
        if seen.signature == "elastic_block":
            self._is_root_block = "root" in fields
            return
        if "time" in fields and len(self.elastic) < KEPT_TRACEBACKS:
            self.elastic.append(ElasticFailure(self._is_root_block, self._order, self.attempt, time=fields["time"]))
        if not self.elastic:
            return
        entry = self.elastic[-1]
        entry.host = fields.get("host", entry.host)
        if "rank" in fields:
            entry.rank, entry.local_rank = int(fields["rank"]), int(fields["local_rank"])
        if "exit_code" in fields:
            entry.exit_code, entry.pid, entry.evidence = int(fields["exit_code"]), int(fields["pid"]), seen.evidence
        if "signal" in fields:
            entry.signal_evidence = seen.evidence

    def _take_phase(self, seen: PhaseMark) -> None:
        rank = self._rank(seen.origin)
        passage = Passage(seen, self._order, self.last_step, self.last_time, self.attempt)
        rank.marks.append(passage)
        self.passages.append(passage)
        if seen.phase is Phase.FINISHED:
            rank.finished = seen
        self._phase = rank.phase = seen.phase if seen.begins else Phase.TRAINING

    def _rank(self, origin: Origin) -> RankFacts:
        rank = self.ranks.get(origin.rank)
        if rank is None:
            rank = self.ranks[origin.rank] = RankFacts(origin)
        return rank

    def _note_time(self, time: float | None) -> None:
        if time is not None and (self.last_time is None or time > self.last_time):
            self.last_time = time
