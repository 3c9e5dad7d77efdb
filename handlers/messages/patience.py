"""How patient we are with a run, in words and as a form."""

from collections.abc import Mapping
from typing import Any

from diagnosis import wording
from handlers.messages.blocks import Message, lines, message, section
from handlers.messages.modals import form, place_word, plain
from handlers.messages.phrase import NOTHING, Phrase, say
from handlers.names import typed

PATIENCE_FORM = "patience"
ASKED: Mapping[str, tuple[str, str]] = {
    "stall": ("No progress for", "by the run's own pace: between 3 and 20 minutes"),
    "first": ("Before the first step", "45 minutes"),
    "phase": ("An evaluation or a save", "at least 30 minutes, or three of its longest"),
}
"""Limit → its label, and what holds when nothing is set."""


def patience_form(run: str, patience: Mapping[str, float], channel: str) -> dict[str, Any]:
    """Three times; an empty one means what holds for every run."""
    fields = []
    for name, (label, default) in ASKED.items():
        element: dict[str, Any] = {"type": "plain_text_input", "action_id": name, "max_length": 20}
        element["placeholder"] = plain(default)
        if name in patience:
            element["initial_value"] = _short(patience[name])
        fields.append({"type": "input", "block_id": name, "label": plain(label), "optional": True, "element": element})
    about = say("How long *{run}* may stand before its thread opens. Empty: as for every run.", run=run)
    return form(PATIENCE_FORM, "Patience", "Set", place_word("", channel, "", run), [section(about), *fields])


def patience_answer(run: str, patience: Mapping[str, float], *, is_new: bool = False) -> Message:
    """What holds for a run."""
    head = say("From now on this holds for *{run}*:" if is_new else "Now this holds for *{run}*:", run=run)
    rows = [_row(name, patience) for name in ASKED]
    how = (
        NOTHING if is_new else say("`/runwatch patience {run} stall=30m first=2h phase=1h` changes it.", run=typed(run))
    )
    return message(head, lines([*rows, how]))


def _row(name: str, patience: Mapping[str, float]) -> Phrase:
    label, default = ASKED[name]
    if name in patience:
        return say("• {label}: *{span}*", label=say(label), span=wording.duration(patience[name]))
    return say("• {label}: {default}, as for every run", label=say(label), default=say(default))


def _short(seconds: float) -> str:
    for unit, size in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds % size == 0:
            return f"{seconds / size:.0f}{unit}"
    return f"{seconds:.0f}s"
