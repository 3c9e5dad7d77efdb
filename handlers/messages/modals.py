"""The forms people fill in: a note, quiet, the end of an incident."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from diagnosis.incidents import Incident
from handlers.messages.blocks import Block, carried, context, section
from handlers.messages.escaping import fit, visible
from handlers.messages.languages import spoken
from handlers.messages.phrase import Clause, Phrase, say
from handlers.messages.troubles import called

NOTE, CLOSE, MUTE_FORM = "note", "close", "mute"
TEXT, SCOPE, SPAN = "text", "scope", "span"
SPANS = (
    ("15 minutes", "15m"),
    ("1 hour", "1h"),
    ("4 hours", "4h"),
    ("1 day", "1d"),
    ("3 days", "3d"),
    ("a week", "7d"),
)
LONGEST_TEXT = 1000


def note_form(incident: Incident, place: str) -> dict[str, Any]:
    """Write something down for everybody who reads the thread, now or later."""
    about = say("It stands in the thread of *{run}* and in the report.", run=incident.run)
    return form(NOTE, "Write a note", "Write", place, [section(about), _text("Note", "What did you see or do?")])


def close_form(incident: Incident, place: str) -> dict[str, Any]:
    """Say that it is over, and what helped."""
    about = say("*{run}*: if it still fires or comes back, its thread opens again.", run=incident.run)
    asked = _text("What helped?", "Said again when the same failure comes back", is_optional=True)
    return form(CLOSE, "Close the incident", "Close it", place, [section(about), asked])


def mute_form(incident: Incident, place: str) -> dict[str, Any]:
    """What shall be quiet, and until when."""
    trouble = Clause(called(incident.trouble).one)
    scopes = [
        (say("This {trouble}, until it is over", trouble=trouble), "incident"),
        (say("Every {trouble} of this run", trouble=trouble), "trouble"),
        (say("Everything of this run"), "run"),
        *((say("Everything that concerns {node} alone", node=node), f"node:{node}") for node in incident.nodes[:5]),
    ]
    blocks = [
        section(say("Everything is still recorded; only *{run}* says nothing of it here.", run=incident.run)),
        _select("What", SCOPE, scopes),
        _select("For how long", SPAN, [(say(label), value) for label, value in SPANS], first="1h"),
        _text("Why", "Optional: shown in the list of mutes", is_optional=True, is_long=False),
        context(say("“Until it is over” ends with the incident, after a week at the latest.")),
    ]
    return form(MUTE_FORM, "Mute", "Mute", place, [block for block in blocks if block])


def place_word(incident: str, channel: str, thread_ts: str, words: str = "") -> str:
    """What a form was opened for, as it travels with the form."""
    told = {"incident": incident, "channel": channel, "thread": thread_ts, "words": words}
    return json.dumps({name: value for name, value in told.items() if value})


def read_place(word: str) -> Mapping[str, str]:
    """What `place_word` wrote; empty when it is not ours."""
    try:
        found = json.loads(word)
    except ValueError:
        return {}
    return {str(name): str(value) for name, value in found.items()} if isinstance(found, dict) else {}


def plain(text: str | Phrase, most: int = 75) -> dict[str, Any]:
    """A plain text object within its limit; a bare text is a label of ours."""
    said = text.plain if isinstance(text, Phrase) else visible(spoken(text))
    return {"type": "plain_text", "text": fit(said, most) or "–", "emoji": True}


def form(callback: str, title: str, submit: str, place: str, blocks: Sequence[Block]) -> dict[str, Any]:
    """A modal that is sent back with what it was opened for."""
    return {
        "type": "modal",
        "callback_id": callback,
        "title": plain(title, 24),
        "submit": plain(submit, 24),
        "close": plain("Cancel", 24),
        "private_metadata": place,
        "blocks": list(blocks),
    }


def _text(label: str, hint: str, *, is_optional: bool = False, is_long: bool = True) -> Block:
    element = {"type": "plain_text_input", "action_id": TEXT, "multiline": is_long, "max_length": LONGEST_TEXT}
    element["placeholder"] = plain(hint)
    return {"type": "input", "block_id": TEXT, "label": plain(label), "optional": is_optional, "element": element}


def _select(label: str, action: str, options: Sequence[tuple[Phrase, str]], first: str = "") -> Block:
    shown = [{"text": plain(text), "value": carried(value, 150)} for text, value in options]
    chosen = next((one for one in shown if one["value"] == first), shown[0])
    element = {"type": "static_select", "action_id": action, "options": shown, "initial_option": chosen}
    return {"type": "input", "block_id": action, "label": plain(label), "element": element}
