"""One try per call, a total deadline, a named outcome; nothing is ever sent twice by the door itself."""

import asyncio

import pytest

from bot import slack as slack_module
from bot.slack import Slack
from bot.slack_answers import NotAnswered, Outcome, wait_of
from bot.workspace import Workspace, faults
from handlers.messages.blocks import Message

HELLO = Message("hello")


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        (None, Outcome.OK),
        (faults.http_error(500), Outcome.UNCLEAR),
        (faults.http_error(503, "upstream connect error", done=True), Outcome.UNCLEAR),
        (faults.html(200, done=True), Outcome.UNCLEAR),
        (faults.html(502), Outcome.UNCLEAR),
        (faults.refused("fatal_error", done=True), Outcome.UNCLEAR),
        (faults.refused("internal_error"), Outcome.UNCLEAR),
        (faults.refused("is_archived"), Outcome.REFUSED),
        (faults.refused("token_revoked"), Outcome.REFUSED),
        (faults.rate_limited(7), Outcome.LIMITED),
        (faults.cut_before(), Outcome.UNCLEAR),
        (faults.cut_after(), Outcome.UNCLEAR),
        (faults.slow(3.0, done=True), Outcome.UNCLEAR),
        (faults.drip(0.5), Outcome.UNCLEAR),
    ],
    ids=lambda value: f"{value.kind}{value.status}{value.error}" if isinstance(value, faults.Fault) else str(value),
)
async def test_every_answer_has_its_name_and_is_asked_for_once(workspace, slack, fault, outcome):
    """Whatever comes back, the server saw exactly one call."""
    if fault is not None:
        workspace.faults.next("chat.postMessage", fault)

    answer = await slack.post(workspace.channel, HELLO)

    assert answer.outcome is outcome
    assert len(workspace.calls_of("chat.postMessage")) <= 1
    assert len(workspace.messages()) <= 1


async def test_nobody_there_is_away(workspace):
    """A connection that was refused sent nothing."""
    door = Slack("xoxb-1", "http://127.0.0.1:1/api/", deadline_seconds=2.0)

    answer = await door.post("C1", HELLO)

    assert answer.outcome is Outcome.AWAY
    await door.aclose()


@pytest.mark.parametrize(
    ("times", "is_deaf"), [((0, 30), False), ((0, 30, 65), True), ((0, 7200), False), ((0, 7200, 7265), True)]
)
async def test_a_slack_that_answers_nothing_is_deaf(monkeypatch, times, is_deaf):
    """For a minute, and by calls that follow each other: one that failed two hours ago says nothing of now."""
    door = Slack("xoxb-1", "http://127.0.0.1:1/api/", deadline_seconds=2.0)

    for now in times:
        with monkeypatch.context() as then:
            then.setattr(slack_module.time, "monotonic", lambda now=now: 1000.0 + now)
            door._note_answer(1000.0 + now, is_answered=False)
            told = door.is_deaf

    assert told is is_deaf


async def test_a_429_closes_its_channel_for_as_long_as_slack_says():
    """The next post waits; nothing goes early."""
    async with Workspace.start() as workspace:
        door = Slack(workspace.bot_token, workspace.url, post_interval_seconds=0.0)
        workspace.faults.next("chat.postMessage", faults.rate_limited(1))

        limited = await door.post(workspace.channel, HELLO)
        answer = await door.post(workspace.channel, HELLO)

        assert (limited.outcome, limited.retry_after) == (Outcome.LIMITED, 1.0)
        assert answer.is_ok
        first, second = workspace.calls_of("chat.postMessage")
        assert second.at - first.at >= 1.0
        await door.aclose()


async def test_our_messages_are_found_again_by_their_finding(workspace, slack):
    """Roots in the channel, replies in their thread, by id and by key."""
    root = await slack.post(workspace.channel, HELLO, event="w/e/1", key="abc")
    await slack.post(workspace.channel, HELLO, thread_ts=root.data["ts"], event="w/e/2")

    answer, roots = await slack.posted(workspace.channel, 0.0)
    _, replies = await slack.posted(workspace.channel, 0.0, root.data["ts"])

    assert answer.is_ok
    assert roots == {"w/e/1": root.data["ts"], "abc": root.data["ts"]}
    assert "w/e/2" in replies


