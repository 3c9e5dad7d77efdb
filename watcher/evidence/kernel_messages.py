"""What the kernel said of GPUs, memory, disks and the network, as far back as its buffer reaches."""

import os
import re

from diagnosis import signatures
from watcher.bins import Bin
from watcher.evidence.collector import Outcome, Result, Scene
from watcher.kernel_log import parse

PATH = "/dev/kmsg"
_MATTERS = re.compile(
    r"NVRM|nvidia|nvlink|nvswitch|Xid|oom|Out of memory|Killed process|hung_task|blocked for more than|mlx5|infiniband|"
    r"\bib\d|nvme|I/O error|EXT4-fs|XFS|lustre|nfs|segfault|general protection|MCE|Hardware Error|pcieport|AER|thermal",
    re.IGNORECASE,
)


class KernelMessages:
    """Filtered lines, as dmesg prints them."""

    name = "kernel_messages"
    seconds = 5.0
    bytes = 4 << 20

    def collect(self, scene: Scene, into: Bin) -> Result:  # noqa: ARG002  (the common shape of collectors)
        """Read the whole buffer without waiting."""
        try:
            descriptor = os.open(PATH, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            return Result(Outcome.UNAVAILABLE, f"kernel log not readable: {(error.strerror or '').lower()}")
        lines, read = [], 0
        try:
            while (raw := _next(descriptor)) is not None:
                into.check()
                record = parse(raw) if raw else None
                read += record is not None
                if record and (_MATTERS.search(record.text) or signatures.may_match(record.text)):
                    lines.append(f"[{record.seconds:12.6f}] {record.text}\n")
        except OSError as error:
            return Result(Outcome.UNAVAILABLE, f"kernel log not readable: {(error.strerror or '').lower()}")
        finally:
            os.close(descriptor)
        if not read:
            return Result(Outcome.UNAVAILABLE, f"kernel log not readable: {PATH} is empty here")
        if not lines:
            return Result(Outcome.EMPTY)
        into.write("kernel.log", "".join(lines))
        return Result(Outcome.COLLECTED)


def _next(descriptor: int) -> bytes | None:
    """The next record; None at the end of the buffer."""
    try:
        return os.read(descriptor, 8192) or None
    except BlockingIOError:
        return None
    except BrokenPipeError:  # overwritten while we read: go on with the next that is there
        return b""
