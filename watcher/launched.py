"""The watching half of `runwatch run`: told its settings and the job's end by the launcher, line by line."""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from typing import Any

from diagnosis.redaction import mask
from diagnosis.wording import duration
from watcher.agent import Agent, watch
from watcher.job_end import JobEnd
from watcher.settings import settings_from_json

_LONGEST_LINE = 1 << 20
_LONGEST_COMMAND = 200


def main() -> int:
    """Watch what the launcher started; the exit code."""
    settings = settings_from_json(_first_line())
    return asyncio.run(watch(settings, beside=follow_launcher))


async def follow_launcher(agent: Agent) -> None:
    """Wait for the word that the job has ended."""
    reader = asyncio.StreamReader(limit=_LONGEST_LINE)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    while line := await reader.readline():
        try:
            said = json.loads(line)["ended"]
            end = end_of(said)
        except (ValueError, KeyError, TypeError):
            continue
        await agent.job_ended(end)
        return
    # The launcher itself is gone without a word.
    await agent.job_ended(JobEnd(None, "the launcher was killed; how the job ended is not known", time.time()))


def _first_line() -> str:
    """Unbuffered: the second line, which may already be there, is not ours to take."""
    line = b""
    while not line.endswith(b"\n") and (byte := os.read(sys.stdin.fileno(), 1)):
        line += byte
    return line.decode()


def end_of(said: Mapping[str, Any]) -> JobEnd:
    """How the job ended, in words."""
    code, command = int(said["code"]), mask(str(said["command"])).text
    if len(command) > _LONGEST_COMMAND:
        command = command[:_LONGEST_COMMAND] + " …"
    number = -code if code < 0 else code - 128 if 128 < code < 128 + signal.NSIG else 0
    how = f"ended with exit code {code}"
    if code < 0:
        how = f"was ended by {_signal(number)}"
    elif number:
        how = f"ended with exit code {code} (128 + {number}: {_signal(number)})"
    hint = " (the kernel's OOM killer ends processes like this, and so do people and schedulers)" if number == 9 else ""
    return JobEnd(code, f"`{command}` {how} after {duration(float(said['seconds']))}{hint}", float(said["at"]))


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
