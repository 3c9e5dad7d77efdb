"""Takes one snapshot after the other of the logs in a folder, and says each time where it lies; to be killed."""

import asyncio
import os
import sys
from pathlib import Path

from watcher.evidence.collector import Scene
from watcher.settings import WatchedRun
from watcher.snapshot import Order
from watcher.snapshots import Snapshots


async def main(home):
    logs = tuple(sorted(home.glob("rank*.log")))
    scene = Scene(WatchedRun("run42", ()), "node17", logs, folders=(home,))
    snapshots = Snapshots(home / "snapshots", keep_bytes=4 << 20, per_hour=100_000, reserve_bytes=0, reserve_share=0.0)
    while True:
        snapshot = await snapshots.take(scene, Order())
        sys.stdout.write(f"{snapshot.path or snapshot.error}\n")
        sys.stdout.flush()


if "--never-sync" in sys.argv:
    os.fsync = lambda _: None
asyncio.run(main(Path(sys.argv[1])))
