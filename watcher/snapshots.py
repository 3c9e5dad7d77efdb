"""Taking snapshots: everything a node can say about a run now, in a new folder with a manifest, within a minute.

Each piece of evidence is for itself: one that hangs, fails or finds nothing becomes a line in the manifest. The
folder gets its name when all of it is on the disk; until then it is a temporary one. One is taken at a time.
"""

import asyncio
import secrets
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from watcher.bins import Bin, BinClosed, DiskFull
from watcher.courtesy import step_back
from watcher.evidence import ASKS_OTHERS, COLLECTORS
from watcher.evidence.collector import Collector, Outcome, Result, Scene
from watcher.room import RESERVE_BYTES, RESERVE_SHARE, Room
from watcher.shelf import PART, Shelf
from watcher.snapshot import Order, Piece, Snapshot, begun, ended, seal, write_manifest
from watcher.store import NotStored, Store
from watcher.worker import NoAnswer, Worker

ESTIMATE_BYTES = 64 << 20
"""What a snapshot usually takes; with less room than this above the reserve, none is begun."""
MARGIN_SECONDS = 2.0
"""Kept for the manifest."""
LEAST_SECONDS = 5.0
"""A snapshot that waited in the queue until less is left is not begun."""
HOUR = 3600.0
STORE_SECONDS = 600.0
STORE_PAUSES = (1.0, 3.0, 0.0)
"""After each try to copy a snapshot to the store."""


class _Refused(Exception):
    """No snapshot is taken, and why."""


