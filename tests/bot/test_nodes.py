"""Commands that ask the nodes, with a node that answers, one that is slow and one that is silent."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from bot.app import bot_running
from diagnosis.observations import Heartbeat, Origin, Phase, ProcessSample, RankProgress
from registry import wire
from registry.audit import ALLOWED, NOT_DONE
from registry.audit import settled as settled_acts
from registry.ending import end_all
from tests.bot.conftest import WATCHER, a_run, settled


@asynccontextmanager
async def a_node(registry, answer, name=WATCHER):
    """Answers requests as a watcher does."""

    async def serve():
        while True:
            for request in await registry.requests.next(name, 1.0):
                await registry.requests.answer(request, await answer(request))

    serving = asyncio.create_task(serve())
    await asyncio.sleep(0.1)
    try:
        yield
    finally:
        await end_all([serving])


async def beat(registry, node, *, ttl=3600.0):
    now = await registry.now()
    await registry.heartbeats.beat(Heartbeat(node, node, now, runs=("run42",)), ttl=ttl)


async def test_stall_takes_the_fresh_look_of_a_node(workspace, bot, registry):
    """What the node says now wins over what the registry knew."""
    await a_run(registry)

    async def look(request):
        now = await registry.now()
        ranks = [
            RankProgress(Origin("run42", WATCHER, n, n), 210 if n != 5 else 209, now - 3, now - 3, Phase.TRAINING)
            for n in range(8)
        ]
        process = ProcessSample(WATCHER, 7, now, "python", "disk-sleep", rank=5, local_rank=5, wchan="nfs_wait")
        return {
            "node": WATCHER,
            "ranks": [wire.plain(one) for one in ranks],
            "processes": [wire.plain(process)],
            "problems": ["NVML does not answer"],
        }

    async with a_node(registry, look):
        await workspace.slash("/stall", "run42")
        (said,) = await workspace.until(workspace.messages)

    assert "*run42* trains at step 210" in said["text"]
    whole = str(said["blocks"])
    assert "state D (nfs_wait)" in whole
    assert "1 of 1 nodes answered" in whole
    assert "NVML does not answer" in whole


async def test_snapshot_says_who_answered_and_who_is_missing(workspace, bot, registry):
    """One node saved, one fell silent: complete is not claimed."""
    await a_run(registry)
    await beat(registry, "node18", ttl=0.01)
    await asyncio.sleep(0.05)

    async def save(request):
        assert request.kind == "snapshot"
        assert request.payload["note"] == "before the restart"
        assert request.payload["by"] == "U0ALICE"
        return {"node": WATCHER, "bytes": 1 << 20, "files": 3, "masked": 1, "path": "/var/rw/s1", "pieces": []}

    async with a_node(registry, save):
        await workspace.slash("/snapshot", "run42 before the restart")
        (said,) = await workspace.until(workspace.messages)

    assert "*Snapshot of run42: 1 of 2 nodes, 1.0 MiB" in said["text"]
    assert "*No answer from* node18" in said["text"]
    assert "Asking 2 nodes of *run42*" in workspace.ephemerals()[0]["text"]


async def test_the_snapshot_button_answers_in_the_thread(workspace, bot, registry, publish, finding):
    """The same from the incident, where people are."""
    await a_run(registry)
    await publish(finding())
    await settled(registry, 1)
    (root,) = workspace.messages()

    async def save(request):
        return {"node": WATCHER, "bytes": 10, "files": 1, "masked": 0, "path": "/x", "pieces": []}

    async with a_node(registry, save):
        await workspace.click(root["ts"], "snapshot")
        await workspace.until(
            lambda: any("Snapshot of run42: 1 of 1 nodes" in one["text"] for one in workspace.replies(root["ts"]))
        )


async def test_nobody_to_ask_is_said_at_once(workspace, bot, registry):
    """No watcher lives: nothing is awaited, nothing is claimed."""
    await registry.runs.see("run42", state="running")

    await workspace.slash("/snapshot", "run42")
    (said,) = await workspace.until(workspace.messages)

    assert "nobody to save anything" in said["text"]


async def test_a_mute_by_command_is_shown_and_ended(workspace, bot, registry):
    """`/runwatch mute`, `mutes`, `unmute`: each says what it did."""
    await a_run(registry)

    await workspace.slash("/runwatch", "mute run42 2h known data hole")
    await workspace.until(workspace.messages)
    await workspace.slash("/runwatch", "mutes")
    (listed,) = await workspace.until(workspace.ephemerals)
    await workspace.slash("/runwatch", "unmute run42")
    await workspace.until(lambda: len(workspace.messages()) == 2)

    assert "*run42* is quiet for 2 h" in workspace.messages()[0]["text"]
    assert "known data hole" in listed["text"]
    assert "*run42* speaks again" in workspace.messages()[1]["text"]
    assert await registry.mutes.active(await registry.now()) == {}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("mute run42 -1h", "`-1h` is no time: `15m`, `1h` or `2d`. Right is: `/runwatch mute RUN|node NODE [1h]"),
        ("mute run42 5 years", "`5` is no time: `15m`, `1h` or `2d`. Right is: `/runwatch mute RUN|node NODE [1h]"),
        ("patience run42 stall=abc", "Right is: `/runwatch patience RUN [stall=30m first=2h phase=1h]`"),
        ("unmute run42", "*run42* was not muted."),
    ],
)
async def test_what_changes_nothing_is_said_to_the_asker_alone(workspace, bot, registry, words, said):
    """With the usage of that one word; nothing is quiet, and the audit does not call it done."""
    await a_run(registry)

    await workspace.slash("/runwatch", words)
    (answer,) = await workspace.until(workspace.ephemerals)
    entries = settled_acts(list(reversed(await registry.audit.newest())))

    assert said in answer["text"]
    assert workspace.messages() == []
    assert await registry.mutes.active(await registry.now()) == {}
    assert [one.result for one in entries] == [ALLOWED if words.startswith("unmute") else NOT_DONE]


async def test_a_time_may_have_a_space_and_a_name_quotes(workspace, bot, registry):
    """As people type them."""
    await registry.runs.see("my run", state="running")

    await workspace.slash("/runwatch", "mute 'my run' 2 h it's known")
    (said,) = await workspace.until(workspace.messages)

    assert "*my run* is quiet for 2 h" in said["text"]
    (mute,) = (await registry.mutes.active(await registry.now())).values()
    assert mute["reason"] == "it's known"


async def test_commands_carry_the_prefix_of_the_workspace(workspace, settings, registry):
    """Where /loss is taken, /rw-loss answers, and the help says so."""
    await a_run(registry)
    async with bot_running(settings(command_prefix="rw-")) as running:
        await workspace.connected()
        await workspace.until(lambda: running.identity.team)
        await workspace.slash("/rw-runwatch", "help")
        (said,) = await workspace.until(workspace.ephemerals)

    assert "/rw-loss" in str(said["blocks"])


async def test_wrong_words_of_every_command_get_a_sentence(workspace, bot, registry):
    """No command answers nonsense with silence or with a failure of ours."""
    await a_run(registry)
    asked = [
        ("/stall", "run42 extra"),
        ("/stall", "nosuch --x"),
        ("/snapshot", "nosuch"),
        ("/runs", "run42"),
        ("/runwatch", "mutee run42"),
        ("/runwatch", "mute run42 9w"),
        ("/runwatch", "mute nosuch"),
        ("/loss", "'"),
    ]

    for command, words in asked:
        outcome = await workspace.slash(command, words)
        assert outcome.acked
    said = await workspace.until(lambda: len(workspace.ephemerals()) == len(asked) and workspace.ephemerals())

    assert not any("failed on my side" in one["text"] for one in said)
    assert workspace.messages() == []
