"""Every way into a bot, called as Bolt calls it, and what it brings."""

import re
from dataclasses import dataclass, field

from bot.listeners import Listeners
from handlers import COMMANDS
from handlers.acts import Done
from handlers.command import Say
from handlers.messages.modals import SCOPE, SPAN, TEXT, place_word
from handlers.runwatch import SUBJECTS
from registry import audit, keys, wire

REFUSED = re.compile("needs the role|Only full members|Only members of the workspace|Only people may|cannot ask Slack")
NOT_BY_PEOPLE = frozenset({"member_joined_channel"})
WORDS = {
    "loss": "run42",
    "stall": "run42",
    "snapshot": "run42",
    "note": "run42 seen",
    "take": "run42",
    "release": "run42",
    "close": "run42",
    "reopen": "run42",
    "mute": "run42 1h",
    "mute node": "node17 1h",
    "unmute": "run42",
    "unmute node": "node17",
    "report": "run42",
    "checklist": "run42",
    "patience": "run42 stall=1h",
    "thresholds": "run42 jump=0.5",
    "route": "llama-* #training",
    "unroute": "llama-*",
    "digest": "off",
}
MORE_CHOICES = ("note", "mute", "close", "release", "report")


class Recorder:
    """Takes what `Listeners.register` registers, in Bolt's place."""

    def __init__(self):
        self.found = {}

    def __getattr__(self, kind):
        def register(what):
            def take(listener):
                name = what.get("callback_id") if isinstance(what, dict) else getattr(what, "pattern", what)
                self.found[kind, name] = listener
                return listener

            return take

        return register

    def middleware(self, _what):
        pass

    def error(self, _what):
        pass


@dataclass
class Door:
    """The listeners of a whole bot that runs, and what each call of one brings."""

    listeners: Listeners
    registered: dict
    registry: object
    incident: str
    root: str
    channel: str
    team: str
    homes: list = field(default_factory=list)
    replies: list = field(default_factory=list)
    answers: list = field(default_factory=list)
    acts: list = field(default_factory=list)
    """What the announcing bot was asked to do; it is not done, so that the next one finds the incident open."""

    async def __call__(self, entry, user):
        """Come in by this entry; returns the texts that were said, and whether all were for this person alone."""
        self.replies.clear(), self.answers.clear(), self.homes.clear()
        kind, name, payload = _request(self, entry, user)

        async def ack(**told):
            self.answers.append(told)

        listener = self.registered[kind, name]
        wanted = listener.__code__.co_varnames[: listener.__code__.co_argcount]
        given = {"ack": ack, "body": payload, "event": payload.get("event", payload)}
        await listener(**{word: given[word] for word in wanted if word in given})
        if self.listeners._at_work:
            await _all(self.listeners._at_work)
        said = []
        for replies in self.replies:
            # What comes first tells whether somebody was let in; an answer of minutes is not waited for.
            async for reply in replies:
                said.append(reply)
                break
            await replies.aclose()
        return said

    def was_refused(self, entry, said):
        if entry == "suggest choose_run":
            return self.answers == [{"options": []}]
        if entry == "look at Home":
            return REFUSED.search(str(self.homes)) is not None
        return any(isinstance(one, Say) and REFUSED.search(one.message.text) for one in said)

    async def takes_act(self, _registry, act, payload):
        self.acts.append((act, payload))
        return Done(is_done=True, owner=payload.get("by", ""), state="open")

    async def look(self):
        """Everything in Redis that an effect would change, and the newest of the audit."""
        indexes = [(how, key, 0, -1) for how, key in (("ZRANGE", keys.INCIDENTS), ("ZRANGE", keys.OPEN_INCIDENTS))]
        notes = [("HGETALL", key) for key in (keys.MUTES, keys.ROUTES, keys.DIGESTS, keys.run("run42"))]
        asked = [("XLEN", keys.requests(name)) for name in ("bot/announcer", "node17")]
        trail = ("XREVRANGE", keys.AUDIT, "+", "-", "COUNT", 4)
        *state, newest = await self.registry._door.many([*indexes, *notes, *asked, trail])
        return [*state, len(self.acts)], {
            entry_id: wire.build(audit.Entry, wire.load(content[b"b"])) for entry_id, content in reversed(newest)
        }


