"""A whole log read cold: `inspect` beside `grep | awk` on the same file, and beside its own line-by-line reading."""

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.live_logs import DIALECTS, Write, dicts_alone, hugging_face, loss_at, never_rounded, unrounded
from diagnosis.formats.bulk.reader import CHUNK, BulkReader
from diagnosis.formats.reader import LogReader
from diagnosis.observations import Origin

MB = 1 << 20
SIZE = 100 * MB
SIZES_OF_ONE = (30 * MB, 300 * MB, 3 << 30)
SLICE = 8 * MB
"""So much of a log is read line by line: the rate does not change with the size, and all of it takes minutes."""
ROUNDS = 5
STEPS_AT_ONCE = 2_000
LOGS: dict[str, tuple[Write, str]] = {
    "plain": (DIALECTS["plain"], r"step=[0-9]+ loss=[0-9.eE+-]+"),
    "Megatron": (DIALECTS["Megatron"], r"iteration +[0-9]+/|lm loss: [0-9.E+-]+"),
    "torchtitan": (DIALECTS["torchtitan"], r"step: +[0-9]+ +loss: +[0-9.]+"),
    "HF dict + bar": (hugging_face, r"'loss': [0-9.e+-]+"),
    "HF dict + bar, step too": (hugging_face, r"[0-9]+/[0-9]+ \[|'loss': [0-9.e+-]+"),
    "HF dict alone": (dicts_alone, r"'loss': [0-9.e+-]+"),
    "HF dict alone, unrounded": (unrounded, r"'loss': [0-9.e+-]+"),
    "HF dict alone, never rounded": (never_rounded, r"'loss': [0-9.e+-]+"),
}
"""Kinds of logs, and what the shell is asked of each: a dict tells no step, so with the bar it is asked both ways."""


def write_log(path: Path, write: Write, size: int) -> None:
    """A log of at least so many bytes."""
    step, written = 1, 0
    with path.open("w") as log:
        while written < size:
            text = "".join(write(at, 0, loss_at(at)) for at in range(step, step + STEPS_AT_ONCE))
            step += STEPS_AT_ONCE
            written += log.write(text)


@dataclass(frozen=True, slots=True)
class Rate:
    """How fast a file was gone through, in MB/s: by the clock, and by processor seconds of all its processes."""

    clock: float
    processor: float


def measure(name: str, folder: Path) -> None:
    """Print one row for a dialect: everything once a round, so that what else runs meets all of it alike."""
    log, (write, pattern) = folder / "train.log", LOGS[name]
    write_log(log, write, SIZE)
    once: dict[str, Callable[[], object]] = {
        "C": lambda: _shell(log, pattern, "C"),
        "UTF-8": lambda: _shell(log, pattern, "C.UTF-8"),
        "reading": lambda: _read(log),
        "inspect": lambda: _inspect(log),
    }
    spent: dict[str, list[tuple[float, float]]] = {way: [] for way in once}
    for _ in range(ROUNDS):
        for way, run in once.items():
            spent[way].append(_spent(run))
    size = log.stat().st_size / MB
    rate = {
        way: Rate(*(size / statistics.median(seconds) for seconds in zip(*rounds, strict=True)))
        for way, rounds in spent.items()
    }
    cells = [f"{one.clock:.0f} ({one.processor:.0f})" for one in rate.values()]
    ratios = [
        f"{rate[ours].clock / rate[theirs].clock:.2f} ({rate[ours].processor / rate[theirs].processor:.2f})"
        for ours in ("reading", "inspect")
        for theirs in ("C", "UTF-8")
    ]
    print(f"| {name} | {' | '.join((*cells, *ratios))} | {_line_by_line(log):.1f} |", flush=True)


def _spent(once: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the clock, and processor seconds of this process and its children."""
    began, before = time.perf_counter(), sum(os.times()[:4])
    once()
    return time.perf_counter() - began, sum(os.times()[:4]) - before


def _shell(log: Path, pattern: str, locale: str) -> None:
    grep = shutil.which("grep") or "grep"
    command = f'{grep} -oE "$PATTERN" "$LOG" | awk \'{{print $1, $2}}\' > /dev/null'
    environment = {**os.environ, "LC_ALL": locale, "PATTERN": pattern, "LOG": str(log)}
    subprocess.run(["/bin/sh", "-c", command], env=environment, check=True)


def _inspect(log: Path, how: str = "--json") -> int:
    """Peak memory of the process, in bytes."""
    with subprocess.Popen(
        [sys.executable, "-m", "bot.cli", "inspect", how, str(log)], stdout=subprocess.DEVNULL
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode > 1:
        raise RuntimeError(f"inspect ended with {process.returncode}")
    return used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _read(log: Path) -> None:
    reader = BulkReader(log.name, Origin())
    with log.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            reader.read(chunk)
    reader.finish()


def _line_by_line(log: Path) -> float:
    """MB a second."""
    with log.open("rb") as stream:
        data = stream.read(SLICE)
    reader = LogReader(log.name, Origin())
    began = time.perf_counter()
    for place in range(0, len(data), CHUNK):
        reader.feed(data[place : place + CHUNK])
    reader.close()
    return len(data) / MB / (time.perf_counter() - began)


def measure_size(name: str, folder: Path) -> None:
    """Print time and peak memory of `inspect` from 30 MiB to 3 GiB: time grows with the size, memory does not."""
    log = folder / "train.log"
    for size in SIZES_OF_ONE:
        write_log(log, DIALECTS[name], size)
        began, before = time.perf_counter(), sum(os.times()[2:4])
        peak = _inspect(log)
        seconds, used = time.perf_counter() - began, sum(os.times()[2:4]) - before
        print(
            f"`inspect` on {size // MB} MiB of {name} lines: {seconds:.1f} s, {used:.1f} of the processor, "
            f"peak {peak / MB:.0f} MiB resident",
            flush=True,
        )
    seconds, used = (
        statistics.median(each)
        for each in zip(*(_spent(lambda: _inspect(log, "--sample")) for _ in range(ROUNDS)), strict=True)
    )
    print(f"the first, sampled picture of it: {seconds:.2f} s, {used:.2f} of the processor")


def main() -> None:
    """Print the figures."""
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(f"{SIZE // MB} MB of each, medians of {ROUNDS} rounds, MB/s by the clock (and by processor seconds)")
    print("The shell prints two columns, we read all four; a ratio above 1: we are faster.\n")
    print(
        "| lines | grep\\|awk, C | grep\\|awk, UTF-8 | reading | inspect, whole process "
        "| reading to C | reading to UTF-8 | inspect to C | inspect to UTF-8 | line by line |"
    )
    print("|---" * 10 + "|")
    with tempfile.TemporaryDirectory(prefix="runwatch-bench-") as name:
        for dialect in LOGS:
            measure(dialect, Path(name))
        measure_size("plain", Path(name))
    print(f"(this process: peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB)")


if __name__ == "__main__":
    main()