async def test_a_long_channel_is_read_to_its_end_although_pages_fail(workspace, slack):
    """A page is asked for again by itself, not the whole channel from its beginning."""
    root = await slack.post(workspace.channel, HELLO, event="w/e/1")
    for number in range(401):
        workspace.site.messages.post(workspace.channel, {"user": workspace.bot_user, "text": f"{number}"})
    workspace.faults.next("conversations.history", faults.html(502))
    workspace.faults.next("conversations.history", faults.cut_before())

    answer, roots = await slack.posted(workspace.channel, 0.0)

    assert answer.is_ok
    assert roots == {"w/e/1": root.data["ts"]}
    assert len(workspace.calls_of("conversations.history")) == 2 + 3


async def test_a_channel_is_known_by_name_or_id(workspace, slack):
    """`#training` and its id are the same place; an unknown name is none."""
    assert await slack.channel_id("#training") == workspace.channel
    assert await slack.channel_id("training") == workspace.channel
    assert await slack.channel_id(workspace.channel) == workspace.channel
    assert await slack.channel_id("#nowhere") is None


async def test_many_that_need_a_channel_ask_for_it_once(workspace, slack):
    """Slack gives its list twenty times a minute; a storm's first incidents need it all at once."""
    found = await asyncio.gather(*(slack.channel_id("#training") for _ in range(20)))

    assert found == [workspace.channel] * 20
    assert len(workspace.calls_of("conversations.list")) == 1


async def test_a_list_of_channels_that_could_not_be_read_is_no_answer(workspace, slack):
    """A name alone is not enough: only by its id a channel can be searched for what may have arrived."""
    workspace.faults.next("conversations.list", faults.html(502))

    with pytest.raises(NotAnswered, match=r"conversations\.list"):
        await slack.channel_id("#training")

    assert await slack.channel_id("#training") == workspace.channel


async def test_a_file_is_shared_into_its_thread(workspace, slack):
    """Three steps, no alt_txt, and it can be seen there."""
    root = await slack.post(workspace.channel, HELLO)

    answer = await slack.upload("a.png", b"\x89PNG123", "chart", workspace.channel, root.data["ts"])
    await workspace.until(lambda: workspace.replies(root.data["ts"]))

    assert answer.is_ok
    assert set(await slack.files_in(workspace.channel, root.data["ts"])) == {"a.png"}
    assert await slack.is_shared(answer.data["file_id"], workspace.channel)
    assert all("alt_txt" not in call.args for call in workspace.calls_of("files.getUploadURLExternal"))


async def test_a_search_never_waits_behind_charts(workspace, slack, monkeypatch):
    """Slack lets threads be read fifty times a minute: whether a message arrived is asked before what charts ask."""
    monkeypatch.setitem(slack_module.TIERS, "conversations.replies", (0.2, 1))
    root = await slack.post(workspace.channel, HELLO)
    ts = root.data["ts"]
    charts = [asyncio.create_task(slack.files_in(workspace.channel, ts)) for _ in range(4)]
    await asyncio.sleep(0)

    await slack.posted(workspace.channel, 0.0, ts)

    assert sum(chart.done() for chart in charts) <= 1
    await asyncio.gather(*charts)


async def test_a_fenced_post_is_never_sent(workspace, slack):
    """Whoever lost the right to speak does not."""

    async def no():
        return False

    answer = await slack.post(workspace.channel, HELLO, fence=no)

    assert answer.outcome is Outcome.FENCED
    assert workspace.calls_of("chat.postMessage") == []


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("1", 1.0),
        ("30", 30.0),
        ("3600", 3600.0),
        ("0", 1.0),
        (None, 5.0),
        ("Thu, 01 Jan 1970 00:01:40 GMT", 90.0),
        ("soon", 5.0),
    ],
)
def test_retry_after_is_read_in_every_form(header, seconds):
    """Seconds, a date, nothing, or nonsense: never early, never for ever."""
    assert wait_of(header, 10.0) == pytest.approx(seconds)
