"""Reads what people show us in Slack with `runwatch inspect`, in a process of its own that can be ended."""

import asyncio
import json
import logging
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bot.downloads import download
from bot.slack import Slack
from diagnosis.errors import Mistake
from handlers.command import Inspected, SharedFile

logger = logging.getLogger(__name__)

MOST_BYTES = 256 << 20
"""Of all files of one message together."""
MOST_FILES = 16
LONGEST_SECONDS = 120.0
AT_ONCE = 2
KEPT_NAMES = ("PATH", "HOME", "LANG", "PYTHONPATH", "LD_LIBRARY_PATH")
_SAFE = re.compile(r"[^\w.\-]+")


class SlackInspector:
    """Downloads, inspects, and forgets; two questions at a time."""

    def __init__(self, slack: Slack) -> None:
        self._slack = slack
        self._slots = asyncio.Semaphore(AT_ONCE)

    async def __call__(self, pasted: str, files: Sequence[SharedFile]) -> Inspected:
        """What `inspect` finds in this text and these files.

        Raises:
            Mistake: There is nothing that can be read, or it takes too long.
        """
        async with self._slots:
            with tempfile.TemporaryDirectory(prefix="runwatch-") as folder:
                place = Path(folder) / "evidence"
                place.mkdir()
                if pasted:
                    (place / "pasted.log").write_text(pasted, encoding="utf-8", errors="replace")
                left_out = await self._fetch(files, place)
                if not any(place.iterdir()):
                    raise Mistake(f"I could not read any of these files: {'; '.join(left_out) or 'they are empty'}.")
                return await _inspected(place, Path(folder) / "loss.png", left_out)

    async def _fetch(self, files: Sequence[SharedFile], place: Path) -> list[str]:
        left_out = [f"{file.name}: more than {MOST_FILES} files" for file in files[MOST_FILES:]]
        room = MOST_BYTES
        for number, file in enumerate(files[:MOST_FILES]):
            if file.bytes > room:
                left_out.append(f"{file.name}: larger than {MOST_BYTES >> 20} MiB")
                continue
            answer, data = await download(self._slack, file.url, room)
            if data is None:
                left_out.append(f"{file.name}: {answer.error or answer.outcome}")
                continue
            room -= len(data)
            name = _SAFE.sub("_", file.name).lstrip(".")[-120:] or "file"
            (place / (name if not (place / name).exists() else f"{number}-{name}")).write_bytes(data)
        return left_out


async def _inspected(place: Path, chart: Path, left_out: Sequence[str]) -> Inspected:
    command = [sys.executable, "-m", "bot.cli", "inspect", "--json", "--chart", str(chart), str(place)]
    # Nothing of the bot's own environment is of use there, and its tokens least of all.
    kept = {name: os.environ[name] for name in KEPT_NAMES if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=Path(__file__).parents[1],
        env={**kept, "MPLBACKEND": "agg"},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(LONGEST_SECONDS):
            out, err = await process.communicate()
    except TimeoutError as slow:
        raise Mistake(f"That took longer than {LONGEST_SECONDS:.0f} s; `runwatch inspect` takes its time.") from slow
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode not in (0, 1):
        logger.warning("inspect failed with %s: %s", process.returncode, err.decode("utf-8", "replace")[-2000:])
        raise Mistake("I could not read that; it is in my log. `runwatch inspect FILE` shows more.")
    answer: dict[str, Any] = json.loads(out)
    has_curve = ((answer.get("loss") or {}).get("points") or 0) > 1
    drawn = await asyncio.to_thread(_bytes_of, chart) if has_curve else None
    return Inspected(answer, drawn, tuple(left_out))


def _bytes_of(chart: Path) -> bytes | None:
    return chart.read_bytes() if chart.exists() else None
