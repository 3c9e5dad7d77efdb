"""The life of an incident in Slack: taken, noted, muted, closed, reopened, by clicks, forms and words."""

import asyncio

import pytest

from bot.app import bot_running
from tests.bot.conftest import a_run, settled


@pytest.fixture
async def root(workspace, bot, registry, publish, finding):
    """The root message of an open incident of run42."""
    await a_run(registry)
    await publish(finding())
    await settled(registry, 1)
    return workspace.messages()[0]["ts"]


def shown(workspace):
    return str(workspace.messages()[0]["blocks"])


async def said(workspace, root, words):
    return await workspace.until(lambda: [one for one in workspace.replies(root) if words in one["text"]] or None)


async def test_a_note_is_a_line_in_the_thread_and_the_root(workspace, root, registry):
    """Three dots, “Write a note…”, a form; everybody reads it, with who wrote it."""
    incident = next(iter(await registry.incidents.all_open()))
    await workspace.click(root, "more", value=f"note/{incident}", user="bob")
    await workspace.until(lambda: workspace.modal("bob"))

    await workspace.submit_view({"text": "batch 7 holds <!channel> infinities"}, user="bob")
    (line,) = await said(workspace, root, "notes")

    assert line["text"] == "<@U0BOB> notes: batch 7 holds &lt;!channel&gt; infinities"
    await workspace.until(lambda: "Note by <@U0BOB>" in shown(workspace))


async def test_closing_asks_what_helped(workspace, root, registry):
    """The thread says who closed it; the root is green and has no buttons."""
    incident = next(iter(await registry.incidents.all_open()))
    await workspace.click(root, "more", value=f"close/{incident}")
    await workspace.until(workspace.modal)

    await workspace.submit_view({"text": "skipped the batch"})
    (line,) = await said(workspace, root, "Closed after")
    await workspace.until(lambda: "✅" in workspace.messages()[0]["text"])

    assert line["text"].endswith("by <@U0ALICE>: skipped the batch")
    assert "closed by <@U0ALICE>: skipped the batch" in shown(workspace)
    assert await registry.incidents.all_open() == {}


async def test_what_was_closed_is_opened_again_by_the_run_s_name(workspace, root):
    """Outside the thread, too; of a run of which nothing was closed it says so."""
    await workspace.slash("/runwatch", "reopen run42")
    await workspace.until(lambda: [one for one in workspace.ephemerals() if "was closed" in one["text"]])
    await workspace.slash("/runwatch", "close run42 restarted")
    await workspace.until(lambda: "✅" in workspace.messages()[0]["text"])
    await workspace.slash("/runwatch", "reopen run42")

    await workspace.until(lambda: "🔴" in workspace.messages()[0]["text"])


async def test_quiet_until_it_is_over(workspace, root, registry):
    """The form offers the incident, its trouble, the run and its node."""
    incident = next(iter(await registry.incidents.all_open()))
    await workspace.click(root, "more", value=f"mute/{incident}")
    form = await workspace.until(workspace.modal)

    await workspace.submit_view({"scope": "incident", "span": "1h", "text": "known"})
    await workspace.until(lambda: "quiet until it is over" in shown(workspace))

    assert "Everything that concerns node17 alone" in str(form["blocks"])
    (mute,) = (await registry.mutes.active(await registry.now())).values()
    assert mute["incident"] == incident
    await workspace.mention("close", thread_ts=root)
    await workspace.until(lambda: "✅" in workspace.messages()[0]["text"])
    await _gone(registry)


async def _gone(registry):
    async with asyncio.timeout(60):
        while await registry.mutes.active(await registry.now()):
            await asyncio.sleep(0.05)


async def test_muting_a_node_needs_an_operator(workspace, settings, registry, publish, finding):
    """It reaches into other runs; the form is open to responders, the node is not."""
    async with bot_running(settings(responders=("U0BOB",))) as running:
        await workspace.until(lambda: running.identity.team)
        await workspace.connected()
        await a_run(registry)
        await publish(finding())
        await settled(registry, 1)
        (root,) = workspace.messages()
        incident = next(iter(await registry.incidents.all_open()))
        await workspace.click(root["ts"], "more", value=f"mute/{incident}", user="bob")
        await workspace.until(lambda: workspace.modal("bob"))

        await workspace.submit_view({"scope": "node:node17", "span": "1d"}, user="bob")
        (refused,) = await workspace.until(lambda: workspace.ephemerals("bob"))

    assert "needs the role operator" in refused["text"]
    assert await registry.mutes.active(0.0) == {}


async def test_words_in_the_thread_do_the_same(workspace, root):
    """`take`, `release`, `note`, `close`, `reopen`, by mention."""
    await workspace.mention("take", thread_ts=root, user="bob")
    await workspace.until(lambda: "<@U0BOB> has it since" in shown(workspace))
    await workspace.mention("note draining node17", thread_ts=root, user="bob")
    await workspace.until(lambda: "Note by <@U0BOB>: draining node17" in shown(workspace))
    await workspace.mention("release", thread_ts=root, user="bob")
    await said(workspace, root, "gave it back")
    await workspace.mention("close rebooted it", thread_ts=root)
    await said(workspace, root, "Closed after")
    await workspace.mention("reopen", thread_ts=root)
    await said(workspace, root, "opened it again")

    await workspace.until(lambda: "nobody has it yet" in shown(workspace))


async def test_what_a_killed_bot_had_taken_down_the_next_one_shows(workspace, settings, registry, publish, finding):
    """A click is in the registry before it is in Slack."""
    async with bot_running(settings(edit_interval_seconds=60.0)) as running:
        await workspace.until(lambda: running.identity.team)
        await workspace.connected()
        await publish(finding())
        await settled(registry, 1)
        (root,) = workspace.messages()
        await workspace.click(root["ts"], "acknowledge")
        await _taken(registry)

    async with bot_running(settings()):
        await workspace.until(lambda: "has it since" in shown(workspace))


async def _taken(registry):
    async with asyncio.timeout(60):
        while not [one for one in (await registry.incidents.all_open()).values() if one.get("owner")]:
            await asyncio.sleep(0.05)


async def test_what_helped_can_be_written_long_after(workspace, settings, registry, publish, finding):
    """An incident that the tracker has forgotten is taken up again from what was kept."""
    async with bot_running(settings(reopen_within_seconds=0.1)) as running:
        await workspace.until(lambda: running.identity.team)
        await workspace.connected()
        await a_run(registry)
        await publish(finding())
        await settled(registry, 1)
        (root,) = workspace.messages()
        incident = next(iter(await registry.incidents.all_open()))
        await workspace.mention("close", thread_ts=root["ts"])
        await workspace.until(lambda: "✅" in workspace.messages()[0]["text"])
        # As if it had been over for long.
        running.monitor.tracker._incidents.pop(incident)
        running.monitor.announcer.tidy()

        await workspace.mention("note it was the cable", thread_ts=root["ts"])
        await workspace.until(lambda: "it was the cable" in shown(workspace))
        await workspace.mention("reopen", thread_ts=root["ts"])
        await workspace.until(lambda: workspace.messages()[0]["text"].startswith("🔴"))

    assert set(await registry.incidents.all_open()) == {incident}
