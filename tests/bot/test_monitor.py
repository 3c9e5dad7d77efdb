# ruff: noqa: PLR0917 - pytest hands fixtures over by name
"""From a published finding to a thread in Slack: once, whatever happens on the way."""

import asyncio

import pytest

from bot.workspace import faults
from bot.workspace.mrkdwn import links, pings
from diagnosis.findings import Cleared
from diagnosis.observations import Origin
from handlers.acts import ask_announcer
from handlers.messages.blocks import Message
from registry import Place, StreamId
from tests.bot.conftest import EPOCH, WATCHER, settled
from tests.handlers.messages.test_escaping import ATTACKS


def texts(messages):
    return [message["text"] for message in messages]


async def test_a_finding_becomes_one_root_message(workspace, registry, monitoring, publish, finding):
    """What, where and since when stand in the first line, and the finding is settled."""
    async with monitoring():
        await publish(finding())
        await settled(registry, 1)

    (root,) = workspace.messages()
    assert "*run42 · loss is NaN since step 41,200*" in root["text"]
    assert "rank 3 (node17)" in root["text"]
    assert root["metadata"]["event_payload"]["event"] == f"{WATCHER}/{EPOCH}/1"


async def test_ranks_join_by_editing_the_root(workspace, registry, monitoring, publish, finding):
    """Eight ranks are one message without replies, and all findings are settled."""
    async with monitoring():
        for rank in range(8):
            await publish(finding(rank=rank))
        await settled(registry, 8)

    (root,) = workspace.messages()
    assert "8 ranks" in root["text"]
    assert workspace.replies(root["ts"]) == []


async def test_a_reply_that_a_bot_could_not_post_any_more_is_posted_by_the_next(
    workspace, registry, monitoring, publish, finding
):
    """The root went first and its record knows of the recovery; that word is owed until it was said."""
    await publish(finding())
    await publish(Cleared("nonfinite_loss", Origin("run42", "node17", 3), "loss is finite again at step 41,300"))
    workspace.faults.next("chat.postMessage", faults.slow(0.0))
    workspace.faults.always("chat.postMessage", faults.http_error(500))
    async with monitoring(grace=0.2):
        await workspace.until(lambda: len(workspace.calls_of("chat.postMessage")) > 1)
    workspace.faults.clear()
    (root,) = workspace.messages()
    was_said = workspace.replies(root["ts"])

    async with monitoring():
        await settled(registry, 2)

    assert was_said == []
    assert [reply["text"].startswith("Over ") for reply in workspace.replies(root["ts"])] == [True]


async def test_a_recovery_is_a_reply_and_an_edit(workspace, registry, monitoring, publish, finding):
    """The thread says that it is over, and the root shows it with no button but the report."""
    async with monitoring():
        await publish(finding())
        await publish(Cleared("nonfinite_loss", Origin("run42", "node17", 3), "loss is finite again at step 41,300"))
        await settled(registry, 2)
        await workspace.until(lambda: workspace.messages()[0]["text"].startswith("✅"))

    (root,) = workspace.messages()
    (reply,) = workspace.replies(root["ts"])
    assert "loss is finite again at step 41,300" in reply["text"]
    assert [one["value"] for block in root["blocks"] for one in block.get("elements", ()) if "value" in one] == [
        f"report/{next(iter(await registry.incidents.recent()))}"
    ]


@pytest.mark.parametrize(
    "fault",
    [
        faults.http_error(500),
        faults.http_error(500, done=True),
        faults.html(502, done=True),
        faults.html(200, done=True),
        faults.refused("fatal_error"),
        faults.refused("fatal_error", done=True),
        faults.cut_before(),
        faults.cut_after(),
        faults.slow(2.5, done=True),
        faults.slow(3.5),
        faults.rate_limited(1),
        faults.http_error(503, "text", done=True),
    ],
    ids=lambda fault: f"{fault.kind}{fault.status}{fault.error}{'-done' if fault.done else ''}",
)
async def test_a_faulty_answer_neither_loses_nor_doubles(workspace, registry, monitoring, publish, finding, fault):
    """Whether or not Slack took the message before the answer went wrong, there is exactly one."""
    workspace.faults.next("chat.postMessage", fault)

    async with monitoring():
        await publish(finding())
        await settled(registry, 1)

    assert len(workspace.messages()) == 1


async def test_an_intent_in_flight_is_looked_for_after_a_restart(
    workspace, registry, monitoring, publish, finding, slack
):
    """The bot died between Slack's ok and its own note: the next one finds the message and goes on with it."""
    await publish(finding(rank=0))
    (event,) = await registry.events.read(await registry.ledger.settled_all(await registry.events.streams()))
    await registry.ledger.intent(event, workspace.channel)
    posted = await slack.post(workspace.channel, Message("the first bot's root"), event=event.id)

    async with monitoring():
        await settled(registry, 1)
        await publish(finding(rank=1))
        await settled(registry, 2)

    (root,) = workspace.messages()
    assert root["ts"] == posted.data["ts"]
    assert "2 ranks" in root["text"]


