"""App Home: a live dashboard of one's runs, what is open, what is quiet; and type-ahead over runs."""

import pytest

from bot.app import bot_running
from bot.workspace import acting
from handlers.suggest_runs import like
from tests.bot.conftest import a_run, settled


def home(workspace, user="alice"):
    return str((workspace.home(user) or {}).get("blocks", ""))


async def until_home(workspace, words, user="alice"):
    await workspace.until(lambda: words in home(workspace, user))


async def test_home_shows_my_runs_what_is_open_and_what_is_quiet(workspace, bot, registry, publish, finding):
    """Mine before the others; each incident with its link and a button."""
    await a_run(registry)
    await a_run(registry, "other")
    await registry.runs.update("run42", owner="alice")
    await publish(finding())
    await settled(registry, 1)
    await workspace.slash("/runwatch", "mute other 2h broken data")
    await workspace.until(lambda: [one for one in workspace.messages() if "quiet" in one["text"]])

    await workspace.open_home()
    await until_home(workspace, "1 incident open")

    said = home(workspace)
    assert said.index("Your runs") < said.index("Other runs") < said.index("Quiet now")
    assert "without an owner" in said
    assert "broken data" in said
    assert f"/archives/{workspace.channel}/p" in said


async def test_home_follows_what_happens(workspace, settings, registry, publish, finding):
    """While somebody looks, it is shown anew; their own clicks show at once."""
    async with bot_running(settings(home_refresh_seconds=0.3)) as running:
        await workspace.until(lambda: running.identity.team)
        await workspace.connected()
        await a_run(registry)
        await workspace.open_home()
        await until_home(workspace, "All quiet")

        await publish(finding())
        await until_home(workspace, "1 incident open")
        incident = next(iter(await registry.incidents.all_open()))
        await workspace.click_home(f"acknowledge:{incident}")

        await until_home(workspace, "all taken")
        await until_home(workspace, "<@U0ALICE> has it")


async def test_a_quiet_ends_from_home(workspace, bot, registry):
    """And a viewer who tries is refused in the direct messages."""
    await a_run(registry)
    await workspace.slash("/runwatch", "mute run42 2h")
    await workspace.until(workspace.messages)
    await workspace.open_home(user="bob")
    await until_home(workspace, "Quiet now", "bob")
    await workspace.click_home("unmute:run42", user="bob")
    direct = workspace.direct_channel("bob")
    await workspace.until(lambda: [one for one in workspace.messages(direct) if "needs the role" in one["text"]])

    await workspace.open_home()
    await until_home(workspace, "Quiet now")
    await workspace.click_home("unmute:run42")

    await workspace.until(lambda: "Quiet now" not in home(workspace))
    assert await registry.mutes.active(0.0) == {}


async def test_guests_see_why_they_see_nothing(workspace, bot, registry):
    """No run, no incident."""
    await a_run(registry)
    await workspace.open_home(user="guest")

    await until_home(workspace, "Only full members", "guest")
    assert "run42" not in home(workspace, "guest")


async def test_a_run_is_found_while_typing(workspace, bot, registry):
    """The menu suggests, the choice opens a window, its button answers in the direct messages."""
    await a_run(registry)
    await a_run(registry, "llama-7b")
    await workspace.open_home()
    await until_home(workspace, "Look at a run")

    suggested = await _suggest(workspace, "lam")
    await workspace.click_home("choose_run", value="llama-7b")
    window = await workspace.until(workspace.modal)
    await workspace.click_modal("ask:loss")
    direct = workspace.direct_channel("alice")
    await workspace.until(lambda: [one for one in workspace.messages(direct) if "looks normal" in one["text"]])

    assert [one["value"] for one in suggested] == ["llama-7b"]
    assert window["title"]["text"] == "llama-7b"
    assert await _suggest(workspace, "lam", "guest") == []


async def _suggest(workspace, typed, user="alice"):
    view = workspace.home("alice")
    workspace.site.windows.homes.setdefault(f"U0{user.upper()}", view)
    asked = {"act": "suggest", "user": user, "view_id": view["id"], "action_id": "choose_run", "value": typed}
    return (await acting.do(workspace.site, asked))["options"]


async def test_a_direct_message_is_a_question(workspace, bot, registry):
    """No name needed; the answer comes there."""
    await a_run(registry)
    direct = workspace.direct_channel("bob")

    await workspace.say("stall run42", user="bob", channel=direct)

    await workspace.until(lambda: [one for one in workspace.messages(direct) if "trains at step" in one["text"]])


@pytest.mark.parametrize(
    ("typed", "first"),
    [("", "gpt"), ("lla", "llama-7b"), ("7B", "big-llama-7b"), ("lamma-7b", "llama-7b"), ("zzz", None)],
)
def test_the_nearest_names_come_first(typed, first):
    """Nothing typed: the most recently active."""
    found = like(["gpt", "big-llama-7b", "llama-7b"], typed)

    assert (found[0] if found else None) == first


async def test_who_invites_us_is_told_what_we_are_for(workspace, bot):
    """Once, with commands that can be typed as they stand."""
    general = workspace.channel_id("general")
    await workspace.slash("/invite", "@runwatch", channel="general")
    (said,) = await workspace.until(lambda: workspace.messages("general"))

    workspace.remove_bot("general")
    workspace.invite_bot("general")
    await workspace.slash("/runs", channel="general")
    await workspace.until(lambda: len(workspace.ephemerals()) + len(workspace.messages("general")) > 1)

    assert "*Hello.*" in said["text"]
    assert "route PATTERN here" in str(said["blocks"])
    assert sum("Hello" in one["text"] for one in workspace.messages(general)) == 1