@dataclass(slots=True)
class Snapshots:
    """Takes snapshots on this node: one at a time, of a run not too often, the old ones kept within bounds."""

    folder: Path
    keep_bytes: int = 2 << 30
    per_hour: int = 4
    url: str = ""
    """Where a copy of each goes."""
    collectors: Sequence[Collector] = COLLECTORS
    reserve_bytes: int = RESERVE_BYTES
    reserve_share: float = RESERVE_SHARE
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _at_work: dict[str, "asyncio.Task[Snapshot]"] = field(default_factory=dict)
    _copying: "set[asyncio.Task[str]]" = field(default_factory=set)

    @property
    def shelf(self) -> Shelf:
        """Where they lie."""
        return Shelf(self.folder, self.keep_bytes)

    async def take(self, scene: Scene, order: Order) -> Snapshot:
        """Take one, or join the one of this run that is being taken."""
        task = self._at_work.get(scene.run.name)
        if task is None:
            task = asyncio.create_task(self._wait_and_take(scene, order))
            self._at_work[scene.run.name] = task
            task.add_done_callback(lambda _: self._at_work.pop(scene.run.name, None))
        return await asyncio.shield(task)

    async def _wait_and_take(self, scene: Scene, order: Order) -> Snapshot:
        began = time.monotonic()
        try:
            await asyncio.wait_for(self._turn.acquire(), max(0.5, order.seconds - LEAST_SECONDS))
        except TimeoutError:
            said = "another snapshot on this node took all the time; ask again"
            return Snapshot(scene.node, scene.run.name, "", (), time.monotonic() - began, error=said)
        try:
            snapshot = await self._take(scene, order, began)
        finally:
            self._turn.release()
        if not self.url or snapshot.error:
            return snapshot
        return await self._store(snapshot, order.at, order.seconds - (time.monotonic() - began))

    async def _take(self, scene: Scene, order: Order, began: float) -> Snapshot:
        name = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{secrets.token_hex(3)}"
        home = self.shelf.home(scene.run.name)
        temporary, final = home / (name + PART), home / name
        told = begun(scene.node, scene.run.name, order)
        worker, run = Worker("snapshot", step_back), scene.run.name
        try:
            await worker.call(lambda: self._prepare(run, temporary, order, told), what=str(self.folder), seconds=10.0)
            pieces = await self._collect_all(scene, order, temporary, began)
            seconds = time.monotonic() - began
            await worker.call(
                lambda: self._seal(temporary, final, pieces, ended(told, pieces, seconds)),
                what=str(self.folder),
                seconds=10.0,
            )
            return Snapshot(scene.node, run, str(final), pieces, seconds, moments=scene.moments)
        except (OSError, NoAnswer, _Refused) as problem:
            with suppress(NoAnswer):
                await worker.call(lambda: shutil.rmtree(temporary, ignore_errors=True), what="removing", seconds=5.0)
            return Snapshot(scene.node, run, "", (), time.monotonic() - began, error=_sentence(problem))
        finally:
            worker.close()

    async def _store(self, snapshot: Snapshot, at: float | None, seconds: float) -> Snapshot:
        """Copy it to where all nodes' snapshots lie; what takes longer goes on by itself."""
        name = Path(snapshot.path).name
        place = Store(self.url).place(snapshot.node, snapshot.run, name, at)
        task = asyncio.create_task(self._put(Path(snapshot.path), place))
        self._copying.add(task)
        task.add_done_callback(self._copying.discard)
        done, _ = await asyncio.wait({task}, timeout=max(LEAST_SECONDS, seconds))
        problem = task.result() if done else f"it is still being copied to {place}"
        return replace(snapshot, url="" if problem else place, url_problem=problem)

    async def _put(self, snapshot: Path, place: str) -> str:
        """Try a few times; empty when it lies there, else why not."""
        problem = ""
        for pause in STORE_PAUSES:
            worker = Worker("store", step_back)
            try:
                await worker.call(lambda: Store(self.url).put(snapshot, place), what=self.url, seconds=STORE_SECONDS)
                return ""
            except (NotStored, NoAnswer) as why:
                problem = str(why)
            finally:
                worker.close()
            await asyncio.sleep(pause)
        return problem

    async def _collect_all(self, scene: Scene, order: Order, folder: Path, began: float) -> tuple[Piece, ...]:
        """Side by side: what is only read, and what others are asked for and may have to be waited for."""
        left = [order.most_bytes]

        async def collect(collectors: Sequence[Collector]) -> list[Piece]:
            pieces = []
            for collector in collectors:
                seconds = min(collector.seconds, order.seconds - MARGIN_SECONDS - (time.monotonic() - began))
                piece = await self._collect(collector, scene, folder, seconds, min(collector.bytes, left[0]))
                left[0] -= piece.bytes
                pieces.append(piece)
            return pieces

        asking = [collector for collector in self.collectors if collector.name in ASKS_OTHERS]
        reading = [collector for collector in self.collectors if collector.name not in ASKS_OTHERS]
        found = {
            piece.name: piece for pieces in await asyncio.gather(*map(collect, (reading, asking))) for piece in pieces
        }
        return tuple(found[collector.name] for collector in self.collectors)

    async def _collect(self, collector: Collector, scene: Scene, folder: Path, seconds: float, limit: int) -> Piece:
        """One piece, in a thread of its own that is left behind when it takes too long."""
        if seconds <= 0:
            return Piece(collector.name, Outcome.TIMED_OUT, "no time was left for it", 0.0)
        room = self._room(folder)
        if limit <= 0 or not room.has():
            return Piece(collector.name, Outcome.FAILED, "no room was left for it", 0.0)
        began = time.monotonic()
        into, worker = Bin(folder, limit, seconds=seconds, has_room=room.has), Worker(collector.name, step_back)
        try:
            result = await worker.call(lambda: collector.collect(scene, into), what=collector.name, seconds=seconds)
        except NoAnswer:
            result = Result(Outcome.TIMED_OUT, f"it took longer than {seconds:.0f} s")
        except BinClosed:
            result = Result(Outcome.TIMED_OUT)
        except DiskFull:
            result = Result(Outcome.FAILED, "the disk filled up meanwhile; its last room is left to the job")
        except Exception as error:
            result = Result(Outcome.FAILED, f"{type(error).__name__}: {error}")
        into.close()
        worker.close()
        return Piece(collector.name, result.outcome, result.why, time.monotonic() - began, tuple(into.files))

    # -- in the worker's thread

    def _prepare(self, run: str, temporary: Path, order: Order, told: dict[str, object]) -> None:
        """Make the folder, if it is time and there is room; remove what an interrupted or old one left."""
        temporary.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        shelf, now = self.shelf, time.time()
        shelf.remove_interrupted(run)
        shelf.remove_old()
        recent = shelf.taken_since(run, now - HOUR)
        if len(recent) >= self.per_hour and not order.is_urgent:
            raise _Refused(
                f"{len(recent)} snapshots of {run} were taken here within an hour ({self.per_hour} are allowed); "
                f"the newest lies at {recent[-1]}"
            )
        room = self._room(temporary.parent)
        if not room.has(ESTIMATE_BYTES):
            raise _Refused(room.sentence())
        temporary.mkdir(mode=0o700)
        write_manifest(temporary, told)

    def _seal(self, temporary: Path, final: Path, pieces: Sequence[Piece], told: dict[str, object]) -> None:
        room = self._room(temporary)
        if not room.has():
            done = ", ".join(f"{piece.name} {piece.outcome}" for piece in pieces)
            raise _Refused(f"the disk filled up meanwhile, so it was removed again ({room.sentence()}); it was: {done}")
        seal(temporary, final, pieces, told)

    def _room(self, folder: Path) -> Room:
        return Room(folder, self.reserve_bytes, self.reserve_share)


def _sentence(problem: BaseException) -> str:
    return problem.strerror or str(problem) if isinstance(problem, OSError) else str(problem)
