"""A watcher on real files and a real registry, in this process or in one of its own."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from registry import RegistryAway, StreamId
from watcher.agent import Agent
from watcher.settings import WatchedRun, WatcherSettings
from watcher.spool import Spool

ROOT = Path(__file__).parents[2]
NOBODY = 1 << 30
"""A pid that no machine gives. A run whose processes were named takes no rank of this machine for its own by guessing:
other tests have jobs here at the same time."""


@pytest.fixture(autouse=True)
def no_courtesy(monkeypatch):
    """Snapshots step back behind everything else on the machine: on a busy one they would not come in time."""
    monkeypatch.setattr("watcher.snapshots.step_back", lambda: None)


@pytest.fixture
def settings(tmp_path, redis_url):
    """One run, followed quickly, without a GPU child."""
    logs = tmp_path / "logs"
    logs.mkdir()
    return WatcherSettings(
        runs=(WatchedRun("run42", (str(logs / "*.log"),), owner="ada", pids=(NOBODY,)),),
        node="node17",
        state_dir=tmp_path / "state",
        redis_url=redis_url,
        poll_seconds=0.02,
        wake_seconds=0.0,
        bookmark_seconds=0.05,
        heartbeat_seconds=0.1,
        tell_seconds=0.1,
        gpu_seconds=0.0,
        host_seconds=0.5,
    )


@pytest.fixture
def log(settings):
    return Path(settings.runs[0].logs[0]).parent / "rank3.log"


@pytest.fixture
async def watching(registry):
    """Start watchers in this process."""
    running = []

    async def start(settings):
        agent = Agent(settings, registry, Spool(settings.home / "spool"))
        running.append((agent, asyncio.create_task(agent.watch())))
        return agent

    yield start
    for agent, task in running:
        agent.stop()
        await task
        agent.publisher._disk.close()


async def until(look, seconds=60):
    """What `look` gives once it gives something."""
    deadline = time.monotonic() + seconds
    while True:
        found = None
        with contextlib.suppress(RegistryAway):
            found = await look()
        if found:
            return found
        assert time.monotonic() < deadline, f"never came: {look.__doc__ or look}"
        await asyncio.sleep(0.02)


async def findings(registry, kind=None):
    """Everything that watchers published."""
    streams = await registry.events.streams()
    events = await registry.events.read(dict.fromkeys(streams, 0), count=10_000)
    return [event.verdict for event in events if kind in (None, event.verdict.kind)]


class WatcherProcess:
    """A watcher in a process of its own, to be killed."""

    def __init__(self, settings):
        code = (
            "import asyncio, sys\nfrom pathlib import Path\nfrom watcher.agent import watch\n"
            "from watcher.settings import WatchedRun, WatcherSettings\n"
            f"settings = WatcherSettings(runs=(WatchedRun({settings.runs[0].name!r}, {settings.runs[0].logs!r}, pids=({NOBODY},)),), "
            f"node={settings.node!r}, state_dir=Path({str(settings.state_dir)!r}), redis_url={settings.redis_url!r}, "
            "poll_seconds=0.02, wake_seconds=0.0, bookmark_seconds=0.02, heartbeat_seconds=0.2, tell_seconds=0.1, gpu_seconds=0.0, "
            f"start_from={settings.start_from!r})\n"
            "sys.exit(asyncio.run(watch(settings)))\n"
        )
        self.process = subprocess.Popen(
            [sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE
        )

    @property
    def pid(self):
        return self.process.pid

    def kill(self):
        """End it without a chance to tidy up."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stderr.close()

    def end(self, number=signal.SIGTERM):
        """Ask it to end; its exit code."""
        self.process.send_signal(number)
        code = self.process.wait(timeout=60)
        self.process.stderr.close()
        return code


@pytest.fixture
def process(settings):
    """Start watchers in processes of their own."""
    started = []

    def start(changed=settings):
        started.append(WatcherProcess(changed))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.kill()


__all__ = ["StreamId", "WatcherProcess", "findings", "until"]
