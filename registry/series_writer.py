"""What the one writer of a series keeps in memory for one attempt."""

import hashlib
import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from diagnosis.formats import stretch
from diagnosis.observations import StepKind, StepSample
from diagnosis.series import Mark
from registry import wire
from registry.points import METRICS, Blob, Point, step_within
from registry.rollup import Rollup

RECENT_POINTS = 600
"""So many points are kept to refill a Redis that lost its newest seconds."""
MOST_WAITING = 8192
"""So many points wait exactly for a Redis that is away; older ones are in the rollup only."""
STREAK_MARKS = 8
"""The first so many non-finite points in a row are marked one by one, the rest of the row as its end and count."""
MOST_STREAKS = 128
_REMEMBERED_LINES = 512


class AttemptWriter:
    """One attempt of one run on its way to Redis."""

    def __init__(self, attempt: int, rollup: Rollup | None = None) -> None:
        self.attempt = attempt
        self.rollup = rollup or Rollup()
        self.stored = self.rollup.count
        """How many points Redis had confirmed."""
        self.starts_anew = False
        """What is stored does not fit together and is replaced."""
        self.fresh_marks: dict[str, Mark] = {}
        self._recent: deque[Point] = deque(maxlen=MOST_WAITING)
        self._first: Sequence[Any] | None = None
        self._last: Sequence[Any] | None = None
        self._step_kind: StepKind = "none"
        self._resumed_at: int | None = None
        self._lines: deque[tuple[Any, ...]] = deque()
        self._known_lines: set[tuple[Any, ...]] = set()
        self._streaks: dict[str, list[Any]] = {}
        self._streaks_begun = 0

    @classmethod
    def resumed(cls, attempt: int, meta: dict[str, Any], roll: bytes, tail: Sequence[Blob]) -> "AttemptWriter":
        """Go on where a former writer stopped; what does not fit together starts anew."""
        rollup = Rollup(meta.get("n", 0), meta.get("w", 1), roll)
        if not rollup.is_sound:
            writer = cls(attempt)
            writer.starts_anew = True
            return writer
        writer = cls(attempt, rollup)
        writer._first, writer._last = meta.get("first"), meta.get("last")
        writer._step_kind = meta.get("kind", "none")
        writer._streaks = {name: list(streak) for name, streak in (meta.get("streaks") or {}).items()}
        writer._streaks_begun = int(meta.get("begun", 0))
        if writer._last and isinstance(writer._last[0], int):
            writer._resumed_at = writer._last[0]
        blobs = [blob for blob in tail if blob.attempt == attempt]
        if blobs and blobs[-1].position + len(blobs[-1]) == rollup.count:
            writer._recent.extend(blobs[-1].points)
        return writer

    @property
    def count(self) -> int:
        """Points so far, stored or not."""
        return self.rollup.count

    def add(self, samples: Iterable[StepSample | stretch.Point]) -> None:
        """Take step lines, those that repeat none."""
        points: list[Point] = []
        for sample in samples:
            loss, norm, lr = sample.loss, sample.grad_norm, sample.lr
            # x - x is 0.0 for every finite x, and no sum with another one is.
            total = (loss or 0.0) + (norm or 0.0) + (lr or 0.0)
            is_finite = total - total == 0.0
            if self._is_repeat((sample.step, loss, norm, lr), is_finite=is_finite):
                continue
            step = step_within(sample.step if sample.step is not None else self._next_step())
            time = sample.time if sample.time is not None else sample.seen_at
            point = Point(step, math.nan if time is None else time, loss, norm, lr)
            points.append(point)
            if sample.step_kind != "none":
                self._step_kind = sample.step_kind
            self._last = point
            self._first = self._first or point
            if self._streaks or not is_finite:
                self._mark_nonfinite(point)
        self.rollup.add_all(points)
        self._recent.extend(points)

    def recent_from(self, position: int) -> tuple[int, list[Point]]:
        """Return the points from a position on, as far back as they are still known, and where they begin."""
        oldest = self.count - len(self._recent)
        first = max(position, oldest)
        return first, list(islice(self._recent, first - oldest, None))

    def recent_between(self, first: int, upto: int) -> list[Point] | None:
        """Return the points of these positions; None: not all are known any more."""
        oldest = self.count - len(self._recent)
        return list(islice(self._recent, first - oldest, upto - oldest)) if first >= oldest else None

    def end_of_tail(self) -> str:
        """Return what names the newest point in the list of the run."""
        return self.end_of_tail_at(self.count)

    def end_of_tail_at(self, count: int) -> str:
        """Return what names the newest point when there are so many."""
        return f"{self.attempt}:{count}"

    def meta(self) -> dict[str, Any]:
        """Return what stands beside the rollup: enough to go on with it, first and last point exact."""
        return {
            "n": self.count,
            "w": self.rollup.width,
            "first": None if self._first is None else list(self._first),
            "last": None if self._last is None else list(self._last),
            "kind": self._step_kind,
            "streaks": self._streaks,
            "begun": self._streaks_begun,
        }

    def is_written(self) -> None:
        """Say that Redis confirmed everything so far."""
        self.stored = self.count
        self.starts_anew = False
        self.rollup.is_written()
        self.fresh_marks.clear()
        while len(self._recent) > RECENT_POINTS:
            self._recent.popleft()

    def _next_step(self) -> int:
        return self._last[0] + 1 if self._last else 0

    def _is_repeat(self, line: tuple[Any, ...], *, is_finite: bool) -> bool:
        step = line[0]
        if step is None:
            return False
        if self._resumed_at is not None and step <= self._resumed_at:
            return True
        if not is_finite:
            line = tuple(map(_comparable, line))
        if line in self._known_lines:
            return True
        self._known_lines.add(line)
        self._lines.append(line)
        if len(self._lines) > _REMEMBERED_LINES:
            self._known_lines.discard(self._lines.popleft())
        return False

    def _mark_nonfinite(self, point: Point) -> None:
        time = None if math.isnan(point.time) else point.time
        for metric, value in zip(METRICS, point.metrics, strict=True):
            if value is None:
                continue
            if math.isfinite(value):
                if self._streaks:
                    self._streaks.pop(metric, None)
                continue
            streak = self._streaks.get(metric)
            if streak is None:
                self._streaks_begun += 1
                streak = self._streaks[metric] = [point.step, 0]
            streak[1] += 1
            if self._streaks_begun > MOST_STREAKS:
                continue
            mark = Mark("nonfinite", float(point.step), time, value, metric=metric)
            if streak[1] <= STREAK_MARKS:
                self.fresh_marks[f"{self.attempt}:nonfinite:{metric}:{point.step}"] = mark
            else:
                text = f"{streak[1]:,} in a row since step {streak[0]:,}"
                end = Mark("nonfinite", float(point.step), time, value, metric=metric, text=text)
                self.fresh_marks[f"{self.attempt}:nonfinite:{metric}:{streak[0]}:end"] = end


def _comparable(value: float | None) -> float | str | None:
    # NaN does not equal itself.
    return value if value is None or value == value else "nan"  # noqa: PLR0124


def mark_field(mark: Mark) -> str:
    """Return where a mark stands: the same mark at the same place, whatever else was known around it."""
    bare = replace(mark, changes=())
    return f"{mark.kind}:{mark.metric}:{hashlib.sha256(wire.encode(bare)).hexdigest()[:12]}"
