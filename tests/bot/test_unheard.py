"""Slack takes nothing for long: the incidents that wait go to a webhook, once each, and to Slack when it is back."""

import asyncio

import pytest
from aiohttp import web

from bot.app import bot_running
from bot.workspace import faults


class Hook:
    """What stands behind a webhook."""

    def __init__(self):
        self.texts = []
        self.statuses = []
        """What the next calls are answered with; 200 when there is none."""

    async def take(self, request):
        status = self.statuses.pop(0) if self.statuses else 200
        if status == 200:
            self.texts.append((await request.json())["text"])
        return web.Response(status=status)


@pytest.fixture
async def hook():
    hook = Hook()
    site = web.Application()
    site.router.add_post("/hook", hook.take)
    runner = web.AppRunner(site)
    await runner.setup()
    tcp = web.TCPSite(runner, "127.0.0.1", 0)
    await tcp.start()
    hook.url = f"http://127.0.0.1:{tcp._server.sockets[0].getsockname()[1]}/hook"
    yield hook
    await runner.cleanup()


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Ten minutes are one second."""
    monkeypatch.setattr("bot.unheard.LOOK_EVERY_SECONDS", 0.1)


@pytest.fixture
def patient(settings, hook):
    return settings(fallback_webhook=hook.url, fallback_after_seconds=1.0)


@pytest.fixture
def goes_wrong(publish, finding):
    """A watcher finds something."""
    return lambda **what: publish(finding(**what))


@pytest.mark.parametrize(
    "trouble", [faults.refused("token_revoked"), faults.http_error(503), faults.cut_before()], ids=lambda one: one.kind
)
async def test_an_incident_that_slack_does_not_take_goes_to_the_webhook_once(
    workspace, patient, hook, goes_wrong, trouble
):
    """It says which incident and why; a webhook that fails is tried again; Slack gets the thread when it is back."""
    hook.statuses = [500]
    async with bot_running(patient):
        await workspace.connected()
        workspace.faults.always("chat.postMessage", trouble)
        await goes_wrong(text="loss is NaN since step 41,200 <!channel>")
        await workspace.until(lambda: hook.texts)
        await asyncio.sleep(1.5)
        workspace.faults.clear("chat.postMessage")
        await workspace.until(workspace.messages)

    [text] = hook.texts
    assert "run42 · loss is NaN since step 41,200" in text
    assert "Slack has taken nothing from Runwatch for 1 s" in text
    assert "<!channel>" not in text
    assert len(workspace.messages()) == 1


async def test_a_bot_that_begins_anew_does_not_tell_the_webhook_again(workspace, patient, hook, goes_wrong):
    """Killed or not: once for each incident, whichever bot tells it."""
    workspace.faults.always("chat.postMessage", faults.refused("token_revoked"))
    async with bot_running(patient):
        await goes_wrong()
        await workspace.until(lambda: hook.texts)
    async with bot_running(patient):
        await goes_wrong(run="run43")
        await workspace.until(lambda: len(hook.texts) == 2)
        await asyncio.sleep(1.5)

    assert ["run42" in hook.texts[0], "run42" in hook.texts[1], "run43" in hook.texts[1]] == [True, False, True]


async def test_while_slack_takes_anything_the_webhook_is_quiet(workspace, patient, hook, goes_wrong):
    """What waits in a queue that moves comes in its turn."""
    async with bot_running(patient):
        await workspace.connected()
        await goes_wrong()
        await workspace.until(workspace.messages)
        await asyncio.sleep(1.5)

    assert hook.texts == []