async def test_an_intent_that_never_arrived_is_posted(workspace, registry, monitoring, publish, finding):
    """The bot died before Slack got anything: the next one looks, finds nothing and posts."""
    await publish(finding())
    (event,) = await registry.events.read(await registry.ledger.settled_all(await registry.events.streams()))
    await registry.ledger.intent(event, workspace.channel)

    async with monitoring():
        await settled(registry, 1)

    assert len(workspace.messages()) == 1


async def test_a_restarted_bot_knows_its_threads(workspace, registry, monitoring, publish, finding):
    """After a restart new ranks join the old thread, and nothing is said again."""
    async with monitoring():
        await publish(finding(rank=0))
        await settled(registry, 1)

    async with monitoring():
        await publish(finding(rank=1))
        await settled(registry, 2)

    (root,) = workspace.messages()
    assert "2 ranks" in root["text"]


async def test_an_unreadable_channel_gets_a_marked_repeat(workspace, registry, monitoring, publish, finding):
    """Neither yes nor no could be had for the time allowed: better twice, and labelled, than never."""
    workspace.faults.next("chat.postMessage", faults.cut_after())
    workspace.faults.always("conversations.history", faults.http_error(503))

    async with monitoring():
        await publish(finding())
        await settled(registry, 1)

    first, second = workspace.messages()
    assert "This may be a repeat" not in str(first["blocks"])
    assert "This may be a repeat" in str(second["blocks"])


async def test_an_archived_channel_falls_back_with_the_reason(workspace, registry, monitoring, publish, finding):
    """A channel that takes nothing never swallows an alert."""
    other = workspace.add_channel("fallback")
    workspace.archive()

    async with monitoring(fallback="#fallback"):
        await publish(finding())
        await settled(registry, 1)

    (root,) = workspace.messages(other)
    assert "is_archived" in str(root["blocks"])


async def test_a_refused_shape_is_sent_short(workspace, registry, monitoring, publish, finding):
    """A message Slack will not take is never dropped."""
    workspace.faults.next("chat.postMessage", faults.refused("invalid_blocks"))

    async with monitoring():
        await publish(finding())
        await settled(registry, 1)

    (root,) = workspace.messages()
    assert "loss is NaN" in root["text"]


async def test_a_revoked_token_keeps_everything(workspace, registry, monitoring, publish, finding):
    """Nothing is sent while the token is bad, and nothing is lost when it is mended."""
    workspace.refuse_tokens("token_revoked")

    async with monitoring():
        await publish(finding())
        await workspace.until(lambda: workspace.calls_of("chat.postMessage"))
        assert workspace.messages() == []
        workspace.refuse_tokens(None)
        await settled(registry, 1)

    assert len(workspace.messages()) == 1


async def test_a_deleted_root_is_posted_anew_once(workspace, registry, monitoring, publish, finding, slack):
    """Somebody deleted the alert: the next change brings it back, with the news."""
    async with monitoring():
        await publish(finding(rank=0))
        await settled(registry, 1)
        await slack.call("chat.delete", {"channel": workspace.channel, "ts": workspace.messages()[0]["ts"]})
        await publish(finding(rank=1))
        await settled(registry, 2)

    (root,) = workspace.messages()
    assert "2 ranks" in root["text"]


async def test_an_answer_to_a_deleted_root_becomes_the_new_root(
    workspace, registry, monitoring, publish, finding, slack
):
    """Slack puts it into the channel without a word; it is made the thread's head, and the next answer goes below."""
    async with monitoring(settle_seconds=0.0):
        await publish(finding(rank=0))
        await settled(registry, 1)
        await slack.call("chat.delete", {"channel": workspace.channel, "ts": workspace.messages()[0]["ts"]})
        await publish(finding("nonfinite_grad_norm", rank=0, step=41_500))
        await settled(registry, 2)
        await workspace.until(lambda: "*run42" in workspace.messages()[0]["text"])
        (root,) = workspace.messages()
        await publish(finding("loss_zero", rank=0, step=41_600))
        await settled(registry, 3)

    assert [one["ts"] for one in workspace.messages()] == [root["ts"]]
    assert len(workspace.replies(root["ts"])) == 1


async def test_a_deleted_root_comes_back_with_news_only(workspace, registry, monitoring, publish, finding, slack):
    """Who deleted it does not want it back because somebody acknowledged; the next finding is another thing."""
    async with monitoring():
        await publish(finding(rank=0))
        await settled(registry, 1)
        (incident,) = await registry.incidents.all_open()
        await slack.call("chat.delete", {"channel": workspace.channel, "ts": workspace.messages()[0]["ts"]})
        await ask_announcer(registry, "acknowledge", {"incident": incident, "by": "U0ALICE"})
        await workspace.until(lambda: workspace.calls_of("chat.update"))
        await asyncio.sleep(0.5)
        assert workspace.messages() == []
        await publish(finding(rank=1))
        await settled(registry, 2)

    (root,) = workspace.messages()
    assert "2 ranks" in root["text"]
    assert "<@U0ALICE> has it" in str(root["blocks"])


