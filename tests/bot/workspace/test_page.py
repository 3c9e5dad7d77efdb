"""The page in headless Chromium: what a newcomer sees and does."""

import asyncio

import pytest

from bot.workspace import Workspace
from tests.bot.workspace.browser import browser_page
from tests.contract.conftest import app_of, by_socket
from tests.ports import free_port
from tests.servers import PATIENT

pytestmark = pytest.mark.scenario

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000002000000020802000000fdd49a73"
    "0000000c49444154789c63606060000000040001f61738550000000049454e44ae426082"
)
MANIFEST = {
    "features": {
        "slash_commands": [
            {"command": "/loss", "usage_hint": "RUN", "description": "Draw a run's loss"},
            {"command": "/stalled", "usage_hint": "", "description": "Begins as the next"},
            {"command": "/stall", "usage_hint": "RUN", "description": "Who stopped first"},
        ],
        "shortcuts": [
            {"name": "Diagnose", "type": "message", "callback_id": "diagnose"},
            {"name": "Add a run", "type": "global", "callback_id": "add_run"},
        ],
    }
}


def plain(text):
    return {"type": "plain_text", "text": text}


def buttons(**more):
    button = {"type": "button", "action_id": "ack", "text": plain("I have it"), "value": "1", **more}
    return [
        {"type": "section", "text": {"type": "mrkdwn", "text": "*loss is NaN*"}},
        {"type": "actions", "elements": [button]},
    ]


async def picture_in(page, place):
    """Wait until the two-pixel picture is really drawn there."""
    image = page.locator(f"{place} .picture img")
    await image.wait_for()
    while await image.evaluate("image => image.naturalWidth") != 2:
        await asyncio.sleep(0.02)


@pytest.fixture
async def slack():
    """A workspace with commands and a shortcut."""
    async with Workspace.start(manifest=MANIFEST, rate_limit=False, share_delay_seconds=0.05, **PATIENT) as workspace:
        yield workspace


async def test_an_incident_appears_by_itself_with_its_thread(slack, client):
    """Message, unread mark and picture come without a reload; the thread opens, and reading clears the mark."""
    async with browser_page(slack) as page:
        root = await client.chat_postMessage(channel=slack.channel, text="loss is NaN", blocks=buttons())
        await client.files_upload_v2(content=PNG, filename="loss.png", channel=slack.channel, thread_ts=root["ts"])
        await page.wait_for_selector(".replies.unread")
        badge = await page.inner_text(".side-item.latest .badge")

        await page.click(".replies")
        await picture_in(page, "#thread")
        await page.wait_for_selector(".replies:not(.unread)")

        assert badge == "1"
        assert await page.inner_text(".message strong") == "loss is NaN"
        assert await page.locator(".side-item.latest .badge").count() == 0


async def test_a_command_is_completed_sent_and_answered_with_a_picture(slack):
    """`/lo` + Enter completes, the answer is drawn; ↑ brings the command back."""
    app = app_of(slack)

    @app.command("/loss")
    async def loss(ack, body, client):
        await ack()
        await client.files_upload_v2(content=PNG, filename="loss.png", title=body["text"], channel=body["channel_id"])

    async with by_socket(slack, app), browser_page(slack) as page:
        await page.wait_for_selector(".status.online")
        box = page.get_by_role("textbox", name="Message")
        await box.press_sequentially("/lo")
        await page.wait_for_selector(".menu li[aria-selected=true]")
        await box.press("Enter")
        await box.press_sequentially("run42")
        await box.press("Enter")
        await picture_in(page, ".timeline")
        await box.press("ArrowUp")

        assert await page.inner_text(".file-name") == "run42"
        assert await box.input_value() == "/loss run42"


async def test_a_whole_command_is_sent_by_enter(slack):
    """Though the list of commands is open, which has nothing to add; also where another command begins alike."""
    app, got = app_of(slack), []

    @app.command("/stall")
    async def stall(ack, body):
        await ack()
        got.append((body["command"], body["text"]))

    async with by_socket(slack, app), browser_page(slack) as page:
        await page.wait_for_selector(".status.online")
        box = page.get_by_role("textbox", name="Message")
        await box.press_sequentially("/stall")
        await page.wait_for_selector(".menu li[aria-selected=true]")
        await box.press("Enter")
        await asyncio.wait_for(_until(lambda: got), 60)

    assert got == [("/stall", "")]


async def _until(holds):
    while not holds():
        await asyncio.sleep(0.02)


