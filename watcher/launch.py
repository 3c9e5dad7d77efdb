"""`runwatch run -- CMD`: starts the training, keeps its output in a file per stream, and has it watched.

The job comes first. Its output passes through here in the smallest possible process; watching happens in
another one, and if that fails, the job does not notice. Signals are passed on, the exit code comes back.
"""

import contextlib
import errno
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from watcher.bookmarks import file_name
from watcher.settings import WatchedRun, WatcherSettings, settings_to_json

FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
FROM_THE_TERMINAL = 128
"""si_code SI_KERNEL: the terminal signals the whole group, so the job has it already."""
DRAIN_SECONDS = 2.0
"""How long after the job's end its output is waited for, when something it left behind keeps the pipe open."""
WATCHER_SECONDS = 10.0
"""How long the watcher may take to tell the end before we leave it to finish alone."""
CHUNK_BYTES = 65536
CANNOT_RUN, NOT_FOUND = 126, 127


@dataclass(frozen=True, slots=True)
class Output:
    """Where the job's output is kept."""

    folder: Path

    @property
    def files(self) -> tuple[Path, Path]:
        """Standard output and standard error."""
        return self.folder / "stdout.log", self.folder / "stderr.log"


def launch(settings: WatcherSettings, run: WatchedRun, command: Sequence[str]) -> int:
    """Run `command` to its end, watched; its exit code, or 128 + n when signal n ended it."""
    output = Output(settings.home / "output" / file_name(run.name) / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}")
    files = _open_files(output)
    watched = replace(run, logs=(*run.logs, *(str(path) for path in output.files)), pids=(*run.pids,))
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {*FORWARDED, signal.SIGCHLD})
    try:
        job = _start(command, blocked)
    except OSError as error:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        is_nowhere = _is_nowhere(command[0], error)
        _say(f"cannot start {command[0]}: {os.strerror(errno.ENOENT) if is_nowhere else error.strerror}")
        return NOT_FOUND if is_nowhere else CANNOT_RUN
    began = time.time()
    watchman = Watchman(replace(settings, runs=(replace(watched, pids=(*run.pids, job.pid)),)))
    watchman.start()
    assert job.stdout is not None
    assert job.stderr is not None
    tees = [
        threading.Thread(target=_pass_through, args=(job.stdout, sys.stdout.fileno(), files[0]), daemon=True),
        threading.Thread(target=_pass_through, args=(job.stderr, sys.stderr.fileno(), files[1]), daemon=True),
    ]
    for tee in tees:
        tee.start()
    code = _wait(job, watchman)
    ends_at = time.monotonic() + DRAIN_SECONDS
    for tee in tees:
        tee.join(max(0.0, ends_at - time.monotonic()))
    watchman.tell_end(code, began, command)
    return code if code >= 0 else 128 - code


class Watchman:
    """The watching process: started, started again when it fails, told of the end."""

    def __init__(self, settings: WatcherSettings) -> None:
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self._failures = 0
        self._again_at = 0.0

    def start(self) -> None:
        """Start it; that it cannot be started is said, and no reason to stop the job."""
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "watcher"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
                env=os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1])])},
            )
            self._send(settings_to_json(self._settings))
        except OSError as error:
            _say(f"the job is not watched: {error.strerror}")

    def look_after(self) -> None:
        """Start it again when it failed, less and less often."""
        if self._process is None or (code := self._process.poll()) is None:
            return
        if self._again_at == 0.0:
            self._failures += 1
            wait = min(300.0, 5.0 * 2 ** (self._failures - 1))
            _say(f"the watcher ended with {code}; the job goes on, watching begins again in {wait:.0f} s")
            self._again_at = time.monotonic() + wait
        elif time.monotonic() >= self._again_at:
            self._again_at = 0.0
            self.start()

    def tell_end(self, code: int, began: float, command: Sequence[str]) -> None:
        """Tell it how the job ended and let it finish; it goes on alone when that takes long."""
        if self._process is None:
            return
        end = {"ended": {"code": code, "at": time.time(), "seconds": time.time() - began, "command": _words(command)}}
        with contextlib.suppress(OSError):
            self._send(json.dumps(end))
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(WATCHER_SECONDS)

    def _send(self, line: str) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()


def _is_nowhere(name: str, error: OSError) -> bool:
    """As a shell sees it: a folder of the PATH that may not be entered does not make a missing program a bad one."""
    if isinstance(error, FileNotFoundError) or "/" in name:
        return isinstance(error, FileNotFoundError)
    return not any(os.path.lexists(os.path.join(folder, name)) for folder in os.get_exec_path())  # noqa: PTH118


def _start(command: Sequence[str], blocked: set[int | signal.Signals]) -> "subprocess.Popen[bytes]":
    # A pipe makes Python hold its output back by the kilobyte; a NaN must not wait for that.
    environment = {"PYTHONUNBUFFERED": "1"} | os.environ
    return subprocess.Popen(
        list(command),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        env=environment,
        preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, blocked),  # noqa: PLW1509  (no threads yet)
    )


def _wait(job: "subprocess.Popen[bytes]", watchman: Watchman) -> int:
    """Pass signals on until the job ends."""
    while True:
        info = signal.sigtimedwait({*FORWARDED, signal.SIGCHLD}, 1.0)
        code = job.poll()
        if code is not None:
            return code
        if info is not None and info.si_signo != signal.SIGCHLD and info.si_code != FROM_THE_TERMINAL:
            job.send_signal(info.si_signo)
        watchman.look_after()


def _pass_through(source: IO[bytes], onward: int, file: int | None) -> None:
    """Everything the job says goes on as it comes, and into its file; neither failing stops the other."""
    sinks = [sink for sink in (file, onward) if sink is not None]
    while data := _read(source.fileno()):
        for sink in list(sinks):
            try:
                _write(sink, data)
            except OSError as error:
                sinks.remove(sink)
                if sink == file:
                    _say(f"the job's output is no longer kept: {error.strerror}")


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, CHUNK_BYTES)
    except OSError:
        return b""


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _open_files(output: Output) -> tuple[int | None, int | None]:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    try:
        output.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        first, second = (os.open(path, flags, 0o600) for path in output.files)
    except OSError as error:
        _say(f"the job's output cannot be kept in {output.folder}: {error.strerror}")
        return None, None
    return first, second


def _words(command: Sequence[str]) -> str:
    return shlex.join(command)[:2000]


def _say(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(f"runwatch: {text}\n")
        sys.stderr.flush()
