"""One question to NCCL's RAS, where the run's owner allowed it: which ranks launched fewer collectives than the others.

Asking has crashed jobs (NVIDIA/nccl #1669, #1762, #2346), so it is done only of a run that is known to stand, by one
node of it, never while it starts, and never where the version is not known to bear it. Lines of text over a socket.
"""

import re
import socket
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from diagnosis.node_facts import RasAnswer
from diagnosis.redaction import mask
from watcher.job_environment import first_of
from watcher.process_tree import text_of

PORT = 28028
SINCE = (2, 24, 0)
CRASHES = frozenset({(2, 26, 2), (2, 27, 3), (2, 27, 7), (2, 29, 7)})
"""Versions in which a query, or RAS by itself, ended jobs: NVIDIA/nccl #1669, #1762, #1996, #2346."""
APART_SECONDS = 1.5
"""Between two questions: a job that moves has launched more in this time."""
EACH_SECONDS = 1.5
MOST_BYTES = 1 << 20
LONGEST_LINE = 1 << 10
"""Bytes of a line of the protocol: what sends more before a line's end is not RAS."""
_VERSION = re.compile(r"(\d{1,2})\.(\d{1,3})\.(\d{1,3})")
_WHEEL = re.compile(r"nvidia_nccl_cu\d{1,3}-(\d{1,2}\.\d{1,3}\.\d{1,3})")


def ask(pids: Sequence[int]) -> tuple[tuple[RasAnswer, ...], str]:
    """Two answers some time apart, and in words why there are none; blocking, for a thread that may wait."""
    refused = why_not(version_of(pids), first_of(pids, "NCCL_RAS_ENABLE"))
    if refused:
        return (), refused
    told = first_of(pids, "NCCL_RAS_ADDR")
    address = address_of(told)
    if address is None:
        return (), f"NCCL RAS was not asked: NCCL_RAS_ADDR is no address ({(told or '')[:100]!r})"
    host, port = address
    answers: list[RasAnswer] = []
    try:
        for number in range(2):
            if number:
                time.sleep(APART_SECONDS)
            text = query(host, port)
            answers.append(RasAnswer(mask(text).text, time.time()))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return tuple(answers), f"NCCL RAS on port {port} did not answer: {why}"
    return tuple(answers), ""


def query(host: str, port: int, *, seconds: float = EACH_SECONDS) -> str:
    """The status in words.

    Raises:
        OSError: nobody listens there, or no answer came in time.
        ValueError: whoever listens there is not RAS.
    """
    ends = time.monotonic() + seconds
    with socket.create_connection((host, port), seconds) as connection:
        stream = _Lines(connection, ends)
        connection.sendall(b"CLIENT PROTOCOL 2\n")
        if not stream.line().startswith(b"SERVER PROTOCOL"):
            raise ValueError("it does not speak the protocol of RAS")
        connection.sendall(b"TIMEOUT 1\n")
        if stream.line().strip() != b"OK":
            raise ValueError("it does not speak the protocol of RAS")
        connection.sendall(b"VERBOSE STATUS\n")
        return stream.rest().decode("utf-8", "replace")


def why_not(version: tuple[int, ...] | None, enabled: str | None) -> str:
    """In words, why this job is not asked; empty: it may be."""
    if enabled == "0":
        return "NCCL RAS was not asked: the job has switched it off (NCCL_RAS_ENABLE=0)"
    if version is None:
        return "NCCL RAS was not asked: the version of NCCL is not known, and some end the job when they are asked"
    shown = ".".join(map(str, version))
    if version < SINCE:
        return f"NCCL RAS was not asked: NCCL {shown} has none (since 2.24)"
    if version in CRASHES:
        return f"NCCL RAS was not asked: in NCCL {shown} a question can end the job"
    return ""


def version_of(pids: Iterable[int]) -> tuple[int, ...] | None:
    """The version of the library that a process has loaded, by its wheel or its name."""
    for pid in pids:
        for line in text_of(f"/proc/{pid}/maps", 4 << 20).splitlines():
            path = line.rpartition(" ")[2]
            if "/libnccl.so" not in path:
                continue
            named = _numbers(Path(path).resolve().name.partition(".so.")[2])
            return named or _of_wheel(Path(path))
    return None


def address_of(told: str | None) -> tuple[str, int] | None:
    """Where this job's RAS listens: `host:port` or `[v6]:port`; None where a port is told that is none."""
    host, _, port = (told or "").rpartition(":")
    if not port.isdecimal():
        return "localhost", PORT
    return (host.strip("[]") or "localhost", int(port)) if len(port) <= 5 and 0 < int(port) < 1 << 16 else None


def _of_wheel(library: Path) -> tuple[int, ...] | None:
    """`site-packages/nvidia/nccl/lib/libnccl.so.2` lies beside `nvidia_nccl_cu12-2.21.5.dist-info`."""
    if len(library.parents) < 4:
        return None
    try:
        names = [entry.name for entry in library.parents[3].glob("nvidia_nccl_cu*.dist-info")]
    except OSError:
        return None
    found = {match[1] for name in names if (match := _WHEEL.match(name)) is not None}
    return _numbers(found.pop()) if len(found) == 1 else None


def _numbers(text: str | None) -> tuple[int, ...] | None:
    found = _VERSION.search(text or "")
    return tuple(int(part) for part in found.groups()) if found is not None else None


class _Lines:
    """What comes over a connection before a moment."""

    def __init__(self, connection: socket.socket, ends: float) -> None:
        self._connection = connection
        self._ends = ends
        self._held = b""

    def line(self) -> bytes:
        while b"\n" not in self._held and self._more():
            if len(self._held) > LONGEST_LINE and b"\n" not in self._held:
                raise ValueError("it does not speak the protocol of RAS")
        line, _, self._held = self._held.partition(b"\n")
        return line

    def rest(self) -> bytes:
        while len(self._held) < MOST_BYTES and self._more():
            pass
        return self._held

    def _more(self) -> bool:
        left = self._ends - time.monotonic()
        if left <= 0:
            raise TimeoutError("no whole answer came in time")
        self._connection.settimeout(left)
        data = self._connection.recv(65536)
        self._held += data
        return bool(data)
