"""What changed around a step: at most five lines, the rarest first, each with the line that shows it.

`Changes` follows a run and remembers what moved; `around` answers for one step. What only the points just
before a bad step can tell (grad norm, speed) is kept when a finding is noted, because the log goes on.
"""

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import ge, le

from diagnosis.attempts import BEGINNING, AttemptTracker
from diagnosis.change import Change, norm_lead, slowing
from diagnosis.checkpoints import Checkpoints, Saved
from diagnosis.detectors.line_words import words_of
from diagnosis.findings import Finding, Severity, Verdict
from diagnosis.formats.again import Again
from diagnosis.formats.stretch import Later, Stretch, real
from diagnosis.observations import (
    AttemptMark,
    Category,
    Observation,
    OptimizerSkip,
    Origin,
    Phase,
    PhaseMark,
    Role,
    StepSample,
    Symptom,
)
from diagnosis.wording import duration, small, whole

BEFORE_STEPS = 200
AFTER_STEPS = 20
MOST = 5
KEPT = 1024
RING = 64
MOST_BEHIND = 16
"""So many lines in a row may be behind the newest step; if more are, that one was misprinted and does not count."""
KEPT_SNAPSHOTS = 64
LR_JUMP = 1.5
"""A schedule moves the learning rate from line to line by less than this factor."""
LR_RISE = 0.01
"""A rate that rises again by less was only rounded."""
LENGTH_JUMP = 2.0
WARNING_LINE = "warning line"
_SETTINGS = (("loss_scale", "loss scale"), ("batch_size", "batch size"))
_WEIGHTS = {
    "new attempt": 10.0,
    "learning rate": 9.0,
    "grad norm": 8.0,
    "batch size": 8.0,
    "loss scale": 7.0,
    "sequence length": 7.0,
    "skipped steps": 6.0,
    WARNING_LINE: 6.0,
    "learning-rate schedule": 5.0,
    "epoch": 5.0,
    "speed": 4.0,
    "checkpoint": 3.0,
    "evaluation": 2.0,
}
"""How much each kind tells when it is rare; what happens all the time tells nothing."""
_ENVIRONMENT_WEIGHT = 9.0
_WARNINGS = frozenset(
    {
        Category.GPU_HARDWARE,
        Category.SLOWDOWN,
        Category.STORAGE_STALL,
        Category.DISK_FULL,
        Category.NETWORK_FAULT,
        Category.DATALOADER_STALL,
        Category.CHECKPOINT_FAILURE,
    }
)
"""Telling lines that may be a cause; those of a crash are its consequence."""


