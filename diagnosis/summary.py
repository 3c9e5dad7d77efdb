"""The facts of a run's numbers, kept while the log goes by: points, first and last, largest jump, skips.

`LossSummary` gives the `loss`, `grad_norm`, `lr` and `jumps` parts of `inspect --json`. Memory is bounded
at any length.
"""

import math
from array import array
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from diagnosis.findings import Jump, Verdict
from diagnosis.observations import AttemptMark, Observation, OptimizerSkip, StepSample

KEPT_POINTS = 2_000_000
"""Points that are kept to recognise other ranks' repeats: 32 MB. Beyond, repeats are found near the end only."""
KEPT_JUMPS = 1_000
LOOK_BACK = 64
MOST = 1 << 60
ROUNDING = 1e-9
MOST_ROUNDED = 6e-5
"""Two loggers print the same point with four decimals at least."""

RankKey = tuple[str | None, int | None]


@dataclass(slots=True)
class Rank:
    """How far one rank has repeated or told the common points."""

    cursor: int = 0
    recent: deque[tuple[int, float]] = field(default_factory=lambda: deque(maxlen=LOOK_BACK))
    last_step: int | None = None
    finite: float | None = None
    """Its newest finite loss of this attempt: a change lies between neighbours of one process."""
    events: int = 0
    counter: int = 0
    total: int = 0
    totals: int = 0


