"""Who may do what: every listener the app really registers × every person × every way in, held against one table.

The table below is written down here, not read from the code: a new command, button, form, menu or shortcut has no row
and fails, and so does a right that somebody moved. The entries themselves are called as Bolt calls them.
"""

import itertools
import json
from dataclasses import replace

import pytest

from bot.app import bot_running
from bot.listeners import Listeners
from diagnosis.thresholds import Thresholds
from handlers import more
from handlers.command import Inspected, NotKnownNow, Role
from registry import audit
from registry.audit import ALLOWED, NOT_DONE
from tests.bot.conftest import a_run, settled
from tests.bot.every_door import MORE_CHOICES, REFUSED, VALUES, Door, Recorder, entries_of

NOBODY, VIEWER, RESPONDER, OPERATOR, ADMIN = Role
LEAST = {
    # what can be typed: by slash, by mention in a thread, in a direct message
    "loss": VIEWER,
    "stall": VIEWER,
    "runs": VIEWER,
    "snapshot": RESPONDER,
    "runwatch": VIEWER,
    "take": VIEWER,
    "release": VIEWER,
    "note": VIEWER,
    "close": RESPONDER,
    "reopen": RESPONDER,
    "mute": RESPONDER,
    "mute node": OPERATOR,
    "unmute": RESPONDER,
    "unmute node": RESPONDER,
    "mutes": VIEWER,
    "report": VIEWER,
    "checklist": VIEWER,
    "patience": OPERATOR,
    "thresholds": OPERATOR,
    "language": VIEWER,
    "roles": VIEWER,
    "route": ADMIN,
    "unroute": ADMIN,
    "digest": ADMIN,
    "audit": ADMIN,
    # what can be pressed
    "press acknowledge": VIEWER,
    "press mute_1h": RESPONDER,
    "press snapshot": RESPONDER,
    "press more note": VIEWER,
    "press more mute": RESPONDER,
    "press more close": RESPONDER,
    "press more release": VIEWER,
    "press more report": VIEWER,
    "press stop_run": OPERATOR,
    "press confirm_stop": OPERATOR,
    "press runs_page": VIEWER,
    "press unmute": RESPONDER,
    "press choose_run": VIEWER,
    "press ask": VIEWER,
    # what can be filled in and sent
    "send note": VIEWER,
    "send close": RESPONDER,
    "send mute": RESPONDER,
    "send mute node": OPERATOR,
    "send patience": OPERATOR,
    "send thresholds": OPERATOR,
    # menus that suggest, the entry of a message's menu, Home
    "suggest choose_run": VIEWER,
    "choose diagnose": VIEWER,
    "look at Home": VIEWER,
}
"""Issue 6, item 4: full members of the home workspace read and acknowledge, guests and strangers do nothing, a snapshot
needs a responder and a stop an operator."""
LEAVES_NO_TRACE = frozenset(
    {
        *("loss", "stall", "runs", "runwatch", "mutes", "report", "checklist", "roles", "language"),
        *("press more note", "press more mute", "press more close", "press more report"),
        *("press runs_page", "press choose_run", "press ask", "suggest choose_run", "choose diagnose", "look at Home"),
    }
)
"""Reading; everything else stands in the audit before it is done."""
PEOPLE = {
    "vera": VIEWER,
    "rita": RESPONDER,
    "olga": OPERATOR,
    "anna": ADMIN,
    "guest": NOBODY,
    "stranger": NOBODY,
    "robot": NOBODY,
    "gone": NOBODY,
    "elsewhere": NOBODY,
    "unknown": NOBODY,
}
SILENT = frozenset({"suggest choose_run", "look at Home"})
"""A refusal there is an empty menu, or the words on the Home itself."""
ORDER = list(Role)
NOTHING_TO_DO = ("direct reopen", "slash reopen")
"""By a run's name what is closed is reopened, and here nothing is: written down as not done."""
NEVER = Thresholds(stall_after=1e6, stall_min=1e6, stall_max=2e6, stall_phase=1e6, watcher_silent_after=1e6)
"""However long this takes, the run of the test is not found to stand: the bot would ask its node."""


def row_of(entry):
    """Its line of the table."""
    how, _, rest = entry.partition(" ")
    return rest if how in ("slash", "mention", "direct") else entry


class Roles:
    """Each person's role, as it is at this moment."""

    def __init__(self):
        self.now = {f"U0{name.upper()}": role for name, role in PEOPLE.items()}

    async def role_of(self, who):
        if who.user == "U0UNKNOWN":
            raise NotKnownNow("ratelimited")
        return self.now[who.user]

    def holders(self, role):
        return tuple(user for user, held in self.now.items() if held is role)

    async def locale_of(self, user):
        return ""

    async def names_of(self, user):
        return (user,)


