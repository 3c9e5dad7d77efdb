"""What one line costs a watcher from its bytes to what is judged and told: in this process, so that nothing waits."""

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.live_logs import DIALECTS, Write, text_of
from watcher.identity import FileId, Place
from watcher.pieces import Chunk
from watcher.run_watch import RunWatch
from watcher.settings import WatchedRun, WatcherSettings
from watcher.tail import Batch

FILES, AT_ONCE = 8, 250
"""Lines of one file that one look finds: 1,000 a second, four looks a second."""
LOOKS, WARM_LOOKS, ROUNDS = 50, 10, 3


class Nobody:
    """Takes findings, as a publisher does."""

    holds_bookmark = False

    def accept(self, said: object) -> None:
        """Nobody reads them."""


def main() -> None:
    """Print the figures."""
    print(f"Python {sys.version.split()[0]}, µs of the processor a line, the best of {ROUNDS}")
    for name, write in DIALECTS.items():
        for own_loss in (False, True) if name == "plain" else (False,):
            costs = [asyncio.run(cost(write, own_loss=own_loss)) for _ in range(ROUNDS)]
            share = FILES * 4 * AT_ONCE * min(costs) / 1e6
            what = f"{name}{', each file its own loss' if own_loss else ''}"
            print(
                f"{what}: {min(costs):.1f} (median {statistics.median(costs):.1f}), {share:.1%} of a core", flush=True
            )


async def cost(write: Write, *, own_loss: bool) -> float:
    """Processor µs a line."""
    with tempfile.TemporaryDirectory(prefix="runwatch-bench-") as folder:
        run = WatchedRun("run42", (f"{folder}/*.log",))
        settings = WatcherSettings(runs=(run,), state_dir=Path(folder), node="node17")
        watch = RunWatch(run, settings, Nobody(), "node17/run42")  # type: ignore[arg-type]
        offsets, spent = [0] * FILES, 0.0
        for look in range(LOOKS):
            pieces = []
            for file in range(FILES):
                data = text_of(write, 1 + look * AT_ONCE, AT_ONCE, file, own_loss=own_loss).encode()
                start, offsets[file] = offsets[file], offsets[file] + len(data)
                place = Place(FileId(1, file), offsets[file], 1)
                pieces.append(Chunk(f"{folder}/rank{file}.log", file, start, data, place, time.time(), 1))
            began = time.process_time()
            await watch._take(Batch(tuple(pieces)))  # noqa: SLF001 - the work of one look
            spent += time.process_time() - began if look >= WARM_LOOKS else 0.0
            watch.reporting._waiting.clear()  # noqa: SLF001 - nobody takes them here
        await watch.close()
    return spent / (FILES * AT_ONCE * (LOOKS - WARM_LOOKS)) * 1e6


if __name__ == "__main__":
    main()