class LossSummary:
    """Facts about train loss, grad norm and learning rate, several ranks' same (step, value) counted once."""

    def __init__(self) -> None:
        self.points = 0
        self.nonfinite = 0
        self.grad_norm_points = 0
        self.lr_points = 0
        self.first: StepSample | None = None
        """The first loss point."""
        self.last: StepSample | None = None
        """The last loss point."""
        self.last_lr: float | None = None
        self._grad_norm_max: tuple[float, int | None] | None = None
        self._jump: tuple[float, StepSample, float] | None = None
        self._step_kind = "none"
        self._steps = array("d")
        self._losses = array("d")
        self._dropped = 0
        self._ranks: dict[RankKey, Rank] = {}
        self._lead_without_loss: RankKey | None = None
        self._jumps: list[Jump] = []
        self._origin: object = None
        self._rank: Rank | None = None

    def observe(self, seen: Observation) -> None:
        """Take one observation in the order of the log."""
        if isinstance(seen, StepSample):
            self._take_step(seen)
        elif isinstance(seen, OptimizerSkip):
            self._rank_of(seen).events += seen.count
        elif isinstance(seen, AttemptMark):
            for rank in self._ranks.values():
                rank.recent.clear()
                rank.last_step = rank.finite = None

    def note(self, verdicts: Iterable[Verdict]) -> None:
        """Keep the jumps of the loss among what a judge said."""
        for verdict in verdicts:
            if isinstance(verdict, Jump) and verdict.metric == "loss":
                self._jumps.append(verdict)
        if len(self._jumps) > 2 * KEPT_JUMPS:
            self._jumps = self._largest_jumps()

    def as_dict(self) -> dict[str, Any]:
        """The four parts, ready for JSON."""
        return {"loss": self.loss(), "grad_norm": self.grad_norm(), "lr": self.lr(), "jumps": self.jumps()}

    def loss(self) -> dict[str, Any]:
        """The `loss` part; without points every field but the counts and the step kind is null."""
        first, last, jump = self.first, self.last, self._jump
        return {
            "points": self.points,
            "first_step": first.step if first else None,
            "last_step": last.step if last else None,
            "first": json_number(first.loss) if first else None,
            "last": json_number(last.loss) if last else None,
            "nonfinite": self.nonfinite,
            "skipped_steps": self.skipped_steps,
            "step_kind": self._step_kind,
            "largest_jump": {
                "step": jump[1].step,
                "from": json_number(jump[2]),
                "to": json_number(jump[1].loss),
                "delta": json_number(jump[0]),
            }
            if jump
            else None,
        }

    def grad_norm(self) -> dict[str, Any]:
        """The `grad_norm` part; the maximum is the largest finite one."""
        value, step = self._grad_norm_max or (None, None)
        return {"points": self.grad_norm_points, "max": value, "max_step": step}

    def lr(self) -> dict[str, Any]:
        """The `lr` part."""
        return {"points": self.lr_points, "last": json_number(self.last_lr)}

    def jumps(self) -> list[dict[str, Any]]:
        """The `jumps` part, in the order of the log; of very many, the largest."""
        return [
            {
                "step": jump.step,
                "from": json_number(jump.from_loss),
                "to": json_number(jump.to_loss),
                "rule": jump.rule,
            }
            for jump in self._largest_jumps()
        ]

    @property
    def skipped_steps(self) -> int:
        """Optimizer steps the log says were skipped: events, or the counter where there are no events."""
        events = max((rank.events for rank in self._ranks.values()), default=0)
        return events or max((rank.counter or rank.totals for rank in self._ranks.values()), default=0)

    def _take_step(self, seen: StepSample) -> None:
        rank = self._rank
        if rank is None or seen.origin is not self._origin:
            rank = self._rank = self._rank_of(seen)
            self._origin = seen.origin
        if seen.fields:
            self._count_skips(rank, seen.fields)
        if seen.loss is None:
            if self._step_kind == "none":
                self._step_kind = seen.step_kind
            self._take_rest(seen, is_lead=self._leads(seen))
            return
        if self._is_repeat(rank, seen, seen.loss):
            if seen.loss - seen.loss == 0.0:
                rank.finite = seen.loss
            return
        self._take_loss(rank, seen, seen.loss)
        self._take_rest(seen, is_lead=True)

    @staticmethod
    def _count_skips(rank: Rank, fields: Mapping[str, float]) -> None:
        """A counter of the interval is summed, a total that only grows is followed."""
        skipped, total = fields.get("skipped_steps"), fields.get("skipped_total")
        if skipped and skipped - skipped == 0.0:
            rank.counter += int(skipped)
        if total is not None and total - total == 0.0:
            # A restart begins to count again.
            rank.totals += max(0, int(total) - rank.total) if total >= rank.total else int(total)
            rank.total = int(total)

    def _take_loss(self, rank: Rank, seen: StepSample, loss: float) -> None:
        self.points += 1
        self.last = seen
        if self.first is None:
            self.first = seen
            self._step_kind = seen.step_kind
        if loss - loss != 0.0:
            self.nonfinite += 1
            return
        before, rank.finite = rank.finite, loss
        if before is not None:
            delta = abs(loss - before)
            if self._jump is None or delta > self._jump[0]:
                self._jump = (delta, seen, before)

    def _take_rest(self, seen: StepSample, *, is_lead: bool) -> None:
        if not is_lead:
            return
        norm = seen.grad_norm
        if norm is not None:
            self.grad_norm_points += 1
            best = self._grad_norm_max
            if norm - norm == 0.0 and (best is None or norm > best[0]):
                self._grad_norm_max = (norm, seen.step)
        if seen.lr is not None:
            self.lr_points += 1
            self.last_lr = seen.lr

    def _leads(self, seen: StepSample) -> bool:
        """Of lines without loss only one rank's are counted: nothing tells repeats from news."""
        if seen.grad_norm is None and seen.lr is None:
            return False
        key = (seen.origin.node, seen.origin.rank)
        self._lead_without_loss = self._lead_without_loss or key
        return key == self._lead_without_loss

    def _is_repeat(self, rank: Rank, seen: StepSample, loss: float) -> bool:
        """True when another rank, or another logger of the same one, has told this point."""
        step = seen.step
        if step is None:
            step_number = math.nan
        else:
            if rank.last_step is not None and step <= rank.last_step and _holds(rank.recent, step, loss):
                return True
            if rank.last_step is not None and step < rank.last_step:
                rank.finite = None
            rank.recent.append((step, loss))
            rank.last_step = step
            step_number = float(step) if abs(step) < MOST else math.nan
        place = self._find(rank, step_number, loss)
        if place is not None:
            rank.cursor = place + 1
            return True
        is_at_end = rank.cursor == len(self._steps)
        self._steps.append(step_number)
        self._losses.append(loss)
        if is_at_end or step is None:
            rank.cursor = len(self._steps)
        if len(self._steps) > KEPT_POINTS:
            self._forget()
        return False

    def _find(self, rank: Rank, step: float, loss: float) -> int | None:
        """Where this rank's next point stands among those told, looking on from its last one."""
        steps, losses = self._steps, self._losses
        place, end = rank.cursor, len(steps)
        while place < end and steps[place] < step:
            place += 1
        rank.cursor = place
        while place < end and (steps[place] == step or step != step):  # noqa: PLR0124 - NaN: no step printed
            if _is_same(losses[place], loss):
                return place
            if step != step:  # noqa: PLR0124 - without steps only the very next value can be the same point
                return None
            place += 1
        return None

    def _forget(self) -> None:
        """Drop the older half; ranks that lag behind it are no longer recognised."""
        half = len(self._steps) // 2
        del self._steps[:half]
        del self._losses[:half]
        for rank in self._ranks.values():
            rank.cursor = max(0, rank.cursor - half)

    def _rank_of(self, seen: StepSample | OptimizerSkip) -> Rank:
        key = (seen.origin.node, seen.origin.rank)
        rank = self._ranks.get(key)
        if rank is None:
            rank = self._ranks[key] = Rank()
        return rank

    def _largest_jumps(self) -> list[Jump]:
        if len(self._jumps) <= KEPT_JUMPS:
            return self._jumps
        sizes = sorted((abs(jump.to_loss - jump.from_loss) for jump in self._jumps), reverse=True)
        floor = sizes[KEPT_JUMPS - 1]
        return [jump for jump in self._jumps if abs(jump.to_loss - jump.from_loss) >= floor][:KEPT_JUMPS]


def json_number(value: float | None) -> float | str | None:
    """A number as the contract wants it: non-finite ones are words."""
    if value is None or math.isfinite(value):
        return value
    if math.isnan(value):
        return "nan"
    return "inf" if value > 0 else "-inf"


def _holds(recent: Iterable[tuple[int, float]], step: int, loss: float) -> bool:
    return any(known == step and _is_same(value, loss) for known, value in recent)


def _is_same(one: float, other: float) -> bool:
    if one == other:
        return True
    if one - one != 0.0 or other - other != 0.0:
        return one != one and other != other  # noqa: PLR0124 - both are NaN
    apart = abs(one - other)
    return apart <= ROUNDING * abs(one) or (apart <= MOST_ROUNDED and _is_rounded(one, other))


def _is_rounded(one: float, other: float) -> bool:
    """True when one is the other with fewer digits: two loggers print the same point differently."""
    few, many = sorted((_decimals(one), _decimals(other)))
    return few < many and abs(one - other) <= 0.5001 * 10.0 ** -max(few, 4)


def _decimals(number: float) -> int:
    """Digits behind the point, as far as they are not zero."""
    text = repr(number)
    return 0 if "e" in text else len(text.partition(".")[2])