@pytest.fixture
async def door(workspace, settings, registry, publish, finding, monkeypatch):  # noqa: PLR0917
    """A whole bot with an incident; its own listeners, registered once more before a recorder."""
    kept, register = [], Listeners.register
    # On a busy machine a refusal is written down all the same.
    monkeypatch.setattr("handlers.admission.REFUSAL_SECONDS", 30.0)
    monkeypatch.setattr("handlers.answering.REGISTRY_SECONDS", 30.0)
    # No watcher is here to take thresholds.
    monkeypatch.setattr("handlers.limits_form.WAIT_SECONDS", 0.05)

    def remembering(self, app):
        kept.append(self)
        register(self, app)

    monkeypatch.setattr(Listeners, "register", remembering)
    async with bot_running(settings(), NEVER) as running:
        await workspace.until(lambda: running.identity.team)
        await workspace.connected()
        await a_run(registry)
        await publish(finding())
        await settled(registry, 1)
        (listeners,) = kept
        (incident,) = await registry.incidents.all_open()
        root = (await workspace.until(workspace.messages))[0]["ts"]
        recorder = Recorder()
        register(listeners, recorder)
        made = Door(
            *(listeners, recorder.found, registry, incident, root, workspace.channel),
            running.identity.team,
        )
        quick = {"ask_deadline_seconds": 0.05, "snapshot_deadline_seconds": 0.05, "draw": _drawn, "inspect": _inspected}
        monkeypatch.setattr("handlers.acts.ask_announcer", made.takes_act)
        listeners._desk = replace(listeners._desk, people=Roles(), **quick)
        listeners._homes._desk = listeners._desk
        monkeypatch.setattr(listeners, "_start", lambda _place, replies, _home=None: made.replies.append(replies))
        monkeypatch.setattr(listeners._homes, "_slack", _HomesShown(made.homes))
        yield made


async def _drawn(*_args, **_kwargs):
    return b"png"


async def _inspected(_pasted, _files):
    return Inspected({})


class _HomesShown:
    def __init__(self, shown):
        self._shown = shown

    async def show(self, _method, told):
        self._shown.append(json.dumps(told))
        return type("Answer", (), {"is_ok": True})()


def test_every_listener_of_the_app_has_its_row():
    """What the app registers, and what the table tells of: the same, neither more nor less."""
    recorder = Recorder()
    desk = type("Desk", (), {"command": lambda _self, name: f"/{name}"})()
    Listeners(desk, None, None, None, None, default_channel="").register(recorder)

    assert {row_of(entry) for entry in entries_of(recorder.found)} == set(LEAST)


def test_the_menu_behind_three_dots_offers_nothing_else():
    """Each choice of it that the code knows is a row."""

    assert {*more._FORMS, "release", "report"} == set(MORE_CHOICES)


async def test_everybody_may_what_the_table_says_and_nothing_else(door):
    """Refused: one word, private, nothing touched, written down. Let in: no refusal, and every effect written down."""
    wrong, tried = [], 0
    state, written = await door.look()
    for person, entry in itertools.product(PEOPLE, entries_of(door.registered)):
        user, role, row = f"U0{person.upper()}", PEOPLE[person], row_of(entry)
        may = role is not NOBODY and ORDER.index(role) >= ORDER.index(LEAST[row])

        said = await door(entry, user)

        (before, known), (state, written) = (state, written), await door.look()
        fresh = [told for entry_id, told in written.items() if entry_id not in known]
        wrong += [(person, entry, why) for why in _wrong(door, entry, said, fresh, may=may, same=state == before)]
        wrong += [(person, entry, "of somebody else", told) for told in fresh if told.user != user]
        tried += 1

    assert not wrong, "\n".join(str(one) for one in wrong)
    assert tried == len(PEOPLE) * len(entries_of(door.registered)) > 800


def _wrong(door, entry, said, fresh, *, may, same):
    """What is not as the table says, in words."""
    results = [told.result for told in audit.settled(fresh)]
    if door.was_refused(entry, said) == may:
        yield "refused" if may else "let in"
    elif may:
        written = NOT_DONE if entry in NOTHING_TO_DO else ALLOWED
        if (row_of(entry) not in LEAVES_NO_TRACE) != (written in results):
            yield f"written down: {results}"
    else:
        if entry not in SILENT and [one.is_private for one in said] != [True]:
            yield f"not one private word: {said}"
        if entry not in SILENT and (ALLOWED in results or not any(REFUSED.search(one) for one in results)):
            yield f"written down of the refusal: {results}"
        if not same:
            yield "refused, and something was done all the same"


async def test_a_right_that_was_taken_away_is_gone_at_the_click(door):
    """Whoever had a button shown while they might, and may no longer when they press it, is refused."""
    roles, user = door.listeners._desk.people, "U0OLGA"
    presses = [entry for entry in entries_of(door.registered) if entry.split()[0] in ("press", "send")]
    roles.now[user] = VIEWER

    refused = {entry for entry in presses if door.was_refused(entry, await door(entry, user))}

    assert refused == {entry for entry in presses if LEAST[entry] is not VIEWER}


async def test_someone_may_not_confirm_what_another_one_asked(door):
    """The second press of a stop is bound to the person of the first."""
    entry, user = "press confirm_stop", "U0ANNA"
    values = dict(VALUES)
    try:
        VALUES["confirm_stop"] = lambda _door, _user: "U0OLGA/99999999999/run42"
        (said,) = await door(entry, user)
    finally:
        VALUES.update(values)

    assert said.is_private
    assert "<@U0OLGA>" in said.message.text
