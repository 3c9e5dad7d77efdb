"""Can a watcher here see what it needs: logs, GPUs, processes, the kernel's log, a disk for its spool?"""

import asyncio
import contextlib
import glob
import json
import os
import shutil
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

from bot.checkup.check import Check, fine, not_looked, warning, wrong
from bot.checkup.patient import Patient

GPU_SECONDS = 10.0
NEEDED_BYTES = 1 << 30


async def check_node(patient: Patient) -> AsyncIterator[Check]:
    """The state folder, the logs, the GPUs, the kernel log."""
    yield _state_folder(patient.watcher.state_dir)
    if not patient.watcher.runs:
        yield not_looked("logs", "no [[runs]] in a settings file here")
    for run in patient.watcher.runs:
        for pattern in run.logs:
            yield _logs(run.name, pattern)
    yield await _gpus()
    yield _kernel_log()


def _state_folder(folder: Path) -> Check:
    there = next(place for place in (folder, *folder.parents) if place.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        return wrong("state folder", f"{folder} cannot be written", "Set RUNWATCH_STATE_DIR to a folder of your own.")
    free = shutil.disk_usage(there).free
    if free < NEEDED_BYTES:
        said = f"{folder}: {free / 2**20:.0f} MiB free"
        return warning("state folder", said, "Snapshots need room: free 1 GiB, or set RUNWATCH_STATE_DIR elsewhere.")
    return fine("state folder", f"{folder} ({free / 2**30:.0f} GiB free)")


def _logs(run: str, pattern: str) -> Check:
    files = [Path(name) for name in glob.glob(pattern, recursive=True)]  # noqa: PTH207 - the pattern is absolute or not
    if not files:
        return warning(
            f"logs of {run}", f"nothing matches {pattern} yet", "The watcher waits for it; is the path right?"
        )
    closed = [file for file in files if not os.access(file, os.R_OK)]
    if closed:
        remedy = "Add the watcher's user to the log's group, or: setfacl -m u:runwatch:r FILE"
        return wrong(f"logs of {run}", f"{closed[0]} cannot be read", remedy)
    age = time.time() - max(file.stat().st_mtime for file in files)
    return fine(f"logs of {run}", f"{len(files)} file{'' if len(files) == 1 else 's'}, last written {age:.0f} s ago")


async def _gpus() -> Check:
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "watcher.gpu_child",
        "60",
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert child.stdout is not None
    try:
        line = await asyncio.wait_for(child.stdout.readline(), GPU_SECONDS)
    except TimeoutError:
        remedy = "The driver hangs: look at dmesg for Xid lines; the watcher works on without GPU samples."
        return wrong("GPUs", f"NVML has not answered for {GPU_SECONDS:.0f} s", remedy)
    finally:
        with contextlib.suppress(ProcessLookupError):
            child.kill()
    said = json.loads(line or b"{}")
    if said.get("gpus"):
        return fine("GPUs", f"{len(said['gpus'])} seen, driver {said.get('driver')}")
    if said.get("no_driver"):
        return not_looked("GPUs", f"{said.get('problem')}; the watcher works without GPU samples")
    return wrong(
        "GPUs", str(said.get("problem", "NVML said nothing")), "nvidia-smi on this node says the same; see docs."
    )


def _kernel_log() -> Check:
    try:
        os.close(os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK))
    except OSError as refused:
        remedy = "For Xid and OOM lines: run as root, with CAP_SYSLOG, or kernel.dmesg_restrict=0."
        return warning("kernel log", f"not readable ({refused.strerror})", remedy)
    return fine("kernel log", "readable")
