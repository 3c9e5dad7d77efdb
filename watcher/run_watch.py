"""One run on this node: its files are followed, its lines read and judged, what is found goes to the spool.

The order is the promise: a finding is on the disk before the bookmark moves past its line. A crash anywhere in
between reads the line again, and the spool knows the finding by its key.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from diagnosis.changes import Changes
from diagnosis.circumstances import told, with_circumstances
from diagnosis.findings import Cleared, Finding, Jump, Verdict
from diagnosis.formats.stretch import Stretch, Told
from diagnosis.live_judge import LOOKED_AT, LiveJudge
from diagnosis.observations import Observation, Origin, Phase, PhaseMark, StepSample, Symptom
from diagnosis.series import AttemptSpan
from diagnosis.thresholds import sound
from watcher.attempt_count import AttemptCount
from watcher.bookmarks import Bookmarks
from watcher.chronicles import Chronicles
from watcher.curve_file import CurveFile
from watcher.job_end import JobEnd
from watcher.lost_lines import LostLines
from watcher.masking import masked, masked_lines
from watcher.moments import Moments
from watcher.node_clock import NodeClock
from watcher.pace import Pace
from watcher.pieces import Chunk, Continued, Ended, Start, Use
from watcher.publisher import Publisher
from watcher.quiet import Quiet
from watcher.reading import Reading
from watcher.reporting import Reporting
from watcher.settings import WatchedRun, WatcherSettings
from watcher.tail import Batch, Tail
from watcher.wakeup import WakeUp
from watcher.worker import NoAnswer, Worker

QUIET_SECONDS, HELD_SECONDS = 2.0, 0.5
"""How long a quiet log leaves this process alone, and how long when a line or a record waits for its rest."""
CURVE_SECONDS = 10.0
"""How often the run's own small file of numbers is added to."""
YIELD_BYTES = 8192
"""After reading so much, others have their turn."""

logger = logging.getLogger(__name__)


