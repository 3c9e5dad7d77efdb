"""The whole product as real processes: server, workspace, bot, watcher; what the other benchmarks measure."""

import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.workspace import Workspace
from registry import Registry, connect
from registry.embedded import Embedded


@dataclass(slots=True)
class Whole:
    """Everything that runs, and its folder."""

    home: Path
    slack: Workspace
    registry: Registry
    environment: Mapping[str, str]
    processes: dict[str, asyncio.subprocess.Process] = field(default_factory=dict)

    async def start(self, name: str, arguments: Sequence[str], **environment: str) -> asyncio.subprocess.Process:
        """Start `runwatch ARGUMENTS`."""
        log = (self.home / f"{name}.log").open("ab")
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "bot.cli",
            *arguments,
            stdout=log,
            stderr=log,
            env={**os.environ, **self.environment, **environment},
        )
        log.close()
        self.processes[name] = process
        return process

    async def stop(self, name: str) -> None:
        """End one of them."""
        process = self.processes.pop(name)
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
            await process.wait()


@asynccontextmanager
async def whole(*, bot: bool = True, **slack_settings: Any) -> AsyncIterator[Whole]:
    """A fresh server, a workspace without rate limit (unless asked), and a bot that is connected."""
    with tempfile.TemporaryDirectory(prefix="runwatch-bench-") as name, Embedded.start(Path(name) / "redis") as server:
        async with Workspace.start(**{"rate_limit": False, **slack_settings}) as slack:
            registry = connect(server.url, "bench")
            environment = {
                "REDIS_URL": server.url,
                "SLACK_API_URL": slack.url,
                "SLACK_BOT_TOKEN": slack.bot_token,
                "SLACK_APP_TOKEN": slack.app_token,
                "RUNWATCH_CHANNEL": slack.channel,
                "RUNWATCH_CHANNEL_INTERVAL": "1ms",
                "RUNWATCH_GPU": "0s",
            }
            everything = Whole(Path(name), slack, registry, environment)
            try:
                if bot:
                    await everything.start("bot", ["bot"])
                    await slack.connected(60.0)
                yield everything
            finally:
                for process in list(everything.processes):
                    await everything.stop(process)
                await registry.aclose()


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def spread(values: Sequence[float]) -> str:
    """p50, p95, p99 and the largest, as people compare them."""
    p50, p95, p99 = (percentile(values, share) for share in (0.5, 0.95, 0.99))
    return f"p50 {p50:.3f} s, p95 {p95:.3f} s, p99 {p99:.3f} s, largest {max(values):.3f} s"