async def test_a_late_app_is_said_to_have_failed(slack):
    """Nobody connected: the person reads dispatch_failed, alone."""
    async with browser_page(slack) as page:
        box = page.get_by_role("textbox", name="Message")
        await box.fill("/loss run42")
        await box.press("Enter")
        await page.wait_for_selector(".message.whisper")

        assert "dispatch_failed" in await page.inner_text(".message.whisper")
        assert "Only visible to you" in await page.inner_text(".message.whisper")
        await page.get_by_label("You are").select_option(label="Bob Tanaka")
        await page.wait_for_selector(".empty")
        assert await page.locator(".message.whisper").count() == 0


async def test_a_button_asks_first_when_the_app_wants_that(slack, client):
    """Cancel does nothing; confirm reaches the app once."""
    app = app_of(slack)
    pressed = []

    @app.action("ack")
    async def ack_pressed(ack, body):
        await ack()
        pressed.append(body["user"]["name"])

    confirm = {
        "title": plain("Sure?"),
        "text": {"type": "mrkdwn", "text": "It is *yours* then."},
        "confirm": plain("Yes"),
        "deny": plain("No"),
    }
    await client.chat_postMessage(channel=slack.channel, text="x", blocks=buttons(confirm=confirm))

    async with by_socket(slack, app), browser_page(slack) as page:
        await page.click("[data-action=ack]")
        await page.click("#confirm button:has-text('No')")
        after_no = list(pressed)
        await page.click("[data-action=ack]")
        await page.click("#confirm button:has-text('Yes')")
        await slack.until(lambda: pressed)

    assert after_no == []
    assert pressed == ["alice"]


async def test_a_modal_is_filled_corrected_and_submitted(slack, client):
    """Errors stand at their input and keep what was typed; a good answer closes it."""
    app = app_of(slack)
    saved = []
    note = {
        "type": "input",
        "block_id": "note",
        "label": plain("Why"),
        "element": {"type": "plain_text_input", "action_id": "note"},
    }
    view = {
        "type": "modal",
        "callback_id": "note",
        "title": plain("Snapshot"),
        "submit": plain("Save"),
        "blocks": [note],
    }

    @app.action("ack")
    async def opened(ack, body, client):
        await ack()
        await client.views_open(trigger_id=body["trigger_id"], view=view)

    @app.view("note")
    async def submitted(ack, body):
        text = body["view"]["state"]["values"]["note"]["note"]["value"]
        if len(text) < 4:
            await ack(response_action="errors", errors={"note": "Say a little more."})
            return
        saved.append(text)
        await ack()

    await client.chat_postMessage(channel=slack.channel, text="x", blocks=buttons())
    async with by_socket(slack, app), browser_page(slack) as page:
        await page.click("[data-action=ack]")
        await page.fill("#modal .input", "no")
        await page.click("#modal button:has-text('Save')")
        error = await page.inner_text("#modal .error:visible")
        kept = await page.input_value("#modal .input")
        await page.fill("#modal .input", "lost a node")
        await page.click("#modal button:has-text('Save')")
        await page.wait_for_selector("#modal", state="hidden")

    assert (error, kept) == ("Say a little more.", "no")
    assert saved == ["lost a node"]


async def test_shortcuts_are_in_the_menus(slack):
    """A message's menu and the command menu start them; the app gets the message, or none."""
    app = app_of(slack)
    started = []

    @app.shortcut("diagnose")
    async def diagnose(ack, body):
        await ack()
        started.append(body["message"]["text"])

    @app.shortcut("add_run")
    async def add_run(ack, body):
        await ack()
        started.append(body["type"])

    await slack.say("step=1 loss=nan")
    async with by_socket(slack, app), browser_page(slack) as page:
        await page.hover(".message")
        await page.click(".message .tools summary")
        await page.click(".message .popup button:has-text('Diagnose')")
        await slack.until(lambda: len(started) == 1)
        await page.get_by_role("textbox", name="Message").press_sequentially("/add")
        await page.click(".menu li[role=option]:has-text('Add a run')")
        await slack.until(lambda: len(started) == 2)

    assert started == ["step=1 loss=nan", "shortcut"]


async def test_home_and_threads_are_places_of_their_own(slack, client):
    """App Home shows what the app publishes when it is opened; Threads gathers every thread."""
    app = app_of(slack)
    view = {"type": "home", "blocks": [{"type": "header", "text": plain("Your runs")}]}

    @app.event("app_home_opened")
    async def opened(event, client):
        await client.views_publish(user_id=event["user"], view=view)

    root = await client.chat_postMessage(channel=slack.channel, text="run42 stalled")
    await client.chat_postMessage(channel=slack.channel, text="node10 is back", thread_ts=root["ts"])

    async with by_socket(slack, app), browser_page(slack) as page:
        await page.click(".side-item:has-text('Threads')")
        card = await page.inner_text(".card")
        await page.click(".side-item:has-text('Runwatch')")
        home = await page.inner_text(".home")

    assert "run42 stalled" in card
    assert "node10 is back" in card
    assert home == "Your runs"


