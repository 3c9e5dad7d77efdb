"""A finding that cannot be told goes to the dead letters, and nothing is owed for it afterwards."""

import asyncio

import pytest

from bot import announcer, telling
from bot.records import read
from diagnosis.findings import Cleared, Finding, Severity
from diagnosis.incidents import Reason
from diagnosis.observations import Origin
from tests.bot.conftest import WATCHER, settled


@pytest.fixture
def slack_seconds():
    """So long after an intent a try may still arrive, and is looked for."""
    return 0.5


@pytest.fixture
def fails(monkeypatch):
    """Makes a builder of messages fail, as often as said; who fails for ever is a bug of ours."""
    monkeypatch.setattr(announcer, "UNTELLABLE_PAUSE_SECONDS", 0.05)

    def spoil(name, is_meant, most=1_000):
        whole, left = getattr(telling, name), most

        def builder(first, *given, **more):
            nonlocal left
            if left and is_meant(first):
                left -= 1
                raise ValueError("a sentence of ours that fails")
            return whole(first, *given, **more)

        monkeypatch.setattr(telling, name, builder)

    return spoil


async def test_an_end_that_cannot_be_told_is_owed_no_longer(registry, monitoring, publish, finding, fails):
    """Its incident is over and finished: no later bot keeps it for a word that never comes."""
    fails("reply", lambda said: said.reason is Reason.RECOVERED)
    async with monitoring():
        await publish(finding())
        await settled(registry, 1)
        await publish(Cleared("nonfinite_loss", Origin("run42", "node17", 3, 3), "finite again"))
        await settled(registry, 2)
        async with asyncio.timeout(60):
            while await registry.incidents.unfinished():
                await asyncio.sleep(0.05)

    (fields,) = (await registry.incidents.recent()).values()
    assert len(await registry.ledger.dead_letters(WATCHER)) == 1
    assert not read(fields).incident.is_open
    assert read(fields).incident.calls == {}


async def test_of_a_root_that_failed_the_other_findings_are_still_told(
    workspace, registry, monitoring, publish, fails
):  # fmt: skip
    """One rank's finding is poison: the thread opens for the others."""
    fails("root", lambda _: True, most=5)
    for rank in (3, 4):
        origin = Origin("run42", "node17", rank, rank)
        await publish(Finding("nonfinite_loss", Severity.CRITICAL, origin, "loss is NaN since step 7", step=7))
    async with monitoring():
        await settled(registry, 2)
        (told,) = await workspace.until(workspace.messages)

    assert "run42" in told["text"]
    assert len(await registry.ledger.dead_letters(WATCHER)) == 1
