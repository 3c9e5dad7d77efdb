"""A snapshot's files in Slack, end to end: brought together in the store, and uploaded only where they may be."""

import asyncio
import io
import re
import tarfile

import pytest

from bot.app import bot_running
from registry import connect
from tests.watcher.conftest import NOBODY
from watcher.agent import Agent
from watcher.settings import WatchedRun, WatcherSettings
from watcher.spool import Spool


@pytest.fixture
async def node(redis_url, tmp_path):
    """A watcher that copies its snapshots to a shared folder."""
    log = tmp_path / "train.log"
    log.write_text("".join(f"step {step}/900 loss 2.5 grad_norm 1.0 lr 1e-4\n" for step in range(200)))
    settings = WatcherSettings(
        runs=(WatchedRun("run42", (str(log),), pids=(NOBODY,)),),
        node="node01",
        state_dir=tmp_path / "state",
        redis_url=redis_url,
        heartbeat_seconds=0.3,
        tell_seconds=0.1,
        gpu_seconds=0.0,
        snapshot_url=str(tmp_path / "shared"),
    )
    agent = Agent(settings, connect(redis_url, name="node01"), Spool(settings.home / "spool"))
    task = asyncio.create_task(agent.watch())
    async with asyncio.timeout(60):
        while not await agent.registry.ranks.all("run42"):
            await asyncio.sleep(0.05)
    yield agent
    agent.stop()
    await task
    await agent.registry.aclose()
    agent.publisher._disk.close()


@pytest.mark.parametrize("may", [True, False], ids=["allowed", "not allowed"])
async def test_the_bundle_comes_only_where_the_channel_may_have_it(workspace, settings, node, tmp_path, may):
    """Summary and small text come in any case."""
    allowed = workspace.channel_id("training") if may else "C0SOMEWHERE"
    chosen = settings(snapshot_url=str(tmp_path / "shared"), bundle_channels=(allowed,), snapshot_deadline_seconds=30.0)
    async with bot_running(chosen) as running:
        await workspace.connected()
        await workspace.until(lambda: running.identity.team)

        await workspace.slash("/snapshot", "run42")
        await workspace.until(lambda: "snapshot-run42.txt" in names(workspace))
        if may:
            await workspace.until(lambda: "snapshot-run42.tar.gz" in names(workspace))
        else:
            await asyncio.sleep(2)

    assert "Stored on each node, and together at" in str(workspace.messages())
    assert names(workspace) == {"snapshot-run42.txt"} | ({"snapshot-run42.tar.gz"} if may else set())
    if may:
        (bundle,) = (file["id"] for file in files(workspace) if file["name"].endswith(".gz"))
        with tarfile.open(fileobj=io.BytesIO(workspace.file_bytes(bundle))) as archive:
            assert any(re.fullmatch(r"node01-\w+/train\.log", name) for name in archive.getnames())


def files(workspace):
    everything = [one for root in workspace.messages() for one in (root, *workspace.replies(root["ts"]))]
    return [file for one in everything for file in one.get("files") or ()]


def names(workspace):
    return {file["name"] for file in files(workspace)}
