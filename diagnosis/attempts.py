"""Attempts of a run: one launch each, counted from 0, with first and last step, times and how it ended.

A new attempt begins where a file says so (a banner, a resume, a counter that went back) after it has shown
steps or an end, or where another file of the same process begins again. Several ranks that say so begin
it once.
"""

from dataclasses import dataclass

from diagnosis.formats.stretch import Stretch
from diagnosis.observations import (
    AttemptMark,
    Category,
    Observation,
    Phase,
    PhaseMark,
    Role,
    StepSample,
    Symptom,
)
from diagnosis.series import AttemptSpan

KEPT_SPANS = 512
"""A run that restarts more often keeps the newest."""

BEGINNING = 10
"""An attempt whose first step is no later begins anew, and does not go on from a checkpoint."""
BUFFER_LINES = 100
"""stdout to a file is block-buffered, stderr is not: this many step lines may follow an error they preceded."""
BUFFER_SECONDS = 1.0
BAR_STEPS = 10
"""A bar without numbers is training once it has come this far."""

_STRENGTH = {"unknown": 0, "crashed": 1, "killed": 2, "preempted": 3, "finished": 4}
_KILLED = frozenset({Category.HOST_OOM, Category.NODE_LOST})
_ENDS_NOTHING = frozenset({Category.NONE, Category.SLOWDOWN, Category.LOSS_SPIKE, Category.STORAGE_STALL})


@dataclass(slots=True)
class _Log:
    """One process in one file."""

    attempt: int
    has_steps: bool = False
    has_ended: bool = False
    ended_at: float | None = None
    steps_since: int = 0
    first: StepSample | None = None
    """The first step line of its present attempt."""
    last: StepSample | None = None


@dataclass(slots=True)
class _Span:
    number: int
    first_step: int | None = None
    last_step: int | None = None
    started: float | None = None
    ended: float | None = None
    end: str = "unknown"
    why: str = ""

    def cover(self, seen: StepSample) -> None:
        """Widen the span to this line."""
        step, time = seen.step, _time(seen)
        if step is not None:
            self.first_step = step if self.first_step is None else self.first_step
            self.last_step = step if self.last_step is None else max(step, self.last_step)
        if time is not None:
            self.started = time if self.started is None else min(time, self.started)
            self.ended = time if self.ended is None else max(time, self.ended)


