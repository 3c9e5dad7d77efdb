"""After long silence one line says that all is watched; nothing of it where nobody asked for it."""

import pytest

from bot.looking import Looking
from bot.once import Once
from bot.self_test import SelfTest
from diagnosis.observations import Heartbeat
from handlers.command import Desk
from tests.bot.conftest import a_run, settled

DAY = 86_400.0


@pytest.fixture
async def told(workspace, registry, slack):
    """What a fresh bot says at a time."""
    lease = registry.lease("self-test", 300.0)
    await lease.take()

    async def no_chart(*_args, **_kwargs):
        raise AssertionError("nothing is drawn")

    def a_bot(after=DAY):
        once = Once(registry, slack, lease, Looking(slack, registry.clock), 2.0)
        return SelfTest(Desk(registry, no_chart, lambda: "T1"), slack, once, "#training", after)

    return a_bot


async def texts(workspace):
    return [one["text"] for one in workspace.messages() if "Nothing to tell" in one["text"]]


async def test_a_silent_day_gets_one_line_and_the_next_another(workspace, registry, monitoring, publish, finding, told):  # noqa: PLR0917
    """Counted from the newest change of an incident; how many are followed and heard stands below."""
    await a_run(registry)
    await registry.heartbeats.beat(Heartbeat("node9", "node9", 1.0, runs=("run42",)), ttl=-1.0)
    async with monitoring():
        await publish(finding())
        await settled(registry, 1)
    now, bot = await registry.now(), told()

    await bot.post_due(now + 0.5 * DAY)
    assert await texts(workspace) == []
    for later in (1.1, 1.2, 1.9, 2.1):
        await bot.post_due(now + later * DAY)

    assert await texts(workspace) == [
        "*Nothing to tell* for 24 h, and this message got through.",
        "*Nothing to tell* for 2 d, and this message got through.",
    ]
    below = str(workspace.messages()[-1]["blocks"])
    assert "runs in training: 1 · watchers heard: 1 · watchers silent: 1" in below


async def test_another_bot_does_not_say_it_again(workspace, registry, told, monkeypatch):
    """It looks into the channel first."""
    now = await registry.now()

    async def recent(_limit):
        return {"i1": {"saved_at": now - 1.1 * DAY}}

    monkeypatch.setattr(registry.incidents, "recent", recent)

    await told().post_due(now)
    await told().post_due(now + 60.0)

    assert len(await texts(workspace)) == 1


async def test_nobody_asked(workspace, registry, told):
    """The default says nothing, ever."""
    await told(after=0.0).post_due(await registry.now() + 99 * DAY)

    assert workspace.messages() == []


async def test_the_first_word_of_a_new_place(workspace, registry, told):
    """Where nothing was ever told it does not speak of a silence of fifty years."""
    await told().post_due(await registry.now())

    (only,) = workspace.messages()
    assert only["text"] == "*Runwatch is here* and has told of nothing yet."
