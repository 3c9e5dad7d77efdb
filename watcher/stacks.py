"""Python stacks of a run that stands, by py-spy: only where its owner allowed it, one at a time, stopping nobody.

Without `--nonblocking` py-spy stops a process, and hangs on one that waits in the kernel. Asking can hurt, so nobody
is asked while the run trains or starts.
"""

import shutil
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from diagnosis.node_facts import StackDump
from diagnosis.observations import ProcessSample
from diagnosis.redaction import mask
from watcher.evidence.programs import left_behind, run_to_file
from watcher.jobs import LOADER

PROGRAM = "py-spy"
EACH_SECONDS = 1.5
MOST_SECONDS = 2.5
MOST_PROCESSES = 24
MOST_BYTES = 256 << 10


def dump_stacks(processes: Iterable[ProcessSample], *, program: str = PROGRAM) -> tuple[tuple[StackDump, ...], str]:
    """The stacks that could be read in time, and in words what could not; blocking, for a thread that may wait."""
    path = shutil.which(program)
    if path is None:
        return (), f"no stacks: no {program} here"
    stuck = left_behind(path)
    if stuck:
        return (), f"no stacks: {stuck}"
    began, found, failed = time.monotonic(), list[StackDump](), list[str]()
    # The ranks themselves first: their loaders explain only those that wait for one.
    wanted = sorted(
        (one for one in processes if one.state not in {"gone", "zombie"}), key=lambda one: one.name == LOADER
    )
    with tempfile.TemporaryDirectory(prefix="runwatch-stacks-") as folder:
        for process in wanted[:MOST_PROCESSES]:
            if time.monotonic() - began > MOST_SECONDS:
                failed.append("no time was left for the others")
                break
            output = Path(folder) / str(process.pid)
            command = [path, "dump", "--nonblocking", "--pid", str(process.pid)]
            code = run_to_file(command, output, EACH_SECONDS, MOST_BYTES)
            text = output.read_text("utf-8", "replace")[:MOST_BYTES]
            if code != 0:
                why = "did not answer in time" if code is None else f"ended with exit code {code}"
                failed.append(f"{program} {why} for pid {process.pid}: {mask(text.strip()[:120]).text}")
                continue
            found.append(StackDump(process.pid, process.rank, mask(text).text, is_child=process.name == LOADER))
    return tuple(found), "; ".join(failed[:3])