class AttemptTracker:
    """Follows the attempts of one run over all its files; says which attempt an observation belongs to."""

    def __init__(self) -> None:
        self.number = 0
        """The newest attempt."""
        self._spans: dict[int, _Span] = {}
        self._logs: dict[tuple[str, str | None, int | None], _Log] = {}
        self._newest: dict[tuple[str | None, int | None], tuple[str, _Log]] = {}
        self._files: dict[str, int] = {}
        self._origin: object = None
        self._file: str = ""
        self._log: _Log | None = None

    def observe(self, seen: Observation) -> int:
        """Take one observation in the order of its file; the number of its attempt."""
        if isinstance(seen, StepSample):
            return self.take_step(seen)
        if isinstance(seen, AttemptMark):
            return self._take_mark(seen)
        if isinstance(seen, Symptom):
            log = self._find(seen)
            end = end_of(seen)
            if end is not None:
                self._end(log, end, _time(seen))
            return log.attempt
        if isinstance(seen, PhaseMark):
            log = self._find(seen)
            if seen.phase is Phase.FINISHED and seen.begins:
                self._end(log, "finished", _time(seen))
            return log.attempt
        return self.number

    def take_step(self, seen: StepSample) -> int:
        """`observe` for a step line, the one of which there are millions."""
        log = self._log
        if log is None or seen.origin is not self._origin or seen.evidence.file is not self._file:
            log = self._turn_to(seen, seen.evidence.file)
        if seen.step is not None:
            log.last = seen
            if not log.has_steps:
                self._begin(log, seen, seen.step)
        elif seen.loss is not None:
            log.has_steps = True
        if log.has_ended and self._goes_on(log, _time(seen)):
            log.has_ended = False
            self._span_of(log.attempt).end = "unknown"
        return log.attempt

    def turn_to(self, stretch: Stretch, place: int) -> int | None:
        """The attempt of a point of a stretch, where a log just goes on; None: the point is to be taken by itself."""
        if self._log is None or stretch.origin is not self._origin or stretch.file is not self._file:
            self._turn_to(next(stretch.both(place)), stretch.file)
        log = self._log
        return None if log is None or not log.has_steps or log.has_ended else log.attempt

    def go_on(self, newest: StepSample) -> None:
        """`take_step` for all points up to this one, after `turn_to`."""
        if self._log is not None:
            self._log.last = newest

    def spans(self, *, is_live: bool = False) -> tuple[AttemptSpan, ...]:
        """All attempts in order; `is_live` says that the newest one is known to go on."""
        for log in self._logs.values():
            self._fold(log)
        told = []
        for number in sorted(self._spans):
            span = self._spans[number]
            end = span.end
            if end == "unknown" and is_live and number == self.number:
                end = "running"
            told.append(AttemptSpan(number, span.first_step, span.last_step, span.started, span.ended, end))
        return tuple(told)

    @staticmethod
    def _begin(log: _Log, seen: StepSample, step: int) -> None:
        """The first line of an attempt; what is printed before training, or by some other bar, begins none."""
        log.first = log.first or seen
        has_numbers = seen.loss is not None or seen.lr is not None or seen.grad_norm is not None
        log.has_steps = (step > 0 and has_numbers) or step - (log.first.step or 0) >= BAR_STEPS

    def _fold(self, log: _Log) -> None:
        if log.first is not None and log.last is not None:
            span = self._span_of(log.attempt)
            span.cover(log.first)
            span.cover(log.last)

    def _move(self, log: _Log, attempt: int) -> None:
        """This process is in a later attempt now."""
        self._fold(log)
        log.attempt, log.has_steps, log.has_ended, log.first = attempt, False, False, None

    @staticmethod
    def _goes_on(log: _Log, time: float | None) -> bool:
        """What looked like an end was followed by real steps, not by lines that waited in a buffer."""
        log.steps_since += 1
        if time is not None and log.ended_at is not None:
            return time > log.ended_at + BUFFER_SECONDS
        return log.steps_since > BUFFER_LINES

    def _turn_to(self, seen: StepSample, file: str) -> _Log:
        """Another rank or another file speaks, or a new attempt begins."""
        key = (file, seen.origin.node, seen.origin.rank)
        log = self._logs.get(key)
        if log is None:
            log = self._open_log(key, self._first_attempt(seen, file))
        elif log.last is None:
            # Known by telling lines only, so far.
            number = self._first_attempt(seen, file)
            self._files[file] = max(number, self._files.get(file, 0))
        opened = self._files.get(file, 0)
        if log.attempt < opened:
            # Another line of this file opened the attempt; this rank joins it.
            self._move(log, opened)
        self._span_of(log.attempt)
        self._newest[key[1:]] = (file, log)
        self._origin, self._file, self._log = seen.origin, file, log
        return log

    def _first_attempt(self, seen: StepSample, file: str) -> int:
        """The same process in another file: the next attempt when its steps begin again, later in time."""
        known = self._files.get(file, 0)
        before = self._newest.get((seen.origin.node, seen.origin.rank))
        if before is None or before[0] == file:
            return known
        earlier, last = before[1].attempt, before[1].last
        if last is None or last.step is None or seen.step is None or seen.step > last.step:
            return max(earlier, known)
        time, last_time = _time(seen), _time(last)
        is_beside = time is not None and last_time is not None and time < last_time
        return known if is_beside else max(earlier + 1, known)

    def _take_mark(self, seen: AttemptMark) -> int:
        file, node, rank = seen.evidence.file, seen.origin.node, seen.origin.rank
        opened = self._files.get(file, 0)
        speakers = [log for key, log in self._logs.items() if key[0] == file and (rank is None or key[2] == rank)]
        current = [log for log in speakers if log.attempt == opened]
        if not any(log.has_steps or log.has_ended for log in current):
            return opened
        number = opened + 1
        self._files[file] = number
        self._open_log((file, node, rank), number)
        span = self._span_of(number)
        span.why = span.why or seen.why
        span.started = seen.time if span.started is None else span.started
        self._origin = self._log = None
        return number

    def _find(self, seen: Symptom | PhaseMark) -> _Log:
        file = seen.evidence.file
        key = (file, seen.origin.node, seen.origin.rank)
        log = self._logs.get(key)
        if log is None:
            before = self._newest.get(key[1:])
            log = self._open_log(key, self._files.get(file, before[1].attempt if before else 0))
        elif log.attempt < self._files.get(file, 0):
            self._move(log, self._files[file])
        return log

    def _open_log(self, key: tuple[str, str | None, int | None], attempt: int) -> _Log:
        before = self._logs.get(key)
        if before is not None:
            self._fold(before)
        log = self._logs[key] = _Log(attempt)
        self._files[key[0]] = max(attempt, self._files.get(key[0], 0))
        return log

    def _span_of(self, number: int) -> _Span:
        span = self._spans.get(number)
        if span is None:
            span = self._spans[number] = _Span(number)
            self.number = max(self.number, number)
            if len(self._spans) > KEPT_SPANS:
                del self._spans[min(self._spans)]
        return span

    def _end(self, log: _Log, end: str, time: float | None) -> None:
        if not log.has_ended:
            log.has_ended, log.ended_at, log.steps_since = True, time, 0
        span = self._span_of(log.attempt)
        if _STRENGTH[end] > _STRENGTH[span.end]:
            span.end = end
        if time is not None and (span.ended is None or time > span.ended):
            span.ended = time


def _time(seen: StepSample | Symptom | PhaseMark) -> float | None:
    return seen.time if seen.time is not None else seen.seen_at


def end_of(symptom: Symptom) -> str | None:
    """How an attempt ended, as far as this line tells; None: it tells nothing."""
    if symptom.role is Role.BENIGN or symptom.category in _ENDS_NOTHING:
        return None
    if symptom.role is Role.CONTEXT and symptom.category is not Category.RANK_CRASH:
        return None
    if symptom.category is Category.PREEMPTED:
        text = symptom.evidence.text.lower()
        return "preempted" if "preempt" in text or "evict" in text else "killed"
    return "killed" if symptom.category in _KILLED else "crashed"
