"""Whether something was posted: a channel is read once, and after that only what is new in it."""

import asyncio

import pytest

from bot.looking import Looking
from bot.slack import METADATA_TYPE, PAGE_TRIES
from bot.workspace import faults
from handlers.messages.blocks import Message

OLD = 401
"""Three pages."""
HOUR = 3600.0


@pytest.fixture
async def looking(workspace, slack, registry):
    """Eyes on a channel with a long past, by a clock that is known."""
    for number in range(OLD):
        told = {"event_type": METADATA_TYPE, "event_payload": {"event": f"w/e/{number}"}}
        workspace.site.messages.post(
            workspace.channel, {"user": workspace.bot_user, "text": f"{number}", "metadata": told}
        )
    workspace.site.clock.skip(HOUR)
    eyes = Looking(slack, registry.clock)
    await registry.clock.estimate()
    registry.clock._ahead += HOUR
    answer = await slack.post(workspace.channel, Message("now"), event="w/e/now")
    eyes.learn_clock(answer.data["ts"], await registry.clock.estimate())
    return eyes


def pages(workspace):
    """How often the channel was read."""
    return len(workspace.calls_of("conversations.history"))


async def test_the_second_look_reads_only_what_is_new(workspace, slack, registry, looking):
    """What stood there an hour ago is known; what came since is seen."""
    since = await registry.clock.estimate() - 2 * HOUR
    first = await looking.look(workspace.channel, None, since)
    before = pages(workspace)
    await slack.post(workspace.channel, Message("new"), event="w/e/new")

    second = await looking.look(workspace.channel, None, since + 60.0)

    assert (before, pages(workspace)) == (3, 4)
    assert second.found == first.found | {"w/e/new": workspace.messages()[-1]["ts"]}
    assert len(first.found) == OLD + 1


async def test_a_look_further_back_reads_from_there(workspace, registry, looking):
    """Nothing is known of what nobody read."""
    now = await registry.clock.estimate()
    assert len((await looking.look(workspace.channel, None, now - 60.0)).found) == 1

    assert len((await looking.look(workspace.channel, None, now - 2 * HOUR)).found) == OLD + 1


async def test_a_look_that_failed_takes_nothing_away(workspace, registry, looking):
    """The next one goes on from the last that went well."""
    since = await registry.clock.estimate() - 2 * HOUR
    await looking.look(workspace.channel, None, since)
    workspace.faults.next("conversations.history", faults.http_error(503), 3)

    assert not (await looking.look(workspace.channel, None, since)).answer.is_ok

    before = pages(workspace)
    assert len((await looking.look(workspace.channel, None, since)).found) == OLD + 1
    assert pages(workspace) == before + 1


async def test_many_who_cannot_look_find_it_out_together(workspace, registry, looking):
    """One reading that fails, and one more for those who came during it; and nobody believes an old failure."""
    since = await registry.clock.estimate() - 2 * HOUR
    before = pages(workspace)
    workspace.faults.next("conversations.history", faults.http_error(503), 2 * PAGE_TRIES)

    sights = await asyncio.gather(*(looking.look(workspace.channel, None, since) for _ in range(20)))

    assert {sight.answer.is_ok for sight in sights} == {False}
    assert pages(workspace) - before <= 2 * PAGE_TRIES
    workspace.faults.clear()
    assert (await looking.look(workspace.channel, None, since)).answer.is_ok


@pytest.mark.parametrize("is_there", [True, False])
async def test_of_many_threads_only_the_newest_are_kept(workspace, registry, looking, monkeypatch, *, is_there):
    """Also of those that cannot be read: each incident has one."""
    monkeypatch.setattr("bot.looking.KEPT_PLACES", 3)
    now = await registry.clock.estimate()
    roots = [message["ts"] for message in workspace.messages()[:4]]

    sights = [
        await looking.look(workspace.channel, root if is_there else f"{number}.000001", now)
        for number, root in enumerate(roots)
    ]

    assert [sight.answer.is_ok for sight in sights] == [is_there] * 4
    assert len(looking._locks) == 3


async def test_what_shows_late_is_seen(workspace, slack, registry, looking):
    """Slack's history lags behind its posts: a look goes back a little further than the one before."""
    since = await registry.clock.estimate() - 2 * HOUR
    workspace.site.history_lag_seconds = 20.0
    await slack.post(workspace.channel, Message("late"), event="w/e/late")
    assert "w/e/late" not in (await looking.look(workspace.channel, None, since)).found

    workspace.site.history_lag_seconds = 0.0

    assert "w/e/late" in (await looking.look(workspace.channel, None, since)).found
