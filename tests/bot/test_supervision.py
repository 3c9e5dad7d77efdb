# ruff: noqa: PLR0917 - pytest hands fixtures over by name
"""No half-alive bot: what fails is begun anew, what cannot be kept up ends the process, and health is red meanwhile."""

import asyncio

import aiohttp
import pytest

from bot.app import bot_running, run_bot
from bot.outbox import Outbox
from bot.pictures import Pictures
from bot.supervision import GaveUp, Patience, Supervisor
from registry.errors import RegistryAway
from registry.lease import Lease
from tests.bot.conftest import settled
from tests.ports import free_port

QUICK = Patience(waits_seconds=(0.01,), most_failures=3, within_seconds=60.0, stable_seconds=0.2)


class Failing:
    """Fails so often, then works until it is stopped."""

    def __init__(self, times, failure=None):
        self.left, self.failure, self.began = times, failure or RuntimeError("injected"), 0

    async def work(self):
        self.began += 1
        if self.left:
            self.left -= 1
            raise self.failure
        await asyncio.Event().wait()


async def until(condition):
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)


async def test_a_part_that_fails_is_begun_anew_and_shows_it_until_it_is_stable():
    """Red from the failure on, green when it has worked for a while."""
    part, supervisor = Failing(2), Supervisor(QUICK)
    supervisor.keep("part", part.work)

    await until(lambda: part.began == 3)
    assert supervisor.troubles == {"part": "RuntimeError: injected"}
    await until(lambda: not supervisor.troubles)

    await supervisor.end()


async def test_a_part_that_cannot_be_kept_up_is_given_up():
    """Whoever waits for the end is told which part it was, and why."""
    supervisor = Supervisor(QUICK)
    supervisor.keep("part", Failing(99).work)

    with pytest.raises(GaveUp, match="part failed 3 times, last with RuntimeError: injected"):
        await asyncio.wait_for(supervisor.until_given_up(), 60)
    assert "part" in supervisor.troubles


async def test_a_registry_that_is_away_is_waited_for_without_end():
    """Redis may be down for a day: that is no failure of ours."""
    part, supervisor = Failing(20, RegistryAway("down")), Supervisor(QUICK)
    supervisor.keep("part", part.work)

    await until(lambda: part.began == 21)

    await supervisor.end()


async def test_something_inside_that_was_cancelled_is_a_failure_too():
    """A part must not vanish because what it waited for was cancelled."""
    part, supervisor = Failing(1, asyncio.CancelledError()), Supervisor(QUICK)
    supervisor.keep("part", part.work)

    await until(lambda: part.began == 2)

    await supervisor.end()


async def test_a_part_that_ends_by_itself_is_well():
    """Learning who we are ends some time; that is no trouble."""
    supervisor = Supervisor(QUICK)

    await asyncio.wait_for(supervisor.keep("part", _nothing), 60)

    assert supervisor.troubles == {}


async def _nothing():
    pass


@pytest.fixture
def fails(monkeypatch):
    """Makes a method raise so often."""

    def make(owner, name, times):
        right, left = getattr(owner, name), times

        def wrong(*arguments, **options):
            nonlocal left
            if left:
                left -= 1
                raise RuntimeError("injected")
            return right(*arguments, **options)

        monkeypatch.setattr(owner, name, wrong)

    return make


@pytest.mark.parametrize(("owner", "name"), [(Outbox, "next"), (Outbox, "put"), (Lease, "keep"), (Pictures, "want")])
async def test_a_failure_anywhere_in_a_reign_is_healed(
    workspace, registry, settings, publish, finding, fails, owner, name
):
    """The announcer's loop, its queue, the keeper of the lease: the next reign tells what the failed one could not."""
    fails(owner, name, 1)

    async with bot_running(settings(), patience=QUICK):
        await publish(finding())
        await settled(registry, 1)

    assert len(workspace.messages()) == 1


async def test_a_bot_that_cannot_announce_ends_non_zero(settings, publish, finding, fails):
    """A service manager starts it afresh; half of a bot would stay for ever."""
    fails(Outbox, "next", 99)
    await publish(finding())

    assert await asyncio.wait_for(run_bot(settings(), patience=QUICK), 60) == 3


async def test_health_is_red_while_a_part_fails(settings, workspace, publish, finding, fails):
    """A probe sees what fails, in words."""
    slow = Patience(waits_seconds=(5.0,), most_failures=9, stable_seconds=5.0)
    async with bot_running(settings(health_port=free_port()), patience=slow) as bot:
        await workspace.connected()
        await workspace.until(lambda: bot.health()[0])
        fails(Outbox, "next", 99)
        await publish(finding())
        await workspace.until(lambda: not bot.health()[0])
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"http://127.0.0.1:{bot.endpoint.port}/healthz") as answer,
        ):
            status, facts = answer.status, await answer.json()

    assert status == 503
    assert facts["failing"] == {"monitor": "RuntimeError: injected"}
