"""Writes many logs at one rate, and after a while a NaN into the next one each second: the load of `benchmarks.busy`.

    python -m benchmarks.busy_writer FOLDER LOGS LINES_PER_SECOND QUIET_SECONDS SECONDS

Prints `RUN TIME` (Unix seconds) for each NaN right after it was written, at last how many lines in how many seconds.
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.live_logs import loss_at

TICK_SECONDS = 0.1


def main(folder: Path, logs: int, rate: int, quiet_seconds: float, seconds: int) -> None:
    """Write until the last NaN is written."""
    files = [(folder / f"run{n:02}.log").open("ab", buffering=0) for n in range(logs)]
    steps, told, lines = [1] * logs, 0, 0
    began = time.monotonic()
    while told < seconds:
        passed = time.monotonic() - began
        due = int(passed * rate) - lines
        each, more = divmod(due, logs)
        for number, file in enumerate(files):
            count = each + (number < more)
            file.write("".join(_line(steps[number] + step) for step in range(count)).encode())
            steps[number] += count
        lines += due
        if passed >= quiet_seconds + told:
            sick = told % logs
            files[sick].write(f"step={steps[sick]} loss=nan lr=0.0001 grad_norm=nan\n".encode())
            print(f"run{sick:02} {time.time():.6f}", flush=True)
            steps[sick], told, lines = steps[sick] + 1, told + 1, lines + 1
        time.sleep(max(0.0, TICK_SECONDS - (time.monotonic() - began - passed)))
    print(lines, f"{time.monotonic() - began:.3f}")


def _line(step: int) -> str:
    return f"step={step} loss={loss_at(step):.4f} lr=0.0001 grad_norm=1.8\n"


def _asked(words: Sequence[str]) -> None:
    folder, logs, rate, quiet, seconds = words
    main(Path(folder), int(logs), int(rate), float(quiet), int(seconds))


if __name__ == "__main__":
    _asked(sys.argv[1:])
