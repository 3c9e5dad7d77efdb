"""A run that goes on from a checkpoint at a worse loss than before: something did not come back with it.

Only the beginning of an attempt is looked at, and only when it begins in the middle of the run. A rise that heals by
itself, as while an optimizer warms up, is waited for.
"""

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar, NamedTuple

from diagnosis.attempts import BEGINNING
from diagnosis.detectors.block import POINTS, Block
from diagnosis.detectors.detector import QUIET, Scope, Seen, found, over
from diagnosis.detectors.divergence import divergence_margin
from diagnosis.detectors.robust import MAD_TO_SIGMA, middle
from diagnosis.findings import Finding, Severity, Verdict
from diagnosis.observations import AttemptMark, StepSample
from diagnosis.past import FEWEST, Past
from diagnosis.thresholds import Thresholds
from diagnosis.wording import at_step, number, precise

SINCE_RESUME = "resume"
"""The `since` of a finding's details: it is not the weights of these steps that are bad."""
MOST_BLOCKS = 160
"""After so many, what is higher has other reasons than the resume."""
FOLLOWED_BLOCKS = 4000
"""So long it is looked whether the loss comes back."""
LARGE_BLOCKS = 2
SMALL_BLOCKS = 6
HEALS = 0.75
"""What is left of a rise after twice the time, at most, where it goes away by itself."""
HEALS_FAST = 0.6
"""The same for a large one: a training that began again from nothing comes down too, but slowly."""
MEDIAN = 1.25
"""A median varies more than a mean by this factor."""

ALIKE = 0.5
"""Lines that share fewer of their words tell another loss."""
_WORD = re.compile(r"[A-Za-z][A-Za-z_/]+")


class _Rise(NamedTuple):
    """Five points of the new attempt against the level at their step."""

    loss: float
    above: float
    lowest: float