async def test_a_deleted_root_is_left_alone_when_it_is_over(workspace, registry, monitoring, publish, finding, slack):
    """The end of what somebody deleted is settled, and nothing is tried for ever."""
    async with monitoring():
        await publish(finding())
        await settled(registry, 1)
        (incident,) = await registry.incidents.all_open()
        await slack.call("chat.delete", {"channel": workspace.channel, "ts": workspace.messages()[0]["ts"]})
        await ask_announcer(registry, "acknowledge", {"incident": incident, "by": "U0ALICE"})
        await workspace.until(lambda: workspace.calls_of("chat.update"))
        await publish(Cleared("nonfinite_loss", Origin("run42", "node17", 3), "loss is finite again"))
        await settled(registry, 2)

    assert workspace.messages() == []


async def test_an_unreadable_finding_goes_to_the_dead_letters(workspace, registry, monitoring, publish, finding):
    """One bad entry never stops the ones behind it."""
    await publish(finding(rank=0))
    await registry.events.publish(WATCHER, EPOCH, 2, b"\xffnot json")
    await registry.events.publish(WATCHER, EPOCH, 3, b"{}")

    async with monitoring():
        await settled(registry, 3)

    assert sorted(await registry.ledger.dead_letters(WATCHER)) == ["e1:2", "e1:3"]
    assert len(workspace.messages()) == 1


async def test_only_one_of_two_bots_speaks(workspace, registry, monitoring, publish, finding):
    """Two bots, one lease: each finding is told once."""
    async with monitoring() as first, monitoring() as second:
        for rank in range(5):
            await publish(finding(run=f"run{rank}"))
        await settled(registry, 5)
        assert first.is_reigning != second.is_reigning

    assert len(workspace.messages()) == 5


async def test_an_acknowledgement_shows_in_the_root(workspace, registry, monitoring, publish, finding):
    """A person takes it: the announcing bot changes the root and says who has it."""
    async with monitoring():
        await publish(finding())
        await settled(registry, 1)
        (incident,) = await registry.incidents.all_open()
        first = await ask_announcer(registry, "acknowledge", {"incident": incident, "by": "U0ALICE"})
        second = await ask_announcer(registry, "acknowledge", {"incident": incident, "by": "U0BOB"})
        await workspace.until(lambda: "<@U0ALICE> has it" in str(workspace.messages()[0]["blocks"]))

    assert (first.is_done, first.owner) == (True, "U0ALICE")
    assert (second.is_done, second.owner) == (False, "U0ALICE")


async def test_a_muted_run_is_recorded_and_quiet(workspace, registry, monitoring, publish, finding):
    """Nothing is said while a mute holds; when it is taken back, what still fires is said."""
    now = await registry.now()
    await registry.mutes.add("m1", now + 3600, {"run": "run42", "by": "U0ALICE"})

    async with monitoring():
        await asyncio.sleep(0.8)
        await publish(finding())
        await settled(registry, 1)
        assert workspace.messages() == []
        await registry.mutes.remove("m1")
        await workspace.until(workspace.messages)

    assert len(workspace.messages()) == 1


async def test_what_was_told_elsewhere_is_not_told_again(workspace, registry, monitoring, publish, finding):
    """A finding that is settled in the ledger is never handled again."""
    await publish(finding())
    (event,) = await registry.events.read(await registry.ledger.settled_all(await registry.events.streams()))
    await registry.ledger.delivered(event, Place("C1", "1.0"))

    async with monitoring():
        await publish(finding(run="other"))
        await settled(registry, 2)

    assert len(workspace.messages()) == 1


async def test_a_stopping_bot_finishes_the_post_in_hand(workspace, registry, monitoring, publish, finding):
    """SIGTERM in the middle of a slow answer: the message is there and written down, once."""
    workspace.faults.next("chat.postMessage", faults.slow(1.0, done=True))

    async with monitoring():
        await publish(finding())
        await workspace.until(workspace.messages)
    told = await registry.ledger.settled(StreamId(WATCHER, EPOCH))
    async with monitoring():
        await asyncio.sleep(0.5)

    assert told == 1
    assert len(workspace.messages()) == 1


@pytest.mark.parametrize("attack", ATTACKS)
async def test_hostile_log_text_pings_nobody_and_links_nowhere(
    workspace, registry, monitoring, publish, finding, attack
):
    """Whatever stands in the log, the run's name or the finding's words: shown, never done."""
    async with monitoring():
        await publish(
            finding(line=attack, text=attack, run=f"run {attack}"[:60], details={"more": attack}, rule=attack)
        )
        await publish(finding("nonfinite_grad_norm", line=attack, text=attack, run=f"run {attack}"[:60], attempt=2))
        await settled(registry, 2)

    shown = workspace.all_messages()
    assert len(shown) == 2
    assert [pings(message) for message in shown] == [[], []]
    assert [links(message, bare=False) for message in shown] == [[], []]
