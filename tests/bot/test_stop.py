"""Stopping a run from Slack: asked, confirmed by the same person, evidence first, and what is left is told."""

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from bot.app import bot_running
from tests.bot.conftest import a_run
from tests.bot.test_nodes import a_node
from watcher.agent import Agent
from watcher.settings import WatchedRun, WatcherSettings
from watcher.spool import Spool

ROOT = Path(__file__).parents[2]
OPERATORS = {"operators": ("U0ALICE", "U0BOB"), "snapshot_deadline_seconds": 30.0, "ask_deadline_seconds": 5.0}


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "logs" / "train.log"
    path.parent.mkdir()
    return path


@pytest.fixture
def job(log):
    """A real job of four ranks; its launcher writes the log."""
    command = [sys.executable, "-u", "-m", "bot.demo.job", "--step-seconds", "0.05", "--ranks", "4"]
    with log.open("ab") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, cwd=ROOT, start_new_session=True)
    yield process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.fixture
def a_watcher(registry, tmp_path, log, redis_url):
    """A real watcher of that log."""
    return partial(watching, registry, tmp_path, log, redis_url)


@asynccontextmanager
async def watching(registry, tmp_path, log, redis_url, *, allow_stop):
    settings = WatcherSettings(
        runs=(WatchedRun("run42", (str(log),), allow_stop=allow_stop),),
        node="node17",
        state_dir=tmp_path / "state",
        redis_url=redis_url,
        heartbeat_seconds=0.2,
        tell_seconds=0.1,
        gpu_seconds=0.0,
        host_seconds=0.5,
    )
    agent = Agent(settings, registry, Spool(settings.home / "spool"))
    task = asyncio.create_task(agent.watch())
    try:
        async with asyncio.timeout(60):
            while not await registry.ranks.all("run42"):
                await asyncio.sleep(0.05)
        yield agent
    finally:
        agent.stop()
        await task
        agent.publisher._disk.close()


@asynccontextmanager
async def a_bot(workspace, settings):
    async with bot_running(settings(**OPERATORS)) as running:
        await workspace.connected()
        await workspace.until(lambda: running.identity.team)
        yield running


def said(workspace, words):
    """The first message, in the channel or in a thread, that holds these words."""
    everything = [one for root in workspace.messages() for one in (root, *workspace.replies(root["ts"]))]
    return next((one for one in everything if words in str(one.get("text")) + str(one.get("blocks"))), None)


async def test_a_run_is_stopped_with_its_evidence_saved(workspace, settings, registry, a_watcher, job):
    """Snapshot, question, confirmation by the same person; then all processes are gone and the paths are told."""
    async with a_watcher(allow_stop=True), a_bot(workspace, settings):
        await workspace.slash("/snapshot", "run42 it is lost")
        answer = await workspace.until(lambda: said(workspace, "Snapshot of run42: 1 of 1 nodes"))
        await workspace.click(answer["ts"], "stop_run")
        question = await workspace.until(lambda: said(workspace, "wants to stop"))
        assert job.poll() is None
        await workspace.click(question["ts"], "confirm_stop", user="bob")
        await workspace.until(lambda: workspace.ephemerals("bob"))
        assert job.poll() is None

        await workspace.click(question["ts"], "confirm_stop")
        done = await workspace.until(lambda: said(workspace, "run42 is stopped"))

    assert "Safe to stop now" in str(answer["blocks"])
    assert str(job.pid) in str(question["blocks"])
    assert "can confirm" in workspace.ephemerals("bob")[0]["text"]
    assert "all 5 processes ended" in done["text"]
    assert job.poll() is not None
    entries = [(entry.action, entry.user, entry.result) for entry in await registry.audit.newest()]
    assert ("confirm_stop", "U0ALICE", "allowed") in entries
    assert ("stop_run", "U0ALICE", "allowed") in entries


async def test_without_permission_the_commands_are_posted(workspace, settings, a_watcher, job):
    async with a_watcher(allow_stop=False), a_bot(workspace, settings):
        await workspace.slash("/snapshot", "run42")
        answer = await workspace.until(lambda: said(workspace, "Snapshot of run42: 1 of 1 nodes"))
        await workspace.click(answer["ts"], "stop_run")
        told = await workspace.until(lambda: said(workspace, "I cannot stop it myself"))

    assert "How to stop it" in str(answer["blocks"])
    assert "Safe to stop now" in str(answer["blocks"])
    assert told["text"] == "To stop *run42*, on each node:"
    assert f"kill -TERM {job.pid}" in str(told["blocks"])
    assert job.poll() is None


async def test_who_is_no_operator_stops_nothing(workspace, settings, registry):
    """The right is asked for at the click."""
    await a_run(registry)
    asked = []

    async def save(request):
        asked.append(request.kind)
        return {"node": "node17", "bytes": 10, "files": 1, "masked": 0, "path": "/x", "pieces": []}

    async with a_node(registry, save), bot_running(settings(members_role="responder")) as running:
        await workspace.connected()
        await workspace.until(lambda: running.identity.team)
        await workspace.slash("/snapshot", "run42", user="bob")
        answer = await workspace.until(lambda: said(workspace, "Snapshot of run42"))
        await workspace.click(answer["ts"], "stop_run", user="bob")
        await workspace.until(lambda: len(workspace.ephemerals("bob")) > 1)

    assert asked == ["snapshot"]


async def test_without_all_the_evidence_nothing_is_stopped(workspace, settings, registry):
    """A node that cannot save its logs keeps the run alive; the commands are posted."""
    await a_run(registry)
    asked = []

    async def answer(request):
        asked.append(request.kind)
        if request.kind == "snapshot":
            return {"node": "node17", "path": "/x", "essential_missing": ["log_tails"], "pieces": []}
        plan = {"way": "torchrun", "processes": 9, "launchers": [{"pid": 77}], "commands": ["kill -TERM 77"]}
        return {"node": "node17", "allowed": True, **plan}

    async with a_node(registry, answer), a_bot(workspace, settings):
        await workspace.slash("/snapshot", "run42")
        snapshot = await workspace.until(lambda: said(workspace, "Snapshot of run42"))
        await workspace.click(snapshot["ts"], "stop_run")
        question = await workspace.until(lambda: said(workspace, "wants to stop"))
        await workspace.click(question["ts"], "confirm_stop")
        told = await workspace.until(lambda: said(workspace, "not complete"))

    assert "node17 lacks its logs" in str(told["blocks"])
    assert "kill -TERM 77" in str(told["blocks"])
    assert "stop" not in asked


@pytest.mark.parametrize(
    ("missing", "told"),
    [
        ([], "To stop *run42*, on each node:"),
        (["log_tails"], "To stop *run42*, save the evidence first (press Snapshot), then on each node:"),
    ],
    ids=["saved", "not all saved"],
)
async def test_who_asks_how_is_sent_to_save_only_what_is_not_saved(workspace, settings, registry, missing, told):
    """The button knows of which snapshot it is."""
    await a_run(registry)

    async def answer(request):
        if request.kind == "snapshot":
            return {"node": "node17", "path": "/x", "essential_missing": missing, "pieces": []}
        return {"node": "node17", "allowed": False, "commands": ["kill -TERM 77"]}

    async with a_node(registry, answer), a_bot(workspace, settings):
        await workspace.slash("/snapshot", "run42")
        snapshot = await workspace.until(lambda: said(workspace, "Snapshot of run42"))
        await workspace.click(snapshot["ts"], "stop_run")
        how = await workspace.until(lambda: said(workspace, "I cannot stop it myself"))

    assert how["text"] == told