class Resumed:
    """`divergence` or `sustained_spike` since a resume: against the same steps before, or else the newest level."""

    kind: ClassVar[str] = "sustained_spike"
    watches: ClassVar[tuple[type, ...]] = (Block, AttemptMark)
    scope: ClassVar[Scope] = "series"

    def __init__(self, thresholds: Thresholds, past: Past) -> None:
        self._thresholds = thresholds
        self._past = past
        self._first: StepSample | None = None
        self._mark: AttemptMark | None = None
        self._rises: list[_Rise] = []
        self._followed = 0
        self._limit = 0.0
        self.said = ""
        """The kind of its finding, as long as that holds."""
        self.is_over = not past.is_known
        """Nothing more is to be said."""

    def observe(self, seen: Seen) -> Sequence[Verdict]:
        """Take five points of the new attempt."""
        if isinstance(seen, AttemptMark):
            self._mark = seen
        if self.is_over or not isinstance(seen, Block):
            return QUIET
        first = self._first = self._first or seen.first
        step = seen.middle_step
        if step is None or seen.lowest < 0.0 or not self._goes_on(first):
            self.is_over = True
            return QUIET
        if step < self._past.first_step:
            return QUIET  # the log does not reach back to the checkpoint
        level = self._past.at(step, SMALL_BLOCKS * POINTS)
        loss = seen.total / POINTS
        rise = _Rise(loss, loss - level, seen.lowest - level)
        if self.said:
            return self._follow(seen, rise)
        self._rises.append(rise)
        self.is_over = len(self._rises) >= MOST_BLOCKS
        if first.step_kind != "samples" and step - (first.step or 0) < self._thresholds.resume_steps:
            return QUIET
        return self._judge_large(first, seen, level) or self._judge_small(first, seen, level)

    def _goes_on(self, first: StepSample) -> bool:
        """Whether the attempt begins in the middle of the run, by a counter that tells."""
        if first.step is None or first.step_kind in {"ordinal", "none"}:
            return False
        line = self._past.line
        if line is not None and not _is_alike(line.text, first.evidence.text):
            return False  # another program's loss
        return first.step > max(BEGINNING, 2.0 * self._past.stride)

    def _judge_large(self, first: StepSample, seen: Block, level: float) -> Sequence[Verdict]:
        """Every point stands far above."""
        newest = self._rises[-LARGE_BLOCKS:]
        margin = divergence_margin(self._thresholds, level, 0.0)
        if min(rise.lowest for rise in newest) <= margin or not self._stays(LARGE_BLOCKS, HEALS_FAST):
            return QUIET
        if _above(newest) <= self._thresholds.resume_sigma * self._sigma(LARGE_BLOCKS):
            return QUIET
        self.said, self._limit = "divergence", margin
        return (self._finding(Severity.CRITICAL, first, seen, newest),)

    def _judge_small(self, first: StepSample, seen: Block, level: float) -> Sequence[Verdict]:
        """The longer it lasts, the smaller a rise can be told from chance."""
        limits, blocks = self._thresholds, len(self._rises) // 2
        floor = max(limits.sustained_floor, limits.spike_recovered_share * level)
        newest = self._rises[-blocks:]
        if blocks < SMALL_BLOCKS or _above(newest) <= floor or not self._stays(SMALL_BLOCKS, HEALS):
            return QUIET
        margin = max(floor, limits.resume_sigma * self._sigma(blocks))
        if _above(newest) <= margin:
            return QUIET
        self.said, self._limit = "sustained_spike", margin
        return (self._finding(Severity.WARNING, first, seen, newest),)

    def _stays(self, blocks: int, healed: float) -> bool:
        """Whether the rise is about as large as it was at half of the time."""
        half = len(self._rises) // 2
        return half >= blocks and _above(self._rises[-blocks:]) >= healed * _above(self._rises[half - blocks : half])

    def _sigma(self, blocks: int) -> float:
        """By how much the rise may vary, by the past and by the attempt itself."""
        usual = self._past.varies(blocks * POINTS, 1 + len(self._rises) // blocks)
        newest = [rise.above for rise in self._rises[-max(blocks, FEWEST) :]]
        apart = middle(sorted(abs(later - one) for one, later in pairwise(newest)))
        own = MAD_TO_SIGMA * apart / math.sqrt(2.0 * blocks)
        return MEDIAN * max(usual, own)

    def _finding(self, severity: Severity, first: StepSample, seen: Block, newest: Sequence[_Rise]) -> Finding:
        rise, now = _above(newest), middle(sorted(told.loss for told in newest))
        is_told = seen.middle_step is not None and seen.middle_step <= self._past.last_step
        before = "at the same steps before" if is_told else "just before"
        levels = f"the loss is {precise(now)}, it was {precise(now - rise)} {before}"
        return found(
            self.said,
            severity,
            first,
            f"since the resume {at_step(first.step)} {levels}",
            rule=f"{number(rise)} above over {len(newest) * POINTS} points, limit {number(self._limit)}",
            details={
                "from": precise(now - rise),
                "to": precise(now),
                "recovery": "related to the restart",
                "since": SINCE_RESUME,
            },
            last_good_step=min(self._past.last_step, (first.step or 0) - round(self._past.stride)),
            also=(self._mark.evidence,) if self._mark is not None else (),
        )

    def _follow(self, seen: Block, rise: _Rise) -> Sequence[Verdict]:
        """Whether it has come back after all."""
        self._followed += 1
        self._rises = [*self._rises[1 - SMALL_BLOCKS :], rise]
        if _above(self._rises) >= self._limit / 4.0:
            self.is_over = self._followed >= FOLLOWED_BLOCKS
            return QUIET
        kind, self.said, self.is_over = self.said, "", True
        return (over(kind, seen.last, f"the loss is back at {precise(rise.loss)} {at_step(seen.last.step)}"),)


def _is_alike(one: str, other: str) -> bool:
    """Whether two lines are made of the same words for the most part."""
    words, others = set(_WORD.findall(one)), set(_WORD.findall(other))
    return len(words & others) >= ALIKE * len(words | others)


def _above(rises: Sequence[_Rise]) -> float:
    return middle(sorted(rise.above for rise in rises))
