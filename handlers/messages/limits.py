"""The thresholds of a run, in words and as a form."""

from collections.abc import Mapping
from typing import Any

from diagnosis import wording
from diagnosis.thresholds import Thresholds
from handlers.limits import SETTABLE, default_of, is_time
from handlers.messages.blocks import Message, context, lines, message, section
from handlers.messages.modals import form, place_word, plain
from handlers.messages.phrase import Phrase, say
from handlers.names import typed

LIMITS_FORM = "thresholds"
ASKED: Mapping[str, str] = {
    "jump": "A jump is marked when the loss moves by more than",
    "spike": "A spike stands so many times its usual spread above",
    "height": "A spike opens a thread when it is so far above",
    "rise": "Divergence: the loss stays so far above its best",
    "floor": "The shortest time without progress that is a stall",
}
"""What can be set → its label."""
EXAMPLE = "jump=0.5 spike=8 floor=10m"


def limits_form(run: str, limits: Mapping[str, float], thresholds: Thresholds, channel: str) -> dict[str, Any]:
    """One field each; an empty one means what holds for every run."""
    fields = []
    for word, label in ASKED.items():
        element: dict[str, Any] = {"type": "plain_text_input", "action_id": word, "max_length": 20}
        element["placeholder"] = plain(
            say("As for every run: {value}", value=_value(word, default_of(word, thresholds)))
        )
        if SETTABLE[word] in limits:
            element["initial_value"] = _typed(word, limits[SETTABLE[word]])
        fields.append({"type": "input", "block_id": word, "label": plain(label), "optional": True, "element": element})
    about = say("From when on the numbers of *{run}* are called wrong. Empty: as for every run.", run=run)
    return form(LIMITS_FORM, "Thresholds", "Set", place_word("", channel, "", run), [section(about), *fields])


def limits_answer(
    run: str, limits: Mapping[str, float], thresholds: Thresholds, *, heard: tuple[int, int] | None = None
) -> Message:
    """What holds for a run; `heard`: how many of its watchers judge by it already, after it was set."""
    is_new = heard is not None
    head = say("From now on this holds for *{run}*:" if is_new else "Now this holds for *{run}*:", run=run)
    rows = [_row(word, limits, thresholds) for word in ASKED]
    how = say("`/runwatch thresholds {run} {example}` changes it.", run=typed(run), example=EXAMPLE)
    return message(head, lines(rows), context(_heard(heard) if heard is not None else how))


def _heard(heard: tuple[int, int]) -> Phrase:
    took, asked = heard
    if not asked:
        return say("No watcher of it is heard now; it holds as soon as one is.")
    if took == asked:
        return say("All its watchers ({n}) judge by it already.", n=took)
    return say("{n} of {all} watchers judge by it already, the others with their next heartbeat.", n=took, all=asked)


def _row(word: str, limits: Mapping[str, float], thresholds: Thresholds) -> Phrase:
    label = say(ASKED[word])
    value = limits.get(SETTABLE[word])
    if value is not None:
        return say("• {label}: *{span}*", label=label, span=_value(word, value))
    default = say("{value}", value=_value(word, default_of(word, thresholds)))
    return say("• {label}: {default}, as for every run", label=label, default=default)


def _value(word: str, value: float) -> str:
    return wording.duration(value) if is_time(word) else f"{value:g}"


def _typed(word: str, value: float) -> str:
    return f"{value:g}s" if is_time(word) else f"{value:g}"