class Changes:
    """Follows one run and remembers what moved; memory is bounded."""

    def __init__(self, attempts: AttemptTracker | None = None) -> None:
        """`attempts` is the judge's, where a judge sees each observation first; else one of its own."""
        self.checkpoints = Checkpoints()
        self._attempts = attempts or AttemptTracker()
        self._follows = attempts is None
        self._attempt = 0
        self._kept: deque[Change] = deque(maxlen=KEPT)
        self._often: Counter[str] = Counter()
        self._ring: deque[StepSample | Later] = deque(maxlen=RING)
        self._lead: Origin | None = None
        self._lead_has_loss = False
        self._last: dict[str, float] = {}
        self._left: dict[str, float] = {}
        """What the attempt before told last, until the next one tells its own."""
        self._lr: float | None = None
        self._direction = 0
        self._environment: Mapping[str, str] = {}
        self._first_skip: OptimizerSkip | None = None
        self._skips = 0
        self._unplaced: deque[Change] = deque(maxlen=RING)
        """What a restart changed; its step is the first one printed after it."""
        self._snapshots: dict[tuple[int, int | None], tuple[Change, ...]] = {}
        self._step: int | None = None
        self._behind = 0
        """How many of the newest lines in a row were behind it."""
        self._time: float | None = None

    @property
    def step(self) -> int | None:
        """The newest step that was printed."""
        return self._step

    def checkpoint_lasts(self, saved: Saved, *, kept: int | None = None) -> float | None:
        """Seconds from the newest line on until keep-last-N deletes a checkpoint; None: not known."""
        return self.checkpoints.deleted_in(saved, self._time, kept=kept)

    def observe(self, seen: Observation) -> None:
        """Take one observation in the order of the log."""
        if self._follows:
            self._attempts.observe(seen)
        if isinstance(seen, StepSample):
            if self._attempts.number != self._attempt:
                self._forget()
            if self._is_lead(seen.origin, has_loss=seen.loss is not None):
                self._take_step(seen)
        elif isinstance(seen, OptimizerSkip):
            self._first_skip = self._first_skip or seen
            self._skips += seen.count
        elif isinstance(seen, PhaseMark):
            self._take_phase(seen)
        elif isinstance(seen, AttemptMark):
            self._take_mark(seen)
        elif isinstance(seen, Symptom) and _is_warning(seen):
            self._keep(Change(self._step, WARNING_LINE, None, words_of(seen), seen.evidence, self._attempt))

    def hear_again(self, again: Again) -> None:
        """`observe` for lines that come again: the newest are kept, all are counted."""
        counted = sum(_is_warning(seen) for seen in again.symptoms)
        if not counted:
            return
        lines = min(again.times, KEPT)
        self._often[WARNING_LINE] += (again.times - lines) * counted
        for seen in again.each(lines):
            self.observe(seen)

    def pass_by(self, stretch: Stretch, at: int, stop: int) -> None:
        """Take some points of a stretch, which the judge has taken before."""
        if self._attempts.number != self._attempt:
            self._forget()
        if not self._is_lead(stretch.origin, has_loss=stretch.losses is not None):
            return
        if not self._is_calm(stretch, at, stop):
            for seen in stretch.both(at, stop):
                self._take_step(seen)
            return
        self._step, self._time = stretch.steps[stop - 1], stretch.time(stop - 1)
        if stretch.losses is not None or stretch.grad_norms is not None:
            self._ring.extend(stretch.later(RING, at, stop))
        if stretch.lrs is not None and stretch.lrs[stop - 1] != self._lr:
            newest = stretch.lrs[stop - 1]
            self._direction = 1 if self._lr is None or newest > self._lr else -1
            self._lr = newest

    def note(self, verdicts: Iterable[Verdict]) -> None:
        """A finding: keep what the points just before it tell."""
        for verdict in verdicts:
            if not isinstance(verdict, Finding) or verdict.severity is Severity.INFO:
                continue
            key = (verdict.attempt, verdict.step)
            if key not in self._snapshots and len(self._snapshots) < KEPT_SNAPSHOTS:
                self._snapshots[key] = tuple(self._of_points(verdict.step))

    def around(self, step: int | None, *, attempt: int = 0, is_now: bool = False) -> tuple[Change, ...]:
        """At most five changes between 200 steps before and 20 after, the most telling first.

        `is_now`: the step was printed just now, so the newest points are those around it, its peak among them.
        """
        known = (*self._kept, *self._unplaced)
        near = [change for change in known if change.attempt == attempt and _is_near(change.step, step)]
        points = self._snapshots.get((attempt, step))
        near += self._of_points(None if is_now else step) if points is None else points
        saved = self.checkpoints.newest_before(step)
        if saved is not None:
            after = f"step {whole(saved.step)} is the newest before it"
            left = self.checkpoints.deleted_in(saved, self._time)
            if left is not None:
                after += f", keep-last-{self.checkpoints.kept} deletes it in about {duration(left)}"
            near.append(Change(saved.step, "checkpoint", None, after, saved.evidence, attempt))
        inside = Counter(change.what for change in near)
        scored = [(self._score(change, inside), place, change) for place, change in enumerate(near)]
        best: dict[str, Change] = {}
        for _, _, change in sorted(scored, key=lambda item: (-item[0], -item[1])):
            best.setdefault(f"{change.what} {change.after}" if change.what == WARNING_LINE else change.what, change)
        return tuple(list(best.values())[:MOST])

    def _score(self, change: Change, inside: Counter[str]) -> float:
        """Weight over how often the same happened elsewhere in the run."""
        elsewhere = max(0, self._often[change.what] - inside[change.what])
        return _WEIGHTS.get(change.what, _ENVIRONMENT_WEIGHT) / (1.0 + elsewhere)

    def _keep(self, change: Change) -> None:
        self._often[change.what] += 1
        self._kept.append(change)

    def _is_lead(self, origin: Origin, *, has_loss: bool) -> bool:
        """Numbers are followed on one rank, on one that prints a loss if any does."""
        if self._lead is None or (has_loss and not self._lead_has_loss):
            self._lead, self._lead_has_loss = origin, has_loss
        return origin is self._lead or origin == self._lead

    def _take_step(self, seen: StepSample) -> None:
        if self._first_skip is not None:
            self._close_skips(self._first_skip, seen)
        if seen.step is not None:
            self._behind = self._behind + 1 if self._step is not None and seen.step < self._step else 0
            if 0 < self._behind <= MOST_BEHIND:
                return  # ranks that share a file print a line or two out of order: told by the newest step already
            if self.checkpoints.is_saving and (self._step is None or seen.step > self._step):
                self.checkpoints.go_on()
            self._step = seen.step
            if self._unplaced:
                self._place(seen.step)
            if self._left:
                self._compare_resumed(seen, seen.step)
        if seen.time is not None or seen.seen_at is not None:
            self._time = seen.time if seen.time is not None else seen.seen_at
        if seen.loss is not None or seen.grad_norm is not None:
            self._ring.append(seen)
        lr = seen.lr
        if lr is not None and lr != self._lr:
            self._follow_lr(seen, lr)
        if seen.fields:
            self._take_fields(seen, seen.fields)

    def _is_calm(self, stretch: Stretch, at: int, stop: int) -> bool:
        """True when these points change nothing but the step, the time and a schedule that goes on as it did."""
        is_waiting = self._first_skip is not None or self._unplaced or self.checkpoints.is_saving
        if self._step is None or is_waiting or stretch.time(stop - 1) is None or "sequence_length" in stretch.fields:
            return False
        for name, _ in _SETTINGS:
            told = stretch.span(name, at, stop)
            if told is not None and not told[0] == told[1] == self._last.get(name):
                return False
        epochs = stretch.span("epoch", at, stop)
        if epochs is not None and not epochs[0] // 1.0 == epochs[1] // 1.0 == self._last.get("epoch"):
            return False
        return stretch.lrs is None or self._goes_on(stretch.lrs[at:stop])

    def _goes_on(self, rates: Sequence[float]) -> bool:
        """True when the learning rate stays, or only falls or only rises as it did, and never leaps."""
        before, newest = self._lr, rates[-1]
        if before is None or rates.count(before) == len(rates):
            return before is not None
        course = [before, *rates]
        is_rising = newest > before
        if self._direction * (1 if is_rising else -1) < 0 or not all(map(le if is_rising else ge, course, rates)):
            return False
        return min(before, newest) > 0.0 and 1.0 / LR_JUMP < newest / before < LR_JUMP

    def _take_fields(self, seen: StepSample, fields: Mapping[str, float]) -> None:
        last = self._last
        for name, what in _SETTINGS:
            value = fields.get(name)
            if value is not None and value != last.get(name) and (before := self._moved(name, value)) is not None:
                self._changed(seen, what, f"{before:,.0f}", f"{value:,.0f}")
        length = fields.get("sequence_length")
        if length is not None:
            before = last.get("sequence_length")
            last["sequence_length"] = max(length, before or 0.0)
            if before is not None and length >= LENGTH_JUMP * before:
                self._changed(seen, "sequence length", f"{before:,.0f}", f"{length:,.0f}")
        epoch = fields.get("epoch")
        if epoch is not None and epoch // 1.0 != last.get("epoch"):
            before = self._moved("epoch", epoch // 1.0)
            if before is not None:
                self._changed(seen, "epoch", f"{before:.0f}", f"{epoch // 1.0:.0f}")

    def _moved(self, name: str, value: float | None) -> float | None:
        """The value before, if it was another one."""
        if value is None or value - value != 0.0:
            return None
        before = self._last.get(name)
        self._last[name] = value
        return None if before == value else before

    def _changed(self, seen: StepSample, what: str, before: str, after: str) -> None:
        self._keep(Change(seen.step, what, before, after, seen.evidence, self._attempt))

    def _follow_lr(self, seen: StepSample, lr: float) -> None:
        before, self._lr = self._lr, lr
        if before is None or lr == before or before <= 0.0 or lr <= 0.0:
            return
        if not 1.0 / LR_JUMP < lr / before < LR_JUMP and not self._is_warming(seen, lr, before):
            self._changed(seen, "learning rate", small(before), small(lr))
        direction = 1 if lr > before else -1
        if self._direction > 0 > direction:
            self._changed(seen, "learning-rate schedule", "warm-up", f"decay from {small(before)}")
        elif self._direction < 0 < direction and lr > before * (1.0 + LR_RISE):
            self._changed(seen, "learning-rate schedule", "decay", f"rises again from {small(before)}")
        self._direction = direction

    def _is_warming(self, seen: StepSample, lr: float, before: float) -> bool:
        """The first lines of a warm-up multiply the rate lawfully."""
        return (
            lr > before and self._direction >= 0 and seen.step is not None and lr <= 10.0 * before and seen.step < 200
        )

    def _close_skips(self, first: OptimizerSkip, seen: StepSample) -> None:
        step = first.step if first.step is not None else seen.step
        self._keep(Change(step, "skipped steps", None, f"{self._skips} for overflow", first.evidence, self._attempt))
        self._first_skip, self._skips = None, 0

    def _take_phase(self, seen: PhaseMark) -> None:
        step = seen.step if seen.step is not None else self._step
        if seen.phase is Phase.SAVING:
            self.checkpoints.note(seen, step)
        elif seen.phase is Phase.EVALUATING and seen.begins:
            self._keep(Change(step, "evaluation", None, "began", seen.evidence, self._attempt))

    def _take_mark(self, seen: AttemptMark) -> None:
        if self._attempts.number != self._attempt:
            self._forget()
            self._unplaced.append(Change(None, "new attempt", None, seen.why, seen.evidence, self._attempt))
        self.checkpoints.learn(seen.environment)
        for name, value in seen.environment.items():
            before = self._environment.get(name)
            if before is not None and before != value:
                self._unplaced.append(Change(None, name, before, value, seen.evidence, self._attempt))
        if seen.environment:
            self._environment = {**self._environment, **seen.environment}

    def _place(self, step: int) -> None:
        for change in self._unplaced:
            self._keep(replace(change, step=step))
        self._unplaced.clear()

    def _compare_resumed(self, seen: StepSample, step: int) -> None:
        """Where a run goes on from a checkpoint, its settings and its schedule go on too, or that is news."""
        left, self._left = self._left, {}
        if step <= BEGINNING:
            return
        before, lr = left.get("lr", 0.0), seen.lr or 0.0
        if before > 0.0 and lr > 0.0 and not 1.0 / LR_JUMP < lr / before < LR_JUMP:
            self._changed(seen, "learning rate", small(before), small(lr))
        batch, now = left.get("batch_size"), seen.fields.get("batch_size")
        if batch is not None and now is not None and batch != now:
            self._changed(seen, "batch size", f"{batch:,.0f}", f"{now:,.0f}")

    def _forget(self) -> None:
        """What another attempt printed is no neighbour."""
        self._attempt = self._attempts.number
        if self._step is not None:
            self._left = {**self._last, "lr": self._lr or 0.0}
        self._last.clear()
        self._ring.clear()
        self._lr, self._direction, self._step = None, 0, None
        self._first_skip, self._skips = None, 0

    def _of_points(self, step: int | None) -> list[Change]:
        """Grad norm and speed over the points just before."""
        points = [seen for seen in map(real, self._ring) if step is None or seen.step is None or seen.step <= step]
        return [change for change in (norm_lead(points), slowing(points)) if change is not None]


def _is_warning(seen: Symptom) -> bool:
    return seen.category in _WARNINGS and seen.role is not Role.BENIGN


def _is_near(changed: int | None, step: int | None) -> bool:
    if changed is None or step is None:
        return True
    return step - BEFORE_STEPS <= changed <= step + AFTER_STEPS
