"""Any bytes in any file of a case: how many cases are diagnosed without an error, and the slowest line."""

import pickle
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bot.inspect import inspect
from diagnosis.formats import LogReader
from diagnosis.observations import Origin
from tests.mutating import CASE, cases, mutated

CASES, LINES = 2_000, 50_000


def lines(count: int, seed: int) -> Iterator[bytes]:
    """Damaged lines, some of them very long."""
    chance = random.Random(seed)
    made = 0
    while made < count:
        for data in CASE.values():
            for line in mutated(data, chance).replace(b"\r", b"\n").split(b"\n"):
                yield line * chance.choice((1, 1, 1, 1, 1, 1, 1, 40)) + b"\n"
                made += 1


def slowest(count: int) -> tuple[float, bytes]:
    """The longest time that one line took, in seconds of CPU, and the line."""
    reader, worst, shown = LogReader("fuzz.log", Origin()), 0.0, b""
    for line in lines(count, 11):
        began = time.thread_time()
        reader.feed(line)
        took = time.thread_time() - began
        if took > worst:
            worst, shown = took, line
    return worst, shown


def _never(*_: object, **__: object) -> object:
    raise AssertionError("something was unpickled")


def main() -> None:
    """Print the figures."""
    pickle.load = pickle.loads = pickle.Unpickler = _never  # type: ignore[assignment,misc]
    failed, longest, began = 0, 0.0, time.monotonic()
    for number, files in enumerate(cases(CASES, 7)):
        with tempfile.TemporaryDirectory() as folder:
            for name, data in files.items():
                (Path(folder) / name).write_bytes(data)
            start = time.thread_time()
            try:
                inspect([folder])
            except Exception as error:  # this is what is counted
                failed += 1
                print(f"case {number}: {type(error).__name__}: {error}", file=sys.stderr)
            longest = max(longest, time.thread_time() - start)
    print(f"{CASES:,} damaged cases of {len(CASE)} files: {failed} failed; the slowest took {longest:.2f} s of CPU")
    worst, line = slowest(LINES)
    print(
        f"{LINES:,} damaged lines: the slowest took {worst * 1000:.1f} ms of CPU ({len(line):,} bytes: {line[:60]!r}…)"
    )
    print(f"({time.monotonic() - began:.0f} s)")


if __name__ == "__main__":
    main()