async def test_threads_are_read_from_the_newest(slack, client):
    """Wherever the channel was scrolled to: it stood at its end."""
    for number in range(30):
        root = await client.chat_postMessage(channel=slack.channel, text=f"run{number} stalled\n\n\nfor long")
        await client.chat_postMessage(channel=slack.channel, text="and still does", thread_ts=root["ts"])

    async with browser_page(slack) as page:
        await page.wait_for_selector(".message >> nth=29")
        at_end = await page.evaluate("document.getElementById('timeline').scrollTop")
        await page.click(".side-item:has-text('Threads')")
        await page.wait_for_selector(".card")
        at_top = await page.evaluate("document.getElementById('timeline').scrollTop")
        first = await page.inner_text(".card >> nth=0")

    assert at_end > 0
    assert at_top == 0
    assert "run29" in first


async def test_an_incident_that_nobody_answered_is_among_the_threads(slack, client):
    """Its root bears the app's metadata; what was only said in passing stays out."""
    marks = {"event_type": "finding", "event_payload": {"run": "run42"}}
    root = await client.chat_postMessage(channel=slack.channel, text="run42 stalled", metadata=marks)
    await client.chat_postMessage(channel=slack.channel, text="the stall is over", thread_ts=root["ts"], metadata=marks)
    await client.chat_postMessage(channel=slack.channel, text="an answer to a command")
    await client.chat_postMessage(channel=slack.channel, text="olmo-1b is out of memory", metadata=marks)

    async with browser_page(slack) as page:
        latest = await page.locator(".side-item.latest").all_inner_texts()
        await page.click(".side-item:has-text('Threads')")
        await page.wait_for_selector(".card")
        cards = await page.locator(".card .message:first-of-type .body").all_inner_texts()

    assert [text.split("\n")[0] for text in latest] == ["olmo-1b is out of memory", "run42 stalled"]
    assert cards == ["olmo-1b is out of memory", "run42 stalled"]


async def test_a_reply_and_a_mention_reach_the_app(slack, client):
    """`@runwatch loss run42` typed in the thread becomes a mention with its thread."""
    app = app_of(slack)
    heard = []

    @app.event("app_mention")
    async def mentioned(event):
        heard.append((event["text"], event.get("thread_ts")))

    root = await client.chat_postMessage(channel=slack.channel, text="incident")
    await client.chat_postMessage(channel=slack.channel, text="chart", thread_ts=root["ts"])
    async with by_socket(slack, app), browser_page(slack) as page:
        await page.click(".replies")
        box = page.locator("#thread textarea")
        await box.press_sequentially("@run")
        await box.press("Enter")
        await box.press_sequentially("loss run42 <now>")
        await box.press("Enter")
        await slack.until(lambda: heard)

    assert heard == [(f"<@{slack.bot_user}> loss run42 &lt;now&gt;", root["ts"])]


async def test_the_theme_follows_the_system_and_can_be_changed(slack):
    """Dark by preference, light by choice, and the choice stays."""
    async with browser_page(slack, color_scheme="dark") as page:
        background = "getComputedStyle(document.body).backgroundColor"
        dark = await page.evaluate(background)
        await page.get_by_label("Use the light theme").click()
        light = await page.evaluate(background)
        await page.reload()
        await page.wait_for_selector(".side-item")

        assert await page.evaluate(background) == light != dark


async def test_the_page_survives_a_restart_of_the_workspace(tmp_path):
    """While it is away the page says so; afterwards it shows what came since."""
    port = free_port()
    async with Workspace.start(port=port, data_dir=tmp_path, **PATIENT) as slack:
        await slack.say("before")
        page_context = browser_page(slack)
        page = await page_context.__aenter__()
        await page.wait_for_selector(".message")
    await page.wait_for_selector("#banner:visible")
    async with Workspace.start(port=port, data_dir=tmp_path, **PATIENT) as slack:
        await slack.say("after")
        await page.wait_for_selector(".message:has-text('after')")
        await page.wait_for_selector("#banner", state="hidden")
        shown = await page.locator(".message").count()
        page.troubles.clear()  # the browser itself logs the refused connections
        await page_context.__aexit__(None, None, None)

    assert shown == 2


async def test_a_permalink_leads_to_its_message(slack, client):
    """The link of a reply opens its thread and points at it."""
    root = await client.chat_postMessage(channel=slack.channel, text="root")
    reply = await client.chat_postMessage(channel=slack.channel, text="look here", thread_ts=root["ts"])
    link = (await client.chat_getPermalink(channel=slack.channel, message_ts=reply["ts"]))["permalink"]

    async with browser_page(slack) as page:
        await page.goto(link)
        await page.wait_for_selector("#thread .message.target")

        assert "look here" in await page.inner_text("#thread .message.target")
