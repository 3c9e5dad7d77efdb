"""Slack hears at once that a command arrived, whatever its work is waiting for."""

import asyncio

import pytest

from bot import listeners
from bot.app import bot_running
from bot.listeners import Listeners
from bot.workspace import Workspace
from tests.servers import PATIENT

AT_ONCE = 20


def acknowledging_last(commanded):
    """The listener of a bot that works first and acknowledges then."""

    def make(self, command):
        listen = commanded(self, command)

        async def last(ack, body):
            async def nothing(*_, **__):
                pass

            await listen(nothing, body)
            await self.finish(60.0)
            await ack()

        return last

    return make


@pytest.mark.parametrize("is_first", [True, False], ids=["first", "control: after its work"])
async def test_a_command_is_acknowledged_before_its_work(settings, registry, monkeypatch, is_first):
    """The work of twenty commands stands still, for as long as it likes: each is acknowledged, and answered later."""
    may_work, really = asyncio.Event(), listeners.answers

    async def held(desk, asked_for, asked):
        await may_work.wait()
        async for reply in really(desk, asked_for, asked):
            yield reply

    monkeypatch.setattr(listeners, "answers", held)
    if not is_first:
        monkeypatch.setattr(Listeners, "_commanded", acknowledging_last(Listeners._commanded))
    patience = PATIENT if is_first else {"ack_deadline_seconds": 1.0}
    async with (
        Workspace.start(**patience) as workspace,
        bot_running(settings(slack_api_url=workspace.url)) as running,
    ):
        await workspace.connected()
        await workspace.until(lambda: running.identity.team)

        outcomes = await asyncio.gather(*(workspace.slash("/runs") for _ in range(AT_ONCE)))
        said = len(workspace.ephemerals()) + len(workspace.messages())
        may_work.set()

        if is_first:
            assert [outcome.error for outcome in outcomes] == [None] * AT_ONCE
            assert said == 0
            await workspace.until(lambda: len(workspace.ephemerals()) + len(workspace.messages()) == AT_ONCE)
        else:
            assert {outcome.error for outcome in outcomes} == {"operation_timeout"}
