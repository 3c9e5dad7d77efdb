"""All detectors over the observations of one run: which numbers belong together, which attempt, what is over.

Ranks that print the same numbers share one set of baselines; from the first step where they differ, each
rank has its own. A new attempt starts every baseline afresh, and once it trains, what was open is over.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from diagnosis.attempts import AttemptTracker
from diagnosis.detectors import DETECTORS, Detector
from diagnosis.detectors.block import POINTS, Block, block_of
from diagnosis.detectors.detector import Forgetful, Passer, Seen
from diagnosis.findings import Cleared, Finding, Severity, Verdict
from diagnosis.formats.stretch import Point
from diagnosis.observations import AttemptMark, Observation, OptimizerSkip, Origin, StepSample
from diagnosis.outlived import Outlived, over
from diagnosis.past import Past
from diagnosis.resumed import Resumed
from diagnosis.thresholds import Thresholds
from diagnosis.wording import at_step

CLEAR_POINTS = 10
"""Points of a new attempt after which what was open before it is over."""
KEPT_ATTEMPTS = 8
RECENT_STEPS = 1024
TAIL = 32
SAME_SHARE = 2e-3
"""Two printers round the same loss differently; ranks that differ do so by more."""

Watcher = Callable[[Seen], Sequence[Verdict]]


@dataclass(slots=True)
class _Series:
    """The numbers of all ranks that agree, or of one that does not."""

    watchers: tuple[Watcher, ...]
    block_watchers: tuple[Watcher, ...]
    detectors: tuple[Detector, ...]
    block: list[StepSample] = field(default_factory=list)
    """Finite points that wait to be five."""
    tail: deque[StepSample | Point] = field(default_factory=lambda: deque(maxlen=TAIL))
    """The newest points, for a second rank that tells them again."""
    newest: int = -1
    recent: dict[int, float] = field(default_factory=dict)
    order: deque[int] = field(default_factory=deque)
    passers: tuple[Passer, ...] | None = None
    """Those of its detectors that look at every point, once a judge of stretches has asked."""
    resumed: Resumed | None = None
    """Compares the beginning of a later attempt with earlier ones, or has done so."""

    def compare(self, past: Past, thresholds: Thresholds) -> None:
        """Look at the beginning beside what earlier attempts reached."""
        self.resumed = Resumed(thresholds, past)
        self.detectors = (*self.detectors, self.resumed)
        self.block_watchers = (*self.block_watchers, self.resumed.observe)

    def end_comparison(self, resumed: Resumed) -> None:
        """Nothing more is said about the beginning."""
        if resumed in self.detectors:
            self.detectors, self.block_watchers = self.detectors[:-1], self.block_watchers[:-1]

    @property
    def is_measure(self) -> bool:
        """False when it began at a worse loss than earlier attempts and has not come back."""
        return self.resumed is None or not self.resumed.said

    def remember(self, step: int, loss: float) -> None:
        """Keep a point to recognise it when other ranks tell it again."""
        self.newest = max(step, self.newest)
        self.recent[step] = loss
        self.order.append(step)
        if len(self.order) > RECENT_STEPS:
            self.recent.pop(self.order.popleft(), None)

    def open_to_others(self) -> None:
        """A second rank came: what the first has just told may be told again."""
        for seen in self.tail:
            if seen.step is not None and seen.loss is not None:
                self.remember(seen.step, seen.loss)
        self.tail.clear()


@dataclass(slots=True)
class _Rank:
    """One process as the judge sees it."""

    attempt: int
    watchers: tuple[Watcher, ...]
    detectors: tuple[Detector, ...]
    series: _Series
    last: StepSample | None = None
    passers: tuple[Passer, ...] | None = None
    """As with a series."""


class Judge:
    """All detectors over one run, as one node or a folder of its files sees it."""

    def __init__(
        self, thresholds: Thresholds | None = None, *, detectors: tuple[type[Detector], ...] = DETECTORS
    ) -> None:
        self._thresholds = thresholds or Thresholds()
        self._classes = detectors
        self._run_wide: dict[int, tuple[Detector, ...]] = {}
        self.attempts = AttemptTracker()
        """The attempts seen so far."""
        self._ranks: dict[tuple[str | None, int | None], _Rank] = {}
        self._shared: dict[int, _Series] = {}
        self._origin: Origin | None = None
        self._rank: _Rank | None = None
        self._is_alone = True
        self._skipper: tuple[str | None, int | None] | None = None
        self._open: dict[tuple[str, str | None, int | None], Finding] = {}
        self._training = 0
        self._outlived = Outlived()
        self._mark: AttemptMark | None = None
        self._past = Past()
        self._compared = 0
        """The newest attempt whose beginning was compared with the past."""

    @property
    def attempt(self) -> int:
        """The newest attempt's number, from 0."""
        return self.attempts.number

    @property
    def thresholds(self) -> Thresholds:
        """By what is judged now."""
        return self._thresholds

    def adopt(self, thresholds: Thresholds) -> None:
        """Judge by other limits from the next point on; what was learnt so far stays."""
        self._thresholds = thresholds
        groups = [*self._run_wide.values(), *(rank.detectors for rank in self._ranks.values())]
        groups += [series.detectors for series in self._all_series()]
        for detector in (detector for group in groups for detector in group):
            if hasattr(detector, "_thresholds"):
                detector._thresholds = thresholds  # noqa: SLF001 - one limit for all that judge

    def _all_series(self) -> list[_Series]:
        found = {id(series): series for series in self._shared.values()}
        found |= {id(rank.series): rank.series for rank in self._ranks.values()}
        return list(found.values())

    def observe(self, seen: Observation) -> list[Verdict]:
        """Take one observation and say what it shows; nearly always nothing."""
        if isinstance(seen, StepSample):
            return self._take_step(seen)
        attempt = self.attempts.observe(seen)
        if isinstance(seen, AttemptMark):
            self._origin = self._rank = None
            self._mark = seen
            return []
        if isinstance(seen, OptimizerSkip) and not self._is_first_skipper(seen.origin):
            return []
        return self._sign(self._tell_all(seen, attempt), attempt)

    def _take_step(self, seen: StepSample) -> list[Verdict]:
        attempt = self.attempts.take_step(seen)
        rank = self._rank
        if rank is None or seen.origin is not self._origin or rank.attempt != attempt:
            rank = self._turn_to(seen.origin, attempt)
        last, rank.last = rank.last, seen
        if last is not None and seen.step == last.step and _is_same_line(seen, last):
            return []
        said: list[Verdict] = []
        for watch in rank.watchers:
            if verdicts := watch(seen):
                said += verdicts
        series, loss = rank.series, seen.loss
        if loss is not None:
            if not self._is_alone and not self._is_news(rank, seen):
                return self._sign(said, attempt) if said else said
            series = rank.series
            series.tail.append(seen)
            if loss - loss == 0.0:
                series.block.append(seen)
        for watch in series.watchers:
            if verdicts := watch(seen):
                said += verdicts
        if len(series.block) == POINTS:
            said += self._take_block(series)
        if self._open:
            said += self._clear_outlived(seen, attempt) if self._outlived.is_waiting else []
            said += self._clear_old(seen, attempt)
        return self._sign(said, attempt) if said else said

    @staticmethod
    def _take_block(series: _Series) -> list[Verdict]:
        block, series.block = block_of(series.block), []
        said = [verdict for watch in series.block_watchers for verdict in watch(block)]
        if series.resumed is not None and series.resumed.is_over:
            series.end_comparison(series.resumed)
        return said

    def _is_news(self, rank: _Rank, seen: StepSample) -> bool:
        """False when another rank has told this point; a rank that tells another one parts from the rest."""
        series, step, loss = rank.series, seen.step, seen.loss
        if step is None or loss is None or series is not self._shared.get(rank.attempt):
            return True
        if step > series.newest:
            series.remember(step, loss)
            return True
        known = series.recent.get(step)
        if known is not None and (loss - loss != 0.0 or known - known != 0.0 or _is_close(loss, known)):
            return False
        rank.series = self._new_series()
        return True

    def _turn_to(self, origin: Origin, attempt: int) -> _Rank:
        key = (origin.node, origin.rank)
        rank = self._ranks.get(key)
        if rank is None or rank.attempt != attempt:
            shared = self._shared.get(attempt)
            if shared is None:
                # Only the newest attempts can still get lines.
                self._shared = {number: series for number, series in self._shared.items() if number >= attempt - 2}
                shared = self._shared[attempt] = self._new_series()
                self._compare(shared, attempt)
                if attempt and self._mark is not None:
                    for watch in _watchers(shared.detectors, AttemptMark):
                        watch(self._mark)
            shared.open_to_others()
            detectors = self._make("rank")
            rank = self._ranks[key] = _Rank(attempt, _watchers(detectors, StepSample), detectors, shared)
            self._is_alone = len(self._ranks) == 1
        self._origin, self._rank = origin, rank
        return rank

    def _compare(self, series: _Series, attempt: int) -> None:
        """A new attempt is looked at beside those before it, once, and none that went wrong is a measure."""
        if attempt <= self._compared:
            return
        for number in sorted(self._shared):
            before = self._shared[number]
            if self._compared <= number < attempt and before.is_measure and before.tail:
                self._past = self._past.followed_by(before.detectors, before.tail[-1].step or 0)
        self._compared = attempt
        if self._past.is_known:
            series.compare(self._past, self._thresholds)

    def _tell_all(self, seen: Observation, attempt: int) -> list[Verdict]:
        """What is not a step goes to everyone who wants it."""
        said: list[Verdict] = []
        everyone = [self._of_run(attempt)]
        series: list[_Series] = []
        for rank in self._ranks.values():
            everyone.append(rank.detectors)
            if not any(rank.series is known for known in series):
                series.append(rank.series)
                everyone.append(rank.series.detectors)
        for detectors in everyone:
            for watch in _watchers(detectors, type(seen)):
                said += watch(seen)
        return said

    def _of_run(self, attempt: int) -> tuple[Detector, ...]:
        """The detectors of one attempt of the run as a whole."""
        if attempt not in self._run_wide:
            if len(self._run_wide) >= KEPT_ATTEMPTS:
                del self._run_wide[min(self._run_wide)]
            self._run_wide[attempt] = self._make("run")
        return self._run_wide[attempt]

    def _is_first_skipper(self, origin: Origin) -> bool:
        """Every rank may print the same skip; one of them is enough."""
        key = (origin.node, origin.rank)
        self._skipper = self._skipper or key
        return key == self._skipper

    def _sign(self, said: list[Verdict], attempt: int) -> list[Verdict]:
        """Put the attempt's number on verdicts, and remember what is open."""
        signed: list[Verdict] = []
        for verdict in said:
            told = replace(verdict, attempt=attempt) if verdict.attempt != attempt else verdict
            signed.append(told)
            self._outlived.note(told)
            if isinstance(told, Finding) and told.severity is not Severity.INFO:
                self._open[told.kind, told.origin.node, told.origin.rank] = told
            elif isinstance(told, Cleared):
                self._open.pop((told.kind, told.origin.node, told.origin.rank), None)
        return signed

    def _clear_outlived(self, seen: StepSample, attempt: int) -> list[Verdict]:
        """What a process raised is over when it went on; the next time it is said again."""
        said: list[Verdict] = []
        for finding in self._outlived.take(seen, attempt):
            said.append(over(finding, seen))
            for detector in self._of_run(attempt):
                if isinstance(detector, Forgetful):
                    detector.forget(finding)
        return said

    def _clear_old(self, seen: StepSample, attempt: int) -> list[Verdict]:
        """What was open before this attempt is over once the attempt trains."""
        old = [finding for finding in self._open.values() if finding.attempt < attempt]
        if not old or (seen.loss is not None and seen.loss - seen.loss != 0.0):
            self._training = 0
            return []
        self._training += 1
        if self._training < CLEAR_POINTS:
            return []
        self._training = 0
        text = f"the run was started again and trains {at_step(seen.step)}"
        return [
            Cleared(finding.kind, finding.origin, text, seen.step, seen.time, seen.seen_at, attempt) for finding in old
        ]

    def _new_series(self) -> _Series:
        detectors = self._make("series")
        return _Series(_watchers(detectors, StepSample), _watchers(detectors, Block), detectors)

    def _make(self, scope: str) -> tuple[Detector, ...]:
        return tuple(detector(self._thresholds) for detector in self._classes if detector.scope == scope)


def _watchers(detectors: tuple[Detector, ...], kind: type) -> tuple[Watcher, ...]:
    return tuple(detector.observe for detector in detectors if kind in detector.watches)


def _is_same_line(seen: StepSample, last: StepSample) -> bool:
    """The same process printed the same point again, as with two loggers."""
    if seen.step is None:
        return False
    return (seen.loss, seen.grad_norm, seen.lr) == (last.loss, last.grad_norm, last.lr) and seen.loss is not None


def _is_close(one: float, other: float) -> bool:
    return abs(one - other) <= SAME_SHARE * max(abs(one), abs(other), 1e-3)
