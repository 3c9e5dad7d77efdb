"""Running a program that may hang in the kernel: its output goes to a file, and it is left behind if need be.

`subprocess.run(timeout=…)` waits for ever on a child that SIGKILL cannot end. Here nobody waits, and while one
such child lives no second one of its kind is started.
"""

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from watcher.bins import CHUNK_BYTES, Bin
from watcher.evidence.collector import Outcome, Result
from watcher.host import wchan_of

POLL_SECONDS = 0.05
KILL_SECONDS = 1.0
"""How long a killed program may take to be gone before we go on without it."""

_left_behind: dict[str, subprocess.Popen[bytes]] = {}
"""Programs that did not even end when killed, by name."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program that reports on something."""

    command: Sequence[str]
    file: str
    """What its output is called."""

    def collect(self, into: Bin, seconds: float, silent: set[str] | None = None) -> Result:
        """Run it for at most `seconds` and save what it printed; `silent` are programs that gave no answer before."""
        name = self.command[0]
        if silent is not None and name in silent:
            return Result(Outcome.UNAVAILABLE, f"not asked: {name} gave no answer a moment ago")
        path = shutil.which(name)
        if path is None:
            return Result(Outcome.UNAVAILABLE, f"no {name} here")
        stuck = _left_behind.get(name)
        if stuck is not None and stuck.poll() is None:
            return Result(Outcome.UNAVAILABLE, f"an earlier {name} still hangs (pid {stuck.pid}, {_state(stuck.pid)})")
        raw = into.scratch(self.file)
        try:
            code = run_to_file([path, *self.command[1:]], raw, seconds, into.left)
            has_output = _copy(raw, into, self.file)
        finally:
            raw.unlink(missing_ok=True)
        if code is None and silent is not None:
            silent.add(name)
        return self._result(code, seconds, has_output=has_output, into=into)

    def _result(self, code: int | None, seconds: float, *, has_output: bool, into: Bin) -> Result:
        name = self.command[0]
        if code is None:
            stuck = _left_behind.get(name)
            where = f"; it cannot be killed (pid {stuck.pid}, {_state(stuck.pid)})" if stuck else ""
            return Result(Outcome.TIMED_OUT, f"{name} did not answer in {seconds:.0f} s{where}")
        if code == -signal.SIGXFSZ:
            return Result(Outcome.COLLECTED, f"cut: {name} printed more than {into.left:,} bytes")
        if code != 0:
            return Result(Outcome.FAILED, f"{name} ended with exit code {code}")
        return Result(Outcome.COLLECTED if has_output else Outcome.EMPTY)


def left_behind(path: str) -> str:
    """In words: an earlier one of this program that still hangs; empty: there is none."""
    name = Path(path).name
    stuck = _left_behind.get(name)
    if stuck is None or stuck.poll() is not None:
        return ""
    return f"an earlier {name} still hangs (pid {stuck.pid}, {_state(stuck.pid)})"


def run_to_file(command: Sequence[str], output: Path, seconds: float, most_bytes: int) -> int | None:
    """The exit code; None when it did not end in time. Blocks for so long, and is never left waiting for a dead one."""
    descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=descriptor,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=os.environ | {"LC_ALL": "C"},
        )
    finally:
        os.close(descriptor)
    with contextlib.suppress(OSError, ValueError):
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    if _ends(process, seconds):
        return process.returncode
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    if not _ends(process, KILL_SECONDS):
        _left_behind[Path(command[0]).name] = process
    return None


def _ends(process: subprocess.Popen[bytes], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while process.poll() is None:
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def _copy(raw: Path, into: Bin, name: str) -> bool:
    if not raw.stat().st_size:
        return False
    with raw.open("rb") as source, into.file(name) as file:
        while data := source.read(CHUNK_BYTES):
            if not file.write(data):
                break
    return True


def _state(pid: int) -> str:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return "gone"
    wchan = wchan_of(pid)
    return f"state {state} in {wchan}" if wchan else f"state {state}"
