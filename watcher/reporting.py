"""What one run's watcher tells the registry: numbers, marks, progress, facts. Bounded, and it may wait.

Nothing here is precious: findings go another way. When Redis is away, numbers wait in memory as long as that
is small; the log keeps the rest.
"""

from collections import deque
from collections.abc import Sequence
from itertools import compress, islice, repeat
from typing import Any

from diagnosis.findings import Finding, Jump
from diagnosis.formats.stretch import Point, Stretch
from diagnosis.observations import StepSample
from diagnosis.series import AttemptSpan, Mark
from registry.registry import Registry
from watcher.progress import Progress
from watcher.settings import WatchedRun

MOST_WAITING = 20_000
AT_ONCE = 400
"""Fewer than the lines a series remembers: an append that is repeated after an unclear answer adds nothing twice."""
MOST_ATTEMPTS = 16
"""So many of the newest attempts are told of; a log of hundreds of restarts is told as it is read."""
STILL_SECONDS = 5.0
"""How often a run that says nothing new is said to live."""
MOST_RECENT = 2048
"""So many step lines are remembered: a rank that is read in one go may tell a thousand that another has told."""
_Line = tuple[int, int, float | str | None, float | str | None, float | str | None]


class Reporting:
    """One run's way to the registry."""

    def __init__(self, run: WatchedRun, watcher: str, *, facts_seconds: float = 2.0) -> None:
        self.progress = Progress()
        self.is_writer = False
        """True while this watcher alone may write the run's series."""
        self.dropped = 0
        """Samples that could not wait."""
        self._run = run
        self._watcher = watcher
        self._facts_seconds = facts_seconds
        self._waiting: deque[tuple[int, Point]] = deque()
        self._recent: dict[_Line, None] = {}
        self._marks: list[Mark] = []
        self._told_at = float("-inf")
        self._told: dict[str, Any] = {}
        self._told_attempts: dict[int, tuple[bool, str | None]] = {}
        self._has_vouched = False

    def sample(self, seen: StepSample, attempt: int) -> bool:
        """Take the numbers of one step line; what several ranks print alike is taken once: False, then."""
        if seen.loss is None and seen.grad_norm is None and seen.lr is None:
            return False
        if seen.step is not None:
            line = (attempt, seen.step, _told(seen.loss), _told(seen.grad_norm), _told(seen.lr))
            if line in self._recent:
                return False
            self._recent[line] = None
            if len(self._recent) > MOST_RECENT:
                del self._recent[next(iter(self._recent))]
        if len(self._waiting) >= MOST_WAITING:
            self.dropped += 1
            return True
        # Without its line and extra fields a sample is small enough to wait by the thousand.
        numbers = (seen.loss, seen.grad_norm, seen.lr, seen.time, seen.seen_at)
        self._waiting.append((attempt, Point(seen.origin, seen.step, *numbers, seen.step_kind)))
        return True

    def points(self, stretch: Stretch, at: int, stop: int, attempt: int) -> list[Point]:
        """`sample` for points of a stretch with finite losses; those that were taken."""
        points = list(stretch.points(None, at, stop))
        lines: list[_Line] = [
            (attempt, point.step or 0, point.loss, point.grad_norm, _told(point.lr)) for point in points
        ]
        recent = self._recent
        if not recent.keys().isdisjoint(lines):
            news = [line not in recent for line in lines]
            points, lines = list(compress(points, news)), list(compress(lines, news))
        recent.update(zip(lines, repeat(None), strict=False))
        for line in list(islice(recent, max(0, len(recent) - MOST_RECENT))):
            del recent[line]
        room = max(0, MOST_WAITING - len(self._waiting))
        self.dropped += max(0, len(points) - room)
        self._waiting.extend(zip(repeat(attempt), points[:room], strict=False))
        return points

    def mark(self, said: Jump | Finding, changes: tuple[str, ...] = ()) -> None:
        """Take what a chart must show at any zoom, with what changed around a jump."""
        if isinstance(said, Jump):
            step = None if said.step is None else float(said.step)
            self._marks.append(Mark("jump", step, None, said.to_loss, said.from_loss, said.metric, said.rule, changes))
        elif said.step is not None and not said.kind.startswith("nonfinite"):
            # Non-finite points are marked by the series itself.
            told = Mark(said.kind, float(said.step), said.time, text=said.text, changes=said.changes)
            self._marks.append(told)

    @property
    def is_behind(self) -> bool:
        """True when so much waits that reading on should wait too."""
        return len(self._waiting) >= MOST_WAITING // 4

    async def tell(self, registry: Registry, attempts: Sequence[AttemptSpan], now: float, **facts: Any) -> None:
        """Tell what is new; `attempts` in order, the newest last. Raises RegistryError and keeps what was not told."""
        if await self._tell_facts(registry, attempts, now, facts):
            await self._tell_ranks(registry)
        await self._tell_series(registry)

    async def _tell_facts(
        self, registry: Registry, attempts: Sequence[AttemptSpan], now: float, more: dict[str, Any]
    ) -> bool:
        """Say what is known of the run, not more often than anybody would notice; True: it was said."""
        facts = self.progress.facts | {"attempt": attempts[-1].number if attempts else 0} | more
        waited = now - self._told_at
        is_urgent = any(facts.get(name) != self._told.get(name) for name in ("state", "attempt"))
        if waited < self._facts_seconds and not is_urgent:
            return False
        if facts == self._told and waited < STILL_SECONDS:
            return False
        run = self._run
        labels = dict(run.labels) or None
        told = {"labels": labels, "allow_stop": run.allow_stop, **facts}
        await registry.runs.see(run.name, owner=run.owner, channel=run.channel, **told)
        self._told, self._told_at = facts, now
        self.is_writer = await registry.series.claim_writer(run.name, self._watcher)
        if self.is_writer:
            await self._tell_attempts(registry, attempts)
        return True

    async def _tell_attempts(self, registry: Registry, attempts: Sequence[AttemptSpan]) -> None:
        """Say which attempts began and how they ended; what the registry knows already is not said again."""
        for span in attempts[-MOST_ATTEMPTS:]:
            has_ended = span.end not in ("unknown", "running") or span.number < attempts[-1].number
            key = (span.first_step is not None, span.end if has_ended else None)
            if self._told_attempts.get(span.number) == key:
                continue
            await registry.runs.begin_attempt(
                self._run.name, span.number, first_step=span.first_step, started=span.started
            )
            if has_ended:
                await registry.runs.end_attempt(
                    self._run.name, span.number, span.end, last_step=span.last_step, ended=span.ended
                )
            self._told_attempts[span.number] = key

    async def _tell_ranks(self, registry: Registry) -> None:
        if not self._has_vouched:
            self.progress.vouch(await registry.ranks.all(self._run.name))
            self._has_vouched = True
        changed = self.progress.changed()
        try:
            await registry.ranks.update(self._run.name, changed)
        except BaseException:
            self.progress.changed_again(changed)
            raise

    async def _tell_series(self, registry: Registry) -> None:
        if not self.is_writer:
            self._waiting.clear()
            self._marks.clear()
            return
        while self._waiting:
            attempt = self._waiting[0][0]
            samples: list[Point] = []
            for number, sample in self._waiting:
                if number != attempt or len(samples) == AT_ONCE:
                    break
                samples.append(sample)
            if not await registry.series.append(self._run.name, attempt, samples):
                self.is_writer = False
                return
            for _ in samples:
                self._waiting.popleft()
        if self._marks:
            await registry.series.mark(self._run.name, self._marks)
            self._marks.clear()


def _told(value: float | None) -> float | str | None:
    """A number as it is compared: one NaN is like the other."""
    return "nan" if value != value else value  # noqa: PLR0124 - the cheapest test for NaN
