"""The shortcut on log text and log files in Slack: the same answer as `runwatch inspect`."""

import pytest

from bot.downloads import is_of_slack
from handlers.pasted import pasted_text

OOM = (
    "step 41200: train loss 2.3100 | lr 1e-4\n"
    "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of "
    "79.10 GiB of which 1.00 GiB is free. Process 12 has 78.00 GiB memory in use.\n"
)
API = "https://slack.com/api/"


def last_reply(workspace, ts, words):
    return [one for one in workspace.replies(ts) if words in str(one.get("blocks"))]


async def test_pasted_text_is_diagnosed_below_the_message(workspace, bot):
    """What, where, the line, what to do; the asker is told at once that it is being read."""
    said = await workspace.say(f"help please\n```{OOM}```", user="bob")

    outcome = await workspace.shortcut("diagnose", user="bob", ts=said)
    (answer,) = await workspace.until(lambda: last_reply(workspace, said, "GPU out of memory"))

    assert outcome.acked
    assert "rank 3" in answer["text"]
    assert "Tried to allocate 2.00 GiB" in str(answer["blocks"])
    assert "*Next*" in str(answer["blocks"])
    assert "Reading the text" in workspace.ephemerals("bob")[0]["text"]


async def test_an_uploaded_file_is_diagnosed_with_its_curve(workspace, bot):
    """The file is read with our token; a loss that is there is drawn."""
    lines = "".join(f"step {n}: train loss {3 - n / 200:.4f} | lr 1e-4\n" for n in range(1, 200)) + OOM
    said = await workspace.upload("train rank3.log", lines.encode(), user="bob")

    await workspace.shortcut("diagnose", user="bob", ts=said)
    await workspace.until(lambda: last_reply(workspace, said, "GPU out of memory"))
    await workspace.until(lambda: any(one.get("files") for one in workspace.replies(said)))


async def test_a_message_without_a_log_is_said_kindly(workspace, bot):
    """And costs nothing."""
    said = await workspace.say("hello", user="bob")

    await workspace.shortcut("diagnose", user="bob", ts=said)

    (told,) = await workspace.until(lambda: workspace.ephemerals("bob"))
    assert "There is no log in that message" in told["text"]


async def test_a_file_that_cannot_be_had_is_named(workspace, bot):
    """Without files:read Slack answers with its sign-in page."""
    said = await workspace.upload("train.log", OOM.encode(), user="bob")
    workspace.revoke_scope("files:read")

    await workspace.shortcut("diagnose", user="bob", ts=said)

    told = await workspace.until(
        lambda: [one for one in workspace.ephemerals("bob") if "train.log: " in one["text"]], 30
    )
    assert "could not read any of these files" in told[0]["text"]


async def test_guests_get_no_diagnosis(workspace, bot):
    """The shortcut is an entry like any other."""
    said = await workspace.say(f"```{OOM}```", user="bob")

    await workspace.shortcut("diagnose", user="guest", ts=said)

    (told,) = await workspace.until(lambda: workspace.ephemerals("guest"))
    assert "Only full members" in told["text"]
    assert workspace.replies(said) == []


@pytest.mark.parametrize(
    ("url", "is_ours"),
    [
        ("https://files.slack.com/files-pri/T1-F1/x.log", True),
        ("https://slack.com/x", True),
        ("http://files.slack.com/x", False),
        ("https://files.slack.com.evil.example/x", False),
        ("https://evilslack.com/x", False),
        ("https://files.slack.com@evil.example/x", False),
        ("file:///etc/passwd", False),
        ("", False),
    ],
)
def test_our_token_goes_to_slack_alone(url, is_ours):
    """A file's address is what somebody sent us; the token follows it only to Slack."""
    assert is_of_slack(url, API) is is_ours


@pytest.mark.parametrize(
    ("shown", "was"),
    [
        ("```a &lt;b&gt; &amp;amp; c\nd```", "a <b> &amp; c\nd"),
        ("see <https://x.example/log|x.example/log>", "see x.example/log"),
        ("<https://x.example/>", "https://x.example/"),
        ("`loss=nan`", "loss=nan"),
    ],
)
def test_slack_s_writing_is_undone(shown, was):
    """Fences, links and entities are Slack's, not the log's."""
    assert pasted_text(shown) == was
