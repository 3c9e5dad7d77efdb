"""The GPUs of this node: a child process asks the driver, and is left behind when the driver does not answer."""

import asyncio
import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from diagnosis.observations import GpuSample
from watcher.gpu_ring import GpuRing

CHILD = Path(__file__).with_name("gpu_child.py")
MOST_ALIVE = 2
RECENT_SECONDS, RECENT_READINGS = 60.0, 6
_LONGEST_LINE = 1 << 20
_BACK_OFF_SECONDS = (5.0, 30.0, 60.0, 300.0)
_NO_DRIVER_SECONDS = 600.0
_REAP_SECONDS = 0.5
_FIELDS = frozenset(GpuSample.__dataclass_fields__) - {"node", "time"}


class Gpus:
    """What the GPUs said last, their last quarter of an hour, and what is wrong with asking them."""

    def __init__(
        self,
        node: str,
        *,
        seconds: float = 1.0,
        deadline_seconds: float = 10.0,
        command: Sequence[str] | None = None,
        back_off_seconds: Sequence[float] = _BACK_OFF_SECONDS,
    ) -> None:
        self.ring = GpuRing()
        self.newest: tuple[GpuSample, ...] = ()
        """The last reading; empty while there is none that still holds."""
        self.problem: str | None = None
        """In words: why there is no reading, or what is wrong with one."""
        self.driver: str | None = None
        self.readings = 0
        self._node = node
        self._deadline = deadline_seconds
        self._command = list(command or (sys.executable, "-P", str(CHILD), str(seconds)))
        self._back_off = back_off_seconds
        self._children: list[subprocess.Popen[bytes]] = []
        self._failures = 0

    async def watch(self) -> None:
        """Read for ever: start a child, take its lines, replace it when it is silent."""
        while True:
            await self._rest(await self._one_child())

    async def _rest(self, seconds: float) -> None:
        """Wait; a child that ended meanwhile is taken note of, so that none stays behind as a zombie."""
        while seconds > 0:
            pause = min(seconds, _REAP_SECONDS) if self.alive else seconds
            await asyncio.sleep(pause)
            seconds -= pause

    def recent(self) -> list[GpuSample]:
        """A few readings of the last minute, oldest first, to tell a pause from a state."""
        return list(self.ring.recent(self._node, RECENT_SECONDS, RECENT_READINGS))

    @property
    def alive(self) -> int:
        """How many children there are, those left behind too."""
        self._children = [child for child in self._children if child.poll() is None]
        return len(self._children)

    def close(self) -> None:
        """Kill the children and wait for none of them."""
        for child in self._children:
            with contextlib.suppress(ProcessLookupError):
                child.kill()

    async def _one_child(self) -> float:
        """Follow one child to its end; how long to wait before the next."""
        if self.alive >= MOST_ALIVE:
            return self._wait_longer()
        try:
            child = subprocess.Popen(  # noqa: ASYNC220  (asyncio's own child watcher waits for a child that may never end)
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            self.problem = f"cannot start the GPU reader: {error}"
            return self._wait_longer()
        self._children.append(child)
        reader = asyncio.StreamReader(limit=_LONGEST_LINE)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), child.stdout
        )
        try:
            return await self._follow(child, reader)
        finally:
            transport.close()

    async def _follow(self, child: subprocess.Popen[bytes], reader: asyncio.StreamReader) -> float:
        while True:
            try:
                line = await asyncio.wait_for(reader.readline(), self._deadline)
            except TimeoutError:
                self.newest = ()
                self.problem = f"NVML does not answer ({_where(child.pid)})"
                child.kill()  # and no wait: in the kernel it may outlive the kill
                return self._wait_longer()
            except ValueError:  # a line without end
                line = b""
            if not line:
                child.kill()
                self.newest = ()
                self.problem = self.problem or "the GPU reader ended"
                return self._wait_longer()
            said = _read(line)
            if "gpus" not in said:
                self.newest = ()
                self.problem = str(said.get("problem") or "the GPU reader is not readable")
                return _NO_DRIVER_SECONDS if said.get("no_driver") else self._wait_longer()
            self._take(said)

    def _take(self, said: dict[str, Any]) -> None:
        self._failures = 0
        when = float(said.get("time") or time.time())
        self.driver = said.get("driver")
        self.newest = tuple(_sample(self._node, when, gpu) for gpu in said["gpus"])
        self.ring.add(self.newest)
        self.readings += 1
        bad = [f"GPU {sample.gpu_index}: {sample.problem}" for sample in self.newest if sample.problem]
        self.problem = "; ".join(bad) or None

    def _wait_longer(self) -> float:
        wait = self._back_off[min(self._failures, len(self._back_off) - 1)]
        self._failures += 1
        return wait


def _read(line: bytes) -> dict[str, Any]:
    try:
        said = json.loads(line)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def _sample(node: str, when: float, gpu: dict[str, Any]) -> GpuSample:
    known = {name: value for name, value in gpu.items() if name in _FIELDS}
    if known.get("pids"):
        # A driver newer than the binding hands out garbage, and one outside our container numbers of its own:
        # a process must exist here to be believed, and "none of them does" is no knowledge.
        known["pids"] = tuple(pid for pid in known["pids"] if Path(f"/proc/{pid}").exists()) or None
    elif known.get("pids") is not None:
        known["pids"] = ()
    return GpuSample(node=node, time=when, **known)


def _where(pid: int) -> str:
    """The state of a process and the kernel function it waits in."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return "the reader is gone"
    try:
        wchan = Path(f"/proc/{pid}/wchan").read_text().strip("\0\n")
    except OSError:
        wchan = ""
    return f"state {state}, in {wchan}" if wchan not in ("", "0") else f"state {state}"
