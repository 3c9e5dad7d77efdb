"""Snapshots at their limits: 100 GB of logs, archives that unpack to much more, names and links that lead elsewhere.

The figures are A31, A33 and A35 of the reliability plan; `tests/watcher/test_snapshot_limits.py` asks for a tenth.
"""

import asyncio
import gzip
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from watcher.bins import Bin
from watcher.evidence.checkpoints import Checkpoints
from watcher.evidence.collector import Scene
from watcher.evidence.log_tails import LogTails
from watcher.evidence.rotated_logs import RotatedLogs
from watcher.opening import Refused, open_log
from watcher.settings import WatchedRun
from watcher.shelf import Shelf
from watcher.snapshot import Order, Snapshot
from watcher.snapshots import Snapshots

LINE = (
    b"2026-03-14 09:26:53 INFO [rank3] step %d/500000 loss 2.3141 grad_norm 0.912 lr 1.0e-04 tokens_per_second 18234\n"
)
SECRET = b"this stands outside the roots\n"


@dataclass(frozen=True, slots=True)
class Taken:
    """What a snapshot of large logs cost."""

    log_bytes: int
    archive_bytes: int
    seconds: float
    least_free_bytes: int
    error: str
    logs: str


def large_logs(folder: Path, count: int, size: int, real: int) -> list[Path]:
    """So many logs of that size, of which only head and end are written: the rest are holes."""
    text = b"".join(LINE % step for step in range(real // len(LINE)))
    paths = []
    for number in range(count):
        path = folder / f"rank{number}.log"
        with path.open("wb") as file:
            file.write(text[: 1 << 16])
            file.seek(size - len(text))
            file.write(text)
        paths.append(path)
    return paths


async def take_large(logs: list[Path], into: Path, reserve: int) -> Taken:
    """Take one snapshot and look at the free room meanwhile."""
    snapshots = Snapshots(into, reserve_bytes=reserve, reserve_share=0.05)
    least = [_free(into.parent)]
    task = asyncio.create_task(snapshots.take(_scene(logs), Order()))
    while not task.done():
        await asyncio.wait({task}, timeout=0.05)
        least.append(_free(into.parent))
    taken: Snapshot = task.result()
    archive = sum(path.stat().st_size for path in Path(taken.path).iterdir()) if taken.path else 0
    tails = next((piece for piece in taken.pieces if piece.name == "log_tails"), None)
    said = f"{tails.outcome}, {len(tails.files)} files {tails.why}" if tails is not None else ""
    return Taken(sum(log.stat().st_size for log in logs), archive, taken.seconds, min(least), taken.error, said)


def hostile(folder: Path, *, bomb_bytes: int, sparse_bytes: int, tiny: int) -> tuple[int, list[str]]:
    """The peak memory of saving a bomb, a huge hole and very many files, in bytes; and what was said of them."""
    bomb = folder / "bomb.log"
    bomb.touch()
    with gzip.open(f"{bomb}.1.gz", "wb", compresslevel=1) as file:
        for _ in range(bomb_bytes >> 20):
            file.write(bytes(1 << 20))
    sparse = folder / "sparse.log"
    with sparse.open("wb") as file:
        file.write(LINE % 1)
        file.truncate(sparse_bytes)
    for number in range(tiny):
        os.close(os.open(folder / f"{number}.log", os.O_CREAT, 0o600))
    code = (
        "import sys; from pathlib import Path; from benchmarks.evidence import save_hostile; "
        "save_hostile(Path(sys.argv[1]))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=True)
    peak, *said = done.stdout.splitlines()
    return int(peak), said


def save_hostile(folder: Path) -> None:
    """In a process of its own: print its peak memory and what came of each."""
    told = []
    logs = [folder / "bomb.log", folder / "sparse.log", *(folder / f"{number}.log" for number in range(300))]
    for collector in (LogTails(), RotatedLogs(), Checkpoints()):
        into = folder.with_name(f"{folder.name}-{collector.name}")
        into.mkdir()
        found = collector.collect(_scene(logs), saved := Bin(into, collector.bytes, seconds=collector.seconds))
        told.append(f"{collector.name}: {found.outcome}, {len(saved.files)} files, {found.why[:400]}")
    sys.stdout.write("\n".join([f"{own_peak_bytes()}", *told]) + "\n")


def own_peak_bytes() -> int:
    """The peak of this program alone: `ru_maxrss` survives exec, and begins with the peak of whoever started us."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def escapes(count: int, seed: int = 1) -> int:
    """How many of so many hostile run names lead out of the snapshots' folder."""
    chance, shelf = random.Random(seed), Shelf(Path("/var/lib/snapshots"))
    parts = ("..", "/", "\0", "\n", "-", "a", "é", "run", ".part", " ", "\\", "~", "%2e%2e", "x" * 300, "\u202e")
    found = 0
    for _ in range(count):
        name = "".join(chance.choice(parts) for _ in range(chance.randint(1, 12)))
        home = shelf.home(name)
        is_inside = (
            home.parent == shelf.folder and home.name not in ("", ".", "..") and len(os.fsencode(home.name)) < 256
        )
        found += not is_inside or "\0" in home.name or "/" in home.name
    return found


def foreign_reads(folder: Path, count: int) -> tuple[int, int]:
    """How often a log was opened while a folder above it was flipped to a link, and foreign bytes that were read."""
    inside, outside = folder / "logs" / "run", folder / "outside"
    for place in (inside, outside):
        place.mkdir(parents=True)
    (inside / "rank0.log").write_bytes(LINE % 1)
    (outside / "rank0.log").write_bytes(SECRET)
    away, stop = folder / "away", threading.Event()

    def flip() -> None:
        while not stop.is_set():
            inside.rename(away)
            inside.symlink_to(outside)
            inside.unlink()
            away.rename(inside)
            time.sleep(0.0002)

    flipper = threading.Thread(target=flip)
    flipper.start()
    opened = foreign = 0
    for _ in range(count):
        try:
            descriptor = open_log(str(inside / "rank0.log"), str(folder / "logs"))
        except (OSError, Refused):
            continue
        data = os.pread(descriptor, 1000, 0)
        os.close(descriptor)
        opened += 1
        foreign += len(data) if data == SECRET else 0
    stop.set()
    flipper.join()
    return opened, foreign


def _scene(logs: list[Path]) -> Scene:
    return Scene(WatchedRun("run42", ()), "node17", tuple(logs), folders=(logs[0].parent,))


def _free(folder: Path) -> int:
    usage = os.statvfs(folder)
    return usage.f_bavail * usage.f_frsize


def main() -> None:
    """Print the figures; the small disk is a tmpfs, which only root may mount."""
    folder = Path(tempfile.mkdtemp(prefix="runwatch-evidence-"))
    try:
        began = time.monotonic()
        print(f"A31 names: {escapes(200_000)} of 200,000 lead out of the folder ({time.monotonic() - began:.0f} s)")
        began = time.monotonic()
        opened, foreign = foreign_reads(folder, 100_000)
        print(
            f"A31 flipped links: 100,000 tries, {opened:,} opened, {foreign} foreign bytes "
            f"({time.monotonic() - began:.0f} s)"
        )
        small = folder / "small"
        small.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3g", "tmpfs", str(small)], check=True)
        try:
            logs = large_logs(folder, 100, 1 << 30, 6 << 20)
            taken = asyncio.run(take_large(logs, small / "snapshots", 1 << 30))
        finally:
            subprocess.run(["umount", "-l", str(small)], check=False)
        print(
            f"A33: {taken.log_bytes / 1e9:.0f} GB of logs: {taken.archive_bytes >> 20} MiB in {taken.seconds:.1f} s, "
            f"never less than {taken.least_free_bytes >> 20:,} MiB free {taken.error}({taken.logs})"
        )
        place = folder / "hostile"
        place.mkdir()
        peak, said = hostile(place, bomb_bytes=10 << 30, sparse_bytes=1 << 40, tiny=1_000_000)
        print(f"A35: 10 GiB bomb, 1 TiB hole, 1,000,000 files: peak memory {peak >> 20} MiB", *said, sep="\n  ")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
