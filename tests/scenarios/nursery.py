"""Starts bots and watchers as forks of a process that has their modules loaded: milliseconds instead of seconds.

Python reads and compiles for seconds before a bot says its first word, and a night with hundreds of kills would be a
test of just that. A fork is killed, frozen and starved like any process, and runs the same command. Two things of the
stand-ins are hastier besides, so that hours fit into minutes: charts are one white pixel (they travel as charts do), and
Slack's limits on reading are ten times wider, as its limit on posting is in these nights anyway.
"""

import contextlib
import ctypes
import importlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

PRELOADED = (
    "bot.app",
    "bot.cli",
    "bot.commands.bot",
    "bot.commands.watch",
    "tests.durability.points",
    "tests.scenarios.without",
    "watcher.agent",
)
FORKED = ("bot.cli", "tests.durability.points", "tests.scenarios.without")
"""What can be started here: modules with a `main` that takes words."""
FASTER = 10.0
PR_SET_PDEATHSIG = 1
PIXEL = b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAG7buVgAAAABJRU5ErkJggg==")


class Child:
    """One process that the nursery forked; has what is used of a `Popen`."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        try:
            self._handle: int | None = os.pidfd_open(pid)
        except ProcessLookupError:
            self._handle = None

    def poll(self) -> int | None:
        """None while it lives; what it ended with only its parent knows."""
        return 0 if self._has_ended(0) else None

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended."""
        if not self._has_ended(timeout):
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
        return 0

    def _has_ended(self, seconds: float | None) -> bool:
        if self._handle is None:
            return True
        # `select.select` knows no descriptor from 1024 on, and a long night has more children than that.
        ending = select.poll()
        ending.register(self._handle, select.POLLIN)
        if not ending.poll(None if seconds is None else seconds * 1000):
            return False
        os.close(self._handle)
        self._handle = None
        return True

    def send_signal(self, number: int) -> None:
        """Never to another process that got its number."""
        if self._handle is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, number)

    def kill(self) -> None:
        """SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """SIGTERM."""
        self.send_signal(signal.SIGTERM)


class Nursery:
    """The process that forks, seen from outside."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.scenarios.nursery"],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def start(self, words: Sequence[str], environment: Mapping[str, str], log: Path, cwd: Path) -> Child:
        """`python -m WORDS`, without waiting for Python."""
        order = {"words": list(words), "environment": dict(environment), "log": str(log), "cwd": str(cwd)}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        assert answer, "the nursery has ended"
        return Child(int(answer))

    def close(self) -> None:
        """It forks no more."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def main() -> None:
    """Fork what is asked for, until nobody asks any more."""
    _die_with_parent()
    loaded = {name: importlib.import_module(name) for name in PRELOADED}
    _hurry(loaded["bot.app"])
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        order = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _live(order, loaded)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()


def _hurry(app: Any) -> None:
    tiers = importlib.import_module("bot.slack").TIERS
    for method in ("conversations.history", "conversations.replies"):
        interval, burst = tiers[method]
        tiers[method] = (interval / FASTER, burst)

    async def nothing(self: object) -> None:
        del self

    async def pixel(self: object, *drawing: object, **more: object) -> bytes:
        del self, drawing, more
        return PIXEL

    app.Painter.start, app.Painter.draw = nothing, pixel


def _die_with_parent() -> None:
    """A test that is killed leaves nothing behind."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _live(order: Mapping[str, Any], loaded: Mapping[str, Any]) -> None:
    """The life of a child; never returns."""
    code = 70
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _die_with_parent()
        os.setsid()
        os.chdir(order["cwd"])
        output = os.open(order["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        nowhere = os.open(os.devnull, os.O_RDONLY)
        for number, file in enumerate((nowhere, output, output)):
            os.dup2(file, number)
        sys.stdout, sys.stderr = os.fdopen(1, "w", buffering=1), os.fdopen(2, "w", buffering=1)
        os.environ.clear()
        os.environ.update(order["environment"])
        module, *words = order["words"]
        run: Callable[[list[str]], int] = loaded[module].main
        code = run(words)
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