async def _all(tasks):
    for task in list(tasks):
        await task


def _request(door, entry, user):
    """Which listener takes it, and what Slack sends it."""
    how, _, rest = entry.partition(" ")
    team = "T0OTHER" if user == "U0ELSEWHERE" else door.team
    person = {"id": user, "team_id": team}
    if how in ("slash", "mention", "direct"):
        word = rest.split(" ")[0]
        is_command = word in {command.name for command in COMMANDS}
        words = f"{rest} {WORDS.get(rest, '')}".strip()
        if how == "slash":
            name, text = (word, words.partition(" ")[2]) if is_command else ("runwatch", words)
            return "command", f"/{name}", {"user_id": user, "team_id": team, "channel_id": door.channel, "text": text}
        event = {"user": user, "user_team": team, "channel": door.channel, "text": words, "ts": "1.2"}
        if how == "mention":
            return "event", "app_mention", {"event": event | {"thread_ts": door.root}}
        return "event", "message", {"event": event | {"channel_type": "im", "channel": f"D{user}"}}
    place = {"container": {"channel_id": door.channel, "message_ts": door.root}, "user": person}
    if how == "press":
        action, _, choice = rest.partition(" ")
        value = f"{choice}/{door.incident}" if choice else VALUES.get(action, lambda d, _u: d.incident)(door, user)
        name = next(one for kind, one in door.registered if kind == "action" and re.fullmatch(one, action))
        return "action", name, place | {"actions": [{"action_id": action, "value": value}]}
    if how == "send":
        name, _, scope = rest.partition(" ")
        filled = {TEXT: "x", SCOPE: f"{scope}:node17" if scope else "run", SPAN: "1h", "stall": "1h"}
        values = {block: {action: {"value": value}} for block, (action, value) in enumerate(filled.items())}
        told = place_word(door.incident, door.channel, door.root, "run42")
        return "view", name, {"user": person, "view": {"state": {"values": values}, "private_metadata": told}}
    if how == "suggest":
        return "options", rest, {"user": person, "value": "run"}
    if how == "choose":
        message = {"text": "step=1 loss=nan", "ts": door.root}
        return "shortcut", rest, {"user": person, "message": message, "channel": {"id": door.channel}}
    return "event", "app_home_opened", {"event": {"user": user, "tab": "home"}, "team_id": team}


VALUES = {
    "stop_run": lambda _door, _user: "run42",
    "confirm_stop": lambda _door, user: f"{user}/99999999999/run42",
    "runs_page": lambda _door, _user: "sort=name",
    "unmute": lambda _door, _user: "no-such-mute",
    "choose_run": lambda _door, _user: "run42",
    "ask": lambda _door, _user: "loss run42",
}


def typed():
    """Everything that can be typed, as the app knows it."""
    return [
        *(command.name for command in COMMANDS),
        *(subject.name for subject in SUBJECTS),
        "mute node",
        "unmute node",
    ]


def entries_of(registered):
    """Every way in that the app has: a listener without a row has none, and is named."""
    found = []
    for kind, name in registered:
        if kind == "command":
            found.append(f"slash {name.removeprefix('/')}")
        elif kind == "action":
            action = re.sub(r"\(.*", "", name).replace("\\", "")
            found += (
                [f"press {action} {choice}" for choice in MORE_CHOICES] if action == "more" else [f"press {action}"]
            )
        elif kind == "view":
            found += [f"send {name}", *([f"send {name} node"] if name == "mute" else [])]
        elif kind == "options":
            found.append(f"suggest {name}")
        elif kind == "shortcut":
            found.append(f"choose {name}")
        elif name == "app_mention":
            found += [f"mention {words}" for words in typed() if words != "runwatch"]
        elif name == "message":
            found += [f"direct {words}" for words in typed() if words != "runwatch"]
        elif name == "app_home_opened":
            found.append("look at Home")
        else:
            assert name in NOT_BY_PEOPLE, f"{kind} {name} has no row in the table"
    found += [f"slash {words}" for words in typed() if f"slash {words}" not in found]
    return found
