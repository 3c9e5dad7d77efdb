"""Writes a sample log line by line into a real file, or runs the live job into one, at the stage's pace."""

import asyncio
import os
import sys
from pathlib import Path

from bot.demo.stage import SAMPLES, LiveJob, Replay

SLOW_SECONDS = 2.0
SHORTEST_SLEEP_SECONDS = 0.01


async def play(part: Replay | LiveJob, log: Path) -> None:
    """Perform one part of the stage into `log`; returns when it is over."""
    await asyncio.sleep(part.starts_after_seconds)
    if isinstance(part, Replay):
        await _replay(part, log)
    else:
        await _perform(part, log)


async def _replay(part: Replay, log: Path) -> None:
    # A bar that redraws itself is one line: piece by piece it would last for minutes.
    lines = [line + b"\n" for line in (SAMPLES / part.sample).read_bytes().removesuffix(b"\n").split(b"\n")]
    quick = part.quick_lines or len(lines)
    pause = part.lasts_seconds / quick
    loop = asyncio.get_running_loop()
    started = loop.time()
    with log.open("ab", buffering=0) as file:
        for number, line in enumerate(lines):
            file.write(line)
            due = started + min(number + 1, quick) * pause + max(number + 1 - quick, 0) * SLOW_SECONDS
            if due - loop.time() > SHORTEST_SLEEP_SECONDS:
                await asyncio.sleep(due - loop.time())
        file.write(part.last_words.encode())


async def _perform(part: LiveJob, log: Path) -> None:
    home = log.parent / f"{part.run}.work"
    with log.open("ab", buffering=0) as output:
        job = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "bot.demo.job",
            *part.arguments,
            "--dir",
            str(home),
            stdout=output,
            stderr=output,
            start_new_session=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
    try:
        await job.wait()
    finally:
        if job.returncode is None:
            job.terminate()
            await job.wait()
