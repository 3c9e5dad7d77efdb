"""`runwatch rotation`: prints stanzas and checks."""

import glob
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bot.rotation.advice import kind_of
from bot.rotation.check import Check, wait_for_lines
from bot.rotation.check import check as look
from bot.rotation.writing import logging_handlers, logrotate, loguru
from bot.setup import runs_of_file, settings_file
from diagnosis.errors import Mistake
from watcher.globs import Globs, is_copy
from watcher.log_writers import writers_of

FORCE_SECONDS = 300.0


def config(run: str | None, logs: Sequence[str], kind: str, file: Path | None) -> int:
    """Print what to paste."""
    patterns = list(logs) or _logs_of(run, file)
    paths = [Path(pattern).expanduser().absolute() for pattern in patterns]
    found = [Path(name) for path in paths for name in sorted(glob.glob(str(path)))]  # noqa: PTH207  (patterns of people)
    writers = [writer for path in found[:64] for writer in writers_of(path)]
    if kind == "loguru":
        sys.stdout.write(loguru(paths))
    elif kind == "logging":
        sys.stdout.write(logging_handlers(paths))
    else:
        sys.stdout.write(logrotate(paths, kind_of(writers), writers))
    return 0


def logs_meant(named: Sequence[str], run: str | None, file: Path | None) -> list[Path]:
    """The live logs that paths, folders and patterns mean, each once and without its rotated copies.

    Raises:
        Mistake: One of them means no log.
    """
    found: dict[str, None] = {}
    for pattern in named or _logs_of(run, file):
        path = Path(pattern).expanduser().absolute()
        told = str(path / "*") if path.is_dir() else str(path)
        meant = [match.path for match in Globs([told]).matches(told)]
        if not meant and not glob.has_magic(told) and (path.exists() or list(path.parent.glob(f"{path.name}*"))):
            # A copy by itself; or the live log is not there, as between a rename and the next line.
            meant = [told]
        if not meant:
            raise Mistake(f"No log fits {pattern}: nothing of that name is there.")
        found |= dict.fromkeys(meant)
    # As a shell spells a pattern out, the copies stand beside their log.
    return [Path(name) for name in found if len(found) == 1 or not is_copy(name, found.keys())]


def check(paths: Sequence[Path], *, before: int | None, force: Path | None, wait_seconds: float) -> int:
    """Print what was found; 1 when something is wrong."""
    if before is not None and len(paths) > 1:
        raise Mistake(f"--before counts the lines of one log, and these are {len(paths)}.")
    counts: dict[Path, int | None] = dict.fromkeys(paths, before)
    if force is not None:
        counts = {path: look(path).loss_lines for path in paths}
        done = subprocess.run(["logrotate", "-f", str(force)], capture_output=True, timeout=FORCE_SECONDS, check=False)
        if done.returncode:
            said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
            raise Mistake(f"logrotate ended with exit code {done.returncode}: {said:.300}")
    is_growing = wait_for_lines(paths, wait_seconds)
    results = [look(path, at_least=counts[path], is_growing=is_growing[path]) for path in paths]
    for result in results:
        _print(result)
    return 1 if any(result.problems for result in results) else 0


def _print(result: Check) -> None:
    files = f"{len(result.files)} file{'s' if len(result.files) != 1 else ''}"
    print(f"{result.path}: {result.loss_lines:,} loss lines in {files}")
    for file in result.files:
        steps = f"steps {file.first_step:,.0f} to {file.last_step:,.0f}" if file.last_step is not None else "no step"
        print(f"  {file.path.name:<40} {file.loss_lines:>12,}  {steps}{'  packed' if file.is_packed else ''}")
    if result.at_least is not None:
        print(f"  before the rotation: {result.at_least:,}")
    print(f"  the live file {'is being written' if result.is_growing else 'was not written while we looked'}")
    for problem in result.problems:
        print(f"  ! {problem}")
    if not result.problems:
        print("  nothing is missing")


def _logs_of(run: str | None, file: Path | None) -> list[str]:
    named = settings_file(file)
    if run is None or named is None:
        raise Mistake("Say which logs: 'train*.log', or --run RUN with a settings file that lists it.")
    runs = {one.name: one for one in runs_of_file(named)}
    if run not in runs:
        raise Mistake(f"{named} lists no run {run!r}; it has: {', '.join(sorted(runs)) or 'none'}.")
    return list(runs[run].logs)
