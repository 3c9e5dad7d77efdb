"""What the kernel says of GPUs, memory and disks: /dev/kmsg, read without waiting, where we may read it."""

import asyncio
import errno
import os
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

from diagnosis import signatures
from diagnosis.observations import Evidence, Origin, Symptom
from watcher.boot import boot_name

POLL_SECONDS = 1.0
RETRY_SECONDS = 600.0
_LONGEST_RECORD = 8192


@dataclass(frozen=True, slots=True)
class Record:
    """One message of the kernel."""

    number: int
    """Counted by the kernel since the boot."""
    seconds: float
    """Since the boot."""
    text: str


class KernelLog:
    """The kernel's messages from now on (or from the one after `after`, if it is still there)."""

    def __init__(
        self, path: str = "/dev/kmsg", *, after: int | None = None, poll_seconds: float = POLL_SECONDS
    ) -> None:
        self.problem: str | None = None
        self.boot = boot_name()
        self._path = path
        self._after = after
        self.number: int | None = after
        """The last message read."""
        self._poll_seconds = poll_seconds

    async def follow(self, node: str) -> AsyncIterator[Symptom]:
        """Telling lines, for ever; where the log cannot be read, says so once and looks again now and then."""
        while True:
            try:
                descriptor = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            except OSError as error:
                self.problem = f"kernel log not readable: {(error.strerror or '').lower()}"
                await asyncio.sleep(RETRY_SECONDS)
                continue
            try:
                async for symptom in self._read(descriptor, node):
                    yield symptom
            finally:
                os.close(descriptor)
            await asyncio.sleep(RETRY_SECONDS)

    async def _read(self, descriptor: int, node: str) -> AsyncIterator[Symptom]:
        if self._after is None:
            _to_the_end(descriptor)
        while True:
            try:
                raw = os.read(descriptor, _LONGEST_RECORD)
            except BlockingIOError:
                await asyncio.sleep(self._poll_seconds)
                continue
            except OSError as error:
                if error.errno == errno.EPIPE:  # overwritten before we came: go on with the oldest there is
                    continue
                self.problem = f"kernel log not readable: {(error.strerror or '').lower()}"
                return
            if not raw:  # the kernel's own log never ends: what stands here is an empty file, or /dev/null
                self.problem = f"kernel log not readable: {self._path} is empty here"
                return
            self.problem = None
            record = parse(raw)
            if record is None or (self._after is not None and record.number <= self._after):
                continue
            self._after = self.number = record.number
            for symptom in self._symptoms(record, node):
                yield symptom

    def _symptoms(self, record: Record, node: str) -> list[Symptom]:
        if not signatures.may_match(record.text):
            return []
        # The place is the message's own number in this boot: the same message is never told twice.
        evidence = Evidence(f"kernel log of {node} (boot {self.boot})", None, record.text, record.number)
        now = time.time()
        when = now - (time.clock_gettime(time.CLOCK_BOOTTIME) - record.seconds)
        return signatures.match(record.text, Origin(node=node), evidence, when, now)


def parse(raw: bytes) -> Record | None:
    """One record as /dev/kmsg gives it: `priority,number,microseconds,flags;text`, then lines of properties."""
    head, _, rest = raw.partition(b";")
    fields = head.split(b",")
    if len(fields) < 3 or not all(field.isdigit() for field in fields[:3]):
        return None
    text = rest.partition(b"\n")[0].decode("utf-8", "replace")
    return Record(int(fields[1]), int(fields[2]) / 1e6, text)


def _to_the_end(descriptor: int) -> None:
    try:
        os.lseek(descriptor, 0, os.SEEK_END)
    except OSError as error:
        if error.errno != errno.ESPIPE:
            raise
