"""The processes of the demo: started in order, watched, ended together; each writes its own log file."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

GRACE_SECONDS = 8.0


@dataclass(slots=True)
class Member:
    """One process of the demo."""

    name: str
    process: asyncio.subprocess.Process
    log: Path


class Stopped(Exception):
    """A process of the demo ended by itself; the text shows its last words."""


@dataclass(slots=True)
class Company:
    """Starts, watches and ends the demo's processes."""

    logs: Path
    members: list[Member] = field(default_factory=list)

    async def start(self, name: str, arguments: list[str], environment: Mapping[str, str]) -> Member:
        """Start `python -m ARGUMENTS` with its output in a file of its own."""
        log = self.logs / f"{name}.log"
        with log.open("ab", buffering=0) as output:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                *arguments,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**os.environ, **environment},
                start_new_session=True,
            )
        member = Member(name, process, log)
        self.members.append(member)
        return member

    async def watch(self) -> None:
        """Return never; raise when a process ends that should live.

        Raises:
            Stopped: One did.
        """
        waits = {asyncio.ensure_future(member.process.wait()): member for member in self.members}
        try:
            done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        raise Stopped(last_words(waits[next(iter(done))]))

    async def end(self) -> None:
        """End all, the last started first; kill what does not go."""
        for member in reversed(self.members):
            if member.process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    member.process.terminate()
        for member in reversed(self.members):
            try:
                await asyncio.wait_for(member.process.wait(), GRACE_SECONDS)
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(member.process.pid, signal.SIGKILL)
                await member.process.wait()


def last_words(member: Member) -> str:
    """What a process that ended said last."""
    tail = member.log.read_text(errors="replace").splitlines()[-12:]
    return f"{member.name} ended with code {member.process.returncode}. Its last lines ({member.log}):\n" + "\n".join(
        f"  {line}" for line in tail
    )
