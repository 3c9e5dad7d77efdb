"""Redis lost everything, incidents too: what comes again from the spools is found where it was told."""

import asyncio

import pytest

from registry import StreamId, keys, wire
from tests.bot.conftest import EPOCH, WATCHER, settled

STREAM = StreamId(WATCHER, EPOCH)


@pytest.fixture
def told(workspace, registry, monitoring, finding):
    """Tell a finding and a second one in its thread; the findings, and the root."""

    async def tell():
        findings = finding("nonfinite_loss"), finding("nonfinite_grad_norm", text="grad norm is NaN since step 41,201")
        async with monitoring(settle_seconds=0.0):
            for number, one in enumerate(findings, start=1):
                await send(registry, number, one)
                await settled(registry, number)
        [root] = workspace.messages()
        assert len(workspace.replies(root["ts"])) == 1
        return findings, root

    return tell


async def send(registry, number, verdict, *, resent=False):
    """What a watcher does; `resent`: it found its stream empty and does not know this to be settled."""
    await registry.events.register(STREAM)
    await registry.events.publish_all(STREAM, [(number, verdict.key, wire.encode(verdict))], resent=resent)


@pytest.mark.parametrize("again", [(2,), (1, 2), (2, 1)], ids=str)
async def test_nothing_is_told_again_after_incidents_were_forgotten(workspace, registry, monitoring, told, again):
    """Not what was a reply and would now open a thread, and not the other way round; the old root stays as it was."""
    findings, root = await told()
    before = workspace.replies(root["ts"])
    await registry._door.call("FLUSHALL", beside=keys.RUNS)

    async with monitoring(settle_seconds=0.0):
        for position, number in enumerate(again):
            await send(registry, 10 * (position + 1) + number, findings[number - 1], resent=True)
            await until_told(registry, 10 * (position + 1) + number)
        await asyncio.sleep(0.3)
        [incident] = (await registry.incidents.all_open()).values()

    assert [message["ts"] for message in workspace.messages()] == [root["ts"]]
    assert workspace.replies(root["ts"]) == before
    assert incident["ts"] == root["ts"]


async def until_told(registry, number):
    """Wait until this finding is settled."""
    async with asyncio.timeout(60):
        while True:
            events = [event for event in await registry.events.read({STREAM: 0}) if event.number == number]
            if not events or (await registry.ledger.state(events[0])).is_settled:
                return
            await asyncio.sleep(0.05)
