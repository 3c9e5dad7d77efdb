"""Summaries that a channel asked for: at its hour, once, about its own runs."""

from datetime import UTC, datetime

import pytest

from bot.digests import Digests
from bot.looking import Looking
from bot.once import Once
from handlers.arguments import WrongWords
from handlers.command import Desk
from handlers.digests import Digest, digest_of, read_time, read_zone
from tests.bot.conftest import a_run, settled

DAY = 86_400.0
NOON = datetime(2026, 11, 25, 12, 0, tzinfo=UTC).timestamp()  # a Wednesday


def moment(time, zone=UTC):
    return datetime.fromtimestamp(time, zone).strftime("%a %H:%M")


@pytest.mark.parametrize(
    ("digest", "due"),
    [
        (Digest("C1", "daily", 9), "Wed 09:00"),
        (Digest("C1", "daily", 13), "Tue 13:00"),
        (Digest("C1", "weekly", 9), "Mon 09:00"),
        (Digest("C1", "daily", 9, zone="Asia/Shanghai"), "Wed 01:00"),
        (Digest("C1", "daily", 9, zone="Nowhere/Land"), "Wed 09:00"),
        (Digest("C1", "daily", 9, last=NOON - 3 * 3600), None),
    ],
)
def test_it_is_due_at_its_own_hour(digest, due):
    """In its own zone; what was told is not due again."""
    found = digest.due_at(NOON)

    assert (moment(found) if found is not None else None) == due


def test_half_a_record_is_none():
    """Another version wrote it."""
    assert digest_of("C1", {"every": "hourly", "hour": 1, "minute": 1}) is None
    assert digest_of("C1", {"every": "daily"}) is None


@pytest.mark.parametrize(
    ("read", "word"), [(read_time, "25"), (read_time, "9:5"), (read_zone, "Mars/Sea"), (read_zone, "../x")]
)
def test_what_is_no_time_is_refused(read, word):
    """With what is right."""
    with pytest.raises(WrongWords):
        read(word)


async def test_a_channel_asks_for_it_in_words(workspace, bot, registry):
    """Set, shown, ended."""
    await workspace.slash("/runwatch", "digest weekly 08:30 Europe/Paris")
    (said,) = await workspace.until(workspace.messages)

    assert "each Monday at 08:30 (Europe/Paris)" in said["text"]
    record = (await registry.digests.all())[workspace.channel]
    assert digest_of(workspace.channel, record).due_at(await registry.now()) is None
    await workspace.slash("/runwatch", "digest off")
    await workspace.until(lambda: "no summary any more" in workspace.messages()[-1]["text"])
    assert await registry.digests.all() == {}


async def test_it_is_posted_once_with_what_is_open(workspace, bot, registry, publish, finding):
    """The same moment never twice, also when the word that it was posted is lost."""
    await a_run(registry)
    await publish(finding())
    await settled(registry, 1)
    now = await registry.now()
    there = datetime.fromtimestamp(now, UTC)
    record = {"every": "daily", "hour": there.hour, "minute": there.minute, "last": now - DAY}
    await registry.digests.put(workspace.channel, record)
    await registry.digests.put(workspace.channel_id("gpu-ops"), record)
    lease, slack = bot.monitor._lease, bot.slack
    digests = Digests(
        Desk(registry, None, lambda: "T1"),
        slack,
        Once(registry, slack, lease, Looking(slack, registry.clock)),
        "#training",
    )

    await digests.post_due(now)
    await registry.digests.put(workspace.channel, record)
    await digests.post_due(now)

    mine = [one for one in workspace.messages() if "Yesterday" in one["text"]]
    (other,) = workspace.messages("gpu-ops")
    assert len(mine) == 1
    assert "1 run (1 running)" in mine[0]["text"]
    assert "Still open" in str(mine[0]["blocks"])
    assert "no run was heard of, nothing went wrong" in other["text"]


async def test_a_summary_that_is_far_too_late_is_left_out(workspace, bot, registry, slack):
    """A bot that was down for days does not make up for it."""
    now = await registry.now()
    there = datetime.fromtimestamp(now - 8 * 3600, UTC)
    await registry.digests.put(workspace.channel, {"every": "daily", "hour": there.hour, "minute": 0, "last": 1.0})
    lease = bot.monitor._lease
    once = Once(registry, slack, lease, Looking(slack, registry.clock))

    await Digests(Desk(registry, None, lambda: "T1"), slack, once, "#training").post_due(now)

    assert workspace.messages() == []
    assert (await registry.digests.all())[workspace.channel]["last"] > 1.0