class RunWatch:
    """Follows one run."""

    def __init__(
        self,
        run: WatchedRun,
        settings: WatcherSettings,
        publisher: Publisher,
        watcher: str,
        *,
        on_bookmark: Callable[[], None] = lambda: None,
        pace: Pace | None = None,
    ) -> None:
        self.run = run
        self.reporting = Reporting(run, watcher, facts_seconds=2 * settings.tell_seconds)
        self.reading = Reading(run, settings.node)
        self.judge = LiveJudge(settings.thresholds)
        self.moments = Moments()
        self.curve = CurveFile(settings.home / "curves", run.name)
        self._lost_lines = LostLines()
        self.chronicles = Chronicles()
        self.quiet = Quiet(settings.thresholds)
        self.changes = Changes(self.judge.attempts)
        self.problems: tuple[str, ...] = ()
        self.files = 0
        self.lag_bytes = 0
        self.clock = NodeClock()
        self.state = "running"
        self.kernel_place: list[str | int] | None = None
        """Boot and number of the last kernel message that was judged."""
        self.is_unsaved = False
        """True while a finding was accepted whose line the bookmark has not passed."""
        self._settings = settings
        self._publisher = publisher
        self._on_bookmark = on_bookmark
        self._bookmarks = Bookmarks(settings.home / "bookmarks", run.name)
        self._worker = Worker(f"read {run.name}")
        self._disk = Worker(f"bookmark {run.name}")
        self._wake_up = WakeUp()
        self._end: JobEnd | None = None
        self._pace = pace or Pace(settings.most_cpu_share)
        self._stuck: dict[str, float] = {}
        self._limits: dict[str, Any] = {}
        self._saved_at = self._curve_at = float("-inf")
        self._saved_places: object = None
        self._is_stopping, self._has_ended = False, asyncio.Event()
        self._bookmarks.claim()
        places = self._bookmarks.load()
        self.kernel_place = self._bookmarks.extra.get("kernel")
        self.clock.resume(self._bookmarks.extra.get("clock"))
        self._tail = Tail(
            run.logs,
            start=Start(settings.start_from, settings.small_log_bytes, settings.warm_up_bytes),
            places=places,
            most_open=settings.most_open_files,
            wake_up=self._wake_up,
        )
        resumed = int(self._bookmarks.extra.get("attempt", 0)) if places else None
        self._attempts = AttemptCount(self.judge, resumed)

    @property
    def attempt(self) -> int:
        """The newest attempt's number, counted over restarts of this watcher."""
        return self._attempts.newest

    def attempts(self) -> list[AttemptSpan]:
        """All attempts of the run that were seen here, the newest last."""
        spans = self._attempts.spans(is_live=self.state == "running")
        if self._end is not None and spans:
            spans[-1] = replace(spans[-1], end=self.state, ended=self._end.at)
        return spans or [AttemptSpan(self.attempt)]

    async def watch(self) -> None:
        """Follow until `stop`."""
        try:
            await self.clock.wait()
            batch = Batch()
            while not self._is_stopping:
                async with self._pace.turn(is_behind=batch.has_more):
                    batch = await self._poll(0.0 if batch.has_more else self._patience())
                    await self._take(batch)
                await self._save(force=False)
                if time.monotonic() - self._curve_at >= CURVE_SECONDS:
                    await self._write_curve()
                if self.reporting.is_behind:
                    await asyncio.sleep(self._settings.poll_seconds)
        finally:
            self._worker.close()
            self._has_ended.set()

    def stop(self) -> None:
        """End `watch` after the round it is in."""
        self._is_stopping = True
        self._wake_up.call()

    async def close(self) -> None:
        """Write the last bookmark and let go of everything."""
        await self._save(force=True)
        await self._write_curve()
        self._disk.close()
        self._wake_up.close()
        self._bookmarks.release()

    @property
    def dialect(self) -> str | None:
        """What the logs speak."""
        return next((reader.dialect for reader in self.reading.readers() if reader.dialect), None)

    def adopt(self, limits: Mapping[str, float]) -> None:
        """Judge by the thresholds that people set for this run, over those of this watcher's settings."""
        known: dict[str, Any] = dict(sound(limits))
        if known != self._limits:
            self._limits = known
            self.judge.adopt(replace(self._settings.thresholds, **known))

    def rescan(self) -> None:
        """Look for new files now."""
        self._tail.rescan()
        self._wake_up.call()

    def accept(self, said: Finding | Cleared) -> None:
        """Mask a finding and put it where nothing is lost."""
        if isinstance(said, Finding):
            said = replace(said, attempt=self.judge.attempt)
            said = with_circumstances(said, self.changes, kept=self.run.keep_last)
        self._accept(replace(said, attempt=self.attempt))

    def see(self, seen: Observation) -> None:
        """Take an observation that came from elsewhere than the logs: the kernel, the GPUs, the host."""
        if isinstance(seen, Symptom):
            seen = replace(seen, origin=replace(seen.origin, run=self.run.name))
            self.changes.observe(seen)
        for verdict in self.judge.observe(seen):
            self._take_verdict(verdict)

    def keep_quiet_evidence(self, now: float) -> None:
        """Save what the last lines were, once no step came for a while; `now` is on this node's clock."""
        progressed_at = self.reporting.progress.facts.get("last_progress")
        self.quiet.look(progressed_at, now - self.clock.ahead_seconds, self.reading.readers(), self.reading.last.of)

    async def finish(self, end: JobEnd) -> None:
        """The job has ended: read its files to the end and say how it ended."""
        self.stop()
        await self._has_ended.wait()
        quiet = 0
        while quiet < 2:
            batch = await self._poll(0.0)
            await self._take(batch)
            quiet = 0 if batch.pieces else quiet + 1
            await asyncio.sleep(0.02)
        now = time.time()
        for seen in self.reading.close():
            self._see(seen.told, now, is_news=True)
        self.state, self._end = end.state, end
        origin = Origin(self.run.name, self._settings.node, self.run.rank)
        told = end.finding(origin, self.reporting.progress.facts.get("last_step"))
        if told is not None:
            self.accept(told)

    # -- reading

    def _patience(self) -> float:
        return HELD_SECONDS if self.reading.holds_something() else QUIET_SECONDS

    async def _poll(self, longest: float) -> Batch:
        """News from the logs, or nothing after a while."""
        tail, settings = self._tail, self._settings
        self._retry_stuck()
        try:
            batch = await self._worker.call(
                lambda: tail.wait(longest, every=settings.poll_seconds, at_least=settings.wake_seconds),
                what=f"{self.run.name}'s logs",
                seconds=settings.read_deadline_seconds + longest,
            )
        except NoAnswer:
            self._tail, path = tail.left_behind()
            self._stuck[path] = time.monotonic()
            logger.warning("%s does not answer; going on without it", path)
            return Batch(has_more=True)
        self.files, self.lag_bytes = batch.files, batch.lag_bytes
        said = self._bookmarks.problem
        problems = [*batch.problems, *([said] if said else [])]
        if self.reporting.dropped:
            count = f"{self.reporting.dropped:,} points"
            problems.append(f"{count} of {self.run.name} are missing in its chart: Redis was away; the log has them")
        self.problems = tuple(problems)
        return batch

    def _retry_stuck(self) -> None:
        """A path whose thread came back is followed again from where its reading stood."""
        if not self._stuck or self._worker.stuck:
            return
        places = self.reading.places()
        for path in list(self._stuck):
            del self._stuck[path]
            known = {path: places[path]} if path in places else {}
            self.reading.forget(path)
            self._tail.take_back(path, known)

    async def _take(self, batch: Batch) -> None:
        now = time.time()
        for piece in batch.pieces:
            if isinstance(piece, Chunk) and piece.use is Use.NEWS and piece.data:
                self._attempts.hear_news()
            if isinstance(piece, Continued | Ended):
                self._lost_lines.rotated(piece.source)
            written = self.clock.written(piece, now)
            for seen in self.reading.take(piece, written):
                self._see(seen.told, now, is_news=seen.is_news)
            if isinstance(piece, Chunk) and piece.use is Use.NEWS and piece.data:
                self.reporting.progress.heard(self.reading.speakers(piece.part), written - self.clock.ahead_seconds)
            if isinstance(piece, Chunk) and len(piece.data) > YIELD_BYTES:
                await asyncio.sleep(0)
        for seen in self.reading.idle(now):
            self._see(seen.told, now, is_news=seen.is_news)

    def _see(self, told: Told, now: float, *, is_news: bool) -> None:
        if not isinstance(told, Stretch):
            self._see_one(told, now, is_news=is_news)
            return
        at, ends = 0, len(told)
        while at < ends:
            stop, verdicts = self.judge.pass_by(told, at)
            if stop == at:
                stop = min(at + LOOKED_AT, ends)
                for seen in told.both(at, stop):
                    self._see_one(seen, now, is_news=is_news)
            else:
                self._pass_by(told, at, stop, now, is_news=is_news)
                for verdict in verdicts if is_news else ():
                    self._take_verdict(verdict)
            at = stop

    def _pass_by(self, stretch: Stretch, at: int, stop: int, now: float, *, is_news: bool) -> None:
        """`_see_one` for points about which the judge has no word."""
        attempt, written_at = self.attempt, (stretch.seen_at or now) - self.clock.ahead_seconds
        self.chronicles.pass_by(stretch, at, stop)
        self.changes.pass_by(stretch, at, stop)
        for seen in stretch.ends_of(at, stop):  # of steps that rise, the first and the last tell all of the progress
            self.reporting.progress.observe(seen, attempt, written_at, is_news=is_news)
        if not is_news:
            return
        for point in self.reporting.points(stretch, at, stop, attempt):
            self.curve.add(point, attempt)
        if not self._lost_lines.pass_by(stretch, at, stop, attempt):
            for seen in stretch.samples(at, stop):
                self._note_lost(seen, attempt)
        self.state = "running"

    def _see_one(self, seen: Observation, now: float, *, is_news: bool) -> None:
        verdicts = self.judge.observe(seen)
        self.chronicles.observe(seen)
        self.changes.observe(seen)
        at = getattr(seen, "seen_at", None) or now
        self.reporting.progress.observe(seen, self.attempt, at - self.clock.ahead_seconds, is_news=is_news)
        if not is_news:
            return
        if isinstance(seen, StepSample):
            if self.reporting.sample(seen, self.attempt):
                self.curve.add(seen, self.attempt)
            self._note_lost(seen, self.attempt)
            self.state = "running"
        elif isinstance(seen, PhaseMark) and seen.phase is Phase.FINISHED and seen.begins:
            self.state = "finished"
        for verdict in verdicts:
            self._take_verdict(verdict)

    def _note_lost(self, seen: StepSample, attempt: int) -> None:
        lost = self._lost_lines.observe(seen, attempt)
        if lost is not None:
            self._accept(replace(lost, attempt=attempt))

    def _take_verdict(self, verdict: Verdict) -> None:
        if isinstance(verdict, Jump):
            around = self.changes.around(verdict.step, attempt=verdict.attempt, is_now=True)
            self.reporting.mark(verdict, masked_lines(told(around)))
            return
        if isinstance(verdict, Finding):
            verdict = with_circumstances(verdict, self.changes, kept=self.run.keep_last)
        said = replace(verdict, attempt=self._attempts.of(verdict.attempt))
        if isinstance(said, Finding):
            said = replace(said, evidence=tuple(self.reading.checked(line) for line in said.evidence))
        self.chronicles.conclude(said)
        self._accept(said)

    def _accept(self, said: Finding | Cleared) -> None:
        safe = masked(said)
        if isinstance(safe, Finding):
            self.reporting.mark(safe)
            self.moments.note(safe, self.reading.ends())
        self.is_unsaved = True
        self._publisher.accept(safe)

    async def _write_curve(self) -> None:
        """Add the newest numbers to the run's own small file; a disk that takes none costs nothing else."""
        self._curve_at = time.monotonic()
        if not self.curve.has_news:
            return
        try:
            await self._disk.call(self.curve.write, what=str(self.curve.path), seconds=5.0)
        except (OSError, NoAnswer) as problem:
            logger.warning("the curve of %s was not written: %s", self.run.name, problem)

    # -- bookmarks

    async def _save(self, *, force: bool) -> None:
        """Move the bookmarks, if every finding before them is on the disk."""
        now = time.monotonic()
        if self._publisher.holds_bookmark or not (
            force or self.is_unsaved or now - self._saved_at >= self._settings.bookmark_seconds
        ):
            return
        places = self.reading.places()
        extra = {"attempt": self.attempt, "kernel": self.kernel_place, "clock": self.clock.kept()}
        self._saved_at = now
        if places == self._saved_places and not self.is_unsaved:
            return
        unsaved, self.is_unsaved = self.is_unsaved, False
        try:
            await self._disk.call(
                lambda: self._bookmarks.save(places, extra),
                what=f"the state folder {self._settings.state_dir}",
                seconds=self._settings.read_deadline_seconds,
            )
        except (OSError, NoAnswer) as problem:
            self.is_unsaved = unsaved
            self._bookmarks.problem = f"the bookmark of {self.run.name} was not written: {problem}"
            return
        self._bookmarks.problem = None
        self._saved_places = places
        if unsaved:
            self._on_bookmark()
