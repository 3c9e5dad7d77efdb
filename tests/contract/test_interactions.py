"""Commands, clicks, mentions, shortcuts and views through unmodified slack-bolt, by Socket Mode and by signed HTTP."""

import asyncio

import pytest

from tests.contract.conftest import app_of

BUTTONS = [
    {"type": "section", "text": {"type": "mrkdwn", "text": "loss is NaN"}},
    {
        "type": "actions",
        "block_id": "acts",
        "elements": [
            {
                "type": "button",
                "action_id": "ack",
                "value": "incident-1",
                "text": {"type": "plain_text", "text": "I have it"},
            },
            {
                "type": "static_select",
                "action_id": "mute",
                "options": [
                    {"text": {"type": "plain_text", "text": "1 hour"}, "value": "1h"},
                    {"text": {"type": "plain_text", "text": "1 day"}, "value": "1d"},
                ],
            },
        ],
    },
]


async def test_a_command_reaches_its_listener_with_all_it_needs(slack, connected):
    """Text, user, channel, trigger and response_url arrive; the answer by response_url is seen by the asker alone."""
    app = app_of(slack)
    got = []

    @app.command("/loss")
    async def loss(ack, body, respond):
        await ack()
        got.append(body)
        await respond(text="here is run42")

    async with connected(app):
        outcome = await slack.slash("/loss", "run42 --last 2h", user="bob")
        await slack.until(lambda: slack.ephemerals("bob"))

    assert outcome.acked
    assert (got[0]["text"], got[0]["user_name"], got[0]["channel_id"]) == ("run42 --last 2h", "bob", slack.channel)
    assert got[0]["trigger_id"]
    assert slack.ephemerals("bob")[0]["text"] == "here is run42"
    assert slack.ephemerals("alice") == []
    assert slack.messages() == []


async def test_a_click_brings_its_message_and_value(slack, client, connected):
    """The button's value, the message and its thread arrive; `replace_original` changes the message."""
    app = app_of(slack)
    got = []

    @app.action("ack")
    async def acknowledge(ack, body, respond):
        await ack()
        got.append(body)
        await respond(text="alice has it", replace_original=True)

    async with connected(app):
        said = await client.chat_postMessage(channel=slack.channel, text="loss is NaN", blocks=BUTTONS)
        outcome = await slack.click(said["ts"], "ack")
        await slack.until(lambda: slack.messages()[0]["text"] == "alice has it")

    assert outcome.acked
    assert got[0]["actions"][0]["value"] == "incident-1"
    assert got[0]["message"]["ts"] == said["ts"]
    assert got[0]["container"] == {
        "type": "message",
        "message_ts": said["ts"],
        "channel_id": slack.channel,
        "is_ephemeral": False,
    }


async def test_a_choice_in_a_menu_arrives(slack, client, connected):
    """A select's chosen option arrives as action and as state."""
    app = app_of(slack)
    got = []

    @app.action("mute")
    async def mute(ack, body):
        await ack()
        got.append(body)

    async with connected(app):
        said = await client.chat_postMessage(channel=slack.channel, text="x", blocks=BUTTONS)
        await slack.click(said["ts"], "mute", value="1d")

    assert got[0]["actions"][0]["selected_option"]["value"] == "1d"
    assert got[0]["state"]["values"]["acts"]["mute"]["selected_option"]["value"] == "1d"


async def test_a_mention_in_a_thread_is_answered_there(slack, client, connected):
    """`@runwatch loss run42` in a thread arrives with its thread_ts."""
    app = app_of(slack)

    @app.event("app_mention")
    async def mentioned(event, say):
        await say(text=f"heard: {event['text']}", thread_ts=event["thread_ts"])

    async with connected(app):
        root = await client.chat_postMessage(channel=slack.channel, text="incident")
        await slack.mention("loss run42", thread_ts=root["ts"])
        await slack.until(lambda: len(slack.replies(root["ts"])) == 2)

    assert slack.replies(root["ts"])[1]["text"] == f"heard: <@{slack.bot_user}> loss run42"


