"""The bot pings an address outside while it is well; when Slack no longer takes anything from it, it falls silent."""

import asyncio

import pytest

from bot.app import bot_running
from bot.workspace import faults
from tests.watcher.test_who_watches_the_watcher import OK, serve


async def test_a_bot_that_is_well_pings_and_one_that_is_not_does_not(workspace, settings):
    """Whoever waits outside hears of a revoked token by hearing nothing."""
    server, url, asked = await serve(OK)
    async with server, bot_running(settings(dead_man_url=url, dead_man_every_seconds=0.05)) as running:
        await workspace.connected()
        await workspace.until(lambda: running.identity.team)
        async with asyncio.timeout(60):
            while len(asked) < 2:
                await asyncio.sleep(0.02)
        workspace.faults.always("auth.test", faults.refused("token_revoked"))
        await running.slack.call("auth.test", {})
        await asyncio.sleep(1.0)  # one may be on its way
        count = len(asked)
        await asyncio.sleep(0.5)
        assert not running.health()[0]
        assert len(asked) == count


def test_a_foreign_address_is_refused_at_the_start(settings):
    """Its host must be named beside it."""
    with pytest.raises(ValueError, match="RUNWATCH_DEAD_MAN_HOSTS"):
        settings(dead_man_url="https://evil.example.net/x")
