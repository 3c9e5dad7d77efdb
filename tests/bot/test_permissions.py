"""Every command, word, button, form, shortcut and menu × every role × every entry: as the table says, nothing else."""

from dataclasses import dataclass

import pytest

from bot.app import bot_running
from bot.workspace import acting
from handlers import BUTTONS, COMMANDS, FORMS, SELECTS, SHORTCUTS
from handlers.authorise import MAY
from handlers.command import Right, Role
from handlers.runwatch import SUBJECTS
from tests.bot.conftest import a_run, settled

PEOPLE = {
    "vera": Role.VIEWER,
    "rita": Role.RESPONDER,
    "olga": Role.OPERATOR,
    "anna": Role.ADMIN,
    "guest": Role.NOBODY,
    "stranger": Role.NOBODY,
    "robot": Role.NOBODY,
    "gone": Role.NOBODY,
}
REFUSED = ("needs the role", "Only full members", "Only members of the workspace", "Only people may")


@dataclass(frozen=True)
class Entry:
    """One way in."""

    name: str
    right: Right


ENTRIES = (
    *(Entry(f"slash {command.name}", command.right) for command in COMMANDS),
    *(Entry(f"mention {command.name}", command.right) for command in COMMANDS if command.name != "runwatch"),
    *(Entry(f"direct {command.name}", command.right) for command in COMMANDS if command.name != "runwatch"),
    *(Entry(f"slash runwatch {subject.name}", subject.right) for subject in SUBJECTS),
    *(Entry(f"mention {subject.name}", subject.right) for subject in SUBJECTS),
    *(Entry(f"shortcut {shortcut.callback}", shortcut.right) for shortcut in SHORTCUTS),
)
CLICKS = (*BUTTONS, *FORMS, *SELECTS)
"""Their rights are asked for by the same function; `tests/handlers/test_table.py` holds each to the table."""


@pytest.fixture
async def place(workspace, settings, registry, publish, finding):
    """A bot, an incident, and somebody of each kind."""
    for name in PEOPLE:
        if name != "guest":
            workspace.add_member(name)
    workspace.change_member("stranger", team_id="T0OTHER", is_stranger=True)
    workspace.change_member("robot", is_bot=True)
    workspace.change_member("gone", deleted=True)
    named = {"responders": ("U0RITA",), "operators": ("U0OLGA",), "admins": ("U0ANNA",)}
    async with bot_running(settings(**named)) as running:
        await workspace.until(lambda: running.identity.team)
        await workspace.connected()
        await a_run(registry)
        await publish(finding())
        await settled(registry, 1)
        yield workspace.messages()[0]["ts"]


async def enter(workspace, entry, user, root):
    """Come in by this way, and return what was said to this person or to everybody because of it."""
    how, _, rest = entry.name.partition(" ")
    before = [len(workspace.ephemerals(user)), len(workspace.all_messages())]
    if how == "slash":
        command, _, words = rest.partition(" ")
        await workspace.slash(f"/{command}", words, user=user)
    elif how == "mention":
        await workspace.mention(rest, user=user, thread_ts=root)
    elif how == "direct":
        await workspace.say(rest, user=user, channel=workspace.direct_channel(user))
    else:
        await workspace.shortcut(rest, user=user, ts=root)
    direct = workspace.direct_channel(user)

    def said():
        new = [*workspace.ephemerals(user)[before[0] :], *workspace.all_messages()[before[1] :]]
        new += [one for one in workspace.all_messages(direct) if one["user"] == workspace.bot_user]
        return [one["text"] for one in new if one.get("user") != f"U0{user.upper()}"]

    return await workspace.until(said)


@pytest.mark.parametrize("user", ["vera", "guest", "stranger"])
async def test_every_way_in_asks_who_it_is(workspace, place, user):
    """All of them over Slack's own ways (`test_matrix.py` tries them for every kind of person); whoever may not is refused in words, privately, and nothing is done."""
    role, wrong = PEOPLE[user], []
    for entry in ENTRIES:
        if role is not Role.NOBODY and entry.right in MAY[role]:
            continue
        said = await enter(workspace, entry, user, place)
        if not any(mark in one for one in said for mark in REFUSED):
            wrong.append((entry.name, said))

    assert wrong == []


@pytest.mark.parametrize(
    ("user", "words"), [("vera", "take"), ("rita", "mute 1h"), ("olga", "mute node node17"), ("anna", "route")]
)
async def test_who_may_is_let_in(workspace, place, user, words):
    """The least role of each right does what it is for."""
    said = await enter(workspace, Entry(f"mention {words}", Right.READ), user, place) if words != "take" else [""]
    if words == "take":
        await workspace.mention("take", user=user, thread_ts=place)
        await workspace.until(lambda: "<@U0VERA> has it since" in str(workspace.messages()[0]["blocks"]))

    assert not any(mark in one for one in said for mark in REFUSED)


async def test_the_menu_of_runs_is_empty_for_whoever_may_not_read(workspace, place):
    """Suggestions are answers, too."""
    await workspace.open_home(user="vera")
    view = await workspace.until(lambda: workspace.home("vera"))
    workspace.site.windows.homes["U0STRANGER"] = view
    asked = {"act": "suggest", "view_id": view["id"], "action_id": "choose_run", "value": "run"}

    theirs = await acting.do(workspace.site, {**asked, "user": "stranger"})
    ours = await acting.do(workspace.site, {**asked, "user": "vera"})

    assert (theirs["options"], [one["value"] for one in ours["options"]]) == ([], ["run42"])


def test_nothing_that_can_be_clicked_is_forgotten():
    """Each has a right, and none but reading is free."""
    assert all(isinstance(one.right, Right) for one in CLICKS)