async def test_a_modal_is_opened_filled_and_submitted(slack, connected):
    """trigger_id → views.open → view_submission with the values; errors keep it open, then it closes."""
    app = app_of(slack)
    got = []
    view = {
        "type": "modal",
        "callback_id": "note",
        "title": {"type": "plain_text", "text": "Note"},
        "submit": {"type": "plain_text", "text": "Save"},
        "blocks": [
            {
                "type": "input",
                "block_id": "note",
                "label": {"type": "plain_text", "text": "Note"},
                "element": {"type": "plain_text_input", "action_id": "text"},
            }
        ],
    }

    @app.shortcut("add_note")
    async def opened(ack, body, client):
        await ack()
        await client.views_open(trigger_id=body["trigger_id"], view=view)

    @app.view("note")
    async def submitted(ack, body):
        text = body["view"]["state"]["values"]["note"]["text"]["value"]
        got.append(text)
        await (ack() if len(text) > 3 else ack(response_action="errors", errors={"note": "too short"}))

    async with connected(app):
        await slack.shortcut("add_note")
        await slack.until(slack.modal)
        empty = await slack.submit_view({})
        short = await slack.submit_view({"text": "no"})
        still_open = slack.modal()
        await slack.submit_view({"text": "lost a node"})

    assert empty.error == "missing_input"
    assert short.payload["errors"] == {"note": "too short"}
    assert still_open is not None
    assert got == ["no", "lost a node"]
    assert slack.modal() is None


async def test_home_is_published_when_opened(slack, connected):
    """app_home_opened arrives and views.publish fills that person's Home."""
    app = app_of(slack)
    view = {"type": "home", "blocks": [{"type": "header", "text": {"type": "plain_text", "text": "My runs"}}]}

    @app.event("app_home_opened")
    async def opened(event, client):
        await client.views_publish(user_id=event["user"], view=view)

    async with connected(app):
        await slack.open_home(user="bob")
        await slack.until(lambda: slack.home("bob"))

    assert slack.home("bob")["blocks"][0]["text"]["text"] == "My runs"
    assert slack.home("alice") is None


async def test_a_select_with_suggestions_asks_the_app(slack, client, connected):
    """What somebody types reaches `options`, and the options come back."""
    app = app_of(slack)
    select = {"type": "external_select", "action_id": "run", "min_query_length": 0}
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "Run"}, "accessory": select}]

    @app.options("run")
    async def runs(ack, payload):
        option = {"text": {"type": "plain_text", "text": payload["value"] + "2"}, "value": payload["value"] + "2"}
        await ack(options=[option])

    async with connected(app):
        said = await client.chat_postMessage(channel=slack.channel, text="x", blocks=blocks)
        options = await slack.suggest("run", "run4", ts=said["ts"])

    assert [option["value"] for option in options] == ["run42"]


async def test_a_message_shortcut_brings_its_message(slack, connected):
    """The message somebody pointed at arrives whole."""
    app = app_of(slack)
    got = []

    @app.shortcut("diagnose")
    async def diagnose(ack, body):
        await ack()
        got.append(body["message"]["text"])

    async with connected(app):
        ts = await slack.say("step=1 loss=nan")
        await slack.shortcut("diagnose", ts=ts)

    assert got == ["step=1 loss=nan"]


async def test_an_answer_in_the_acknowledgement_is_shown(slack, connected):
    """`ack(text)` whispers; `in_channel` says it aloud."""
    app = app_of(slack)

    @app.command("/quiet")
    async def quiet(ack):
        await ack("only you")

    @app.command("/loud")
    async def loud(ack):
        await ack(response_type="in_channel", text="everybody")

    async with connected(app):
        await slack.slash("/quiet")
        await slack.slash("/loud")

    assert [m["text"] for m in slack.ephemerals()] == ["only you"]
    assert [m["text"] for m in slack.messages()] == ["everybody"]


@pytest.mark.parametrize("ack_seconds", [1.0])
async def test_late_acknowledgement_shows_operation_timeout(slack, connected):
    """An app that takes longer than the deadline has failed for the person, whatever it does later."""
    app = app_of(slack)

    @app.command("/slow")
    async def slow(ack):
        await asyncio.sleep(1.3)
        await ack()

    async with connected(app):
        outcome = await slack.slash("/slow")

    assert outcome.error == "operation_timeout"
    assert "operation_timeout" in slack.ephemerals()[0]["text"]
