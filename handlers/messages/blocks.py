"""Blocks of a Slack message within Slack's limits; the fallback text is always there.

Slack refuses an edit with more than 4,000 characters of text and a message with more than about 13,200
characters of blocks, so a message that may be edited stays below both.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from diagnosis.observations import Evidence
from diagnosis.wording import place_of
from handlers.messages.escaping import fit, visible
from handlers.messages.excerpts import Telling, excerpt
from handlers.messages.languages import spoken
from handlers.messages.phrase import Clause, Phrase, join, say

Block = dict[str, Any]

LONGEST_TEXT = 3_900
LONGEST_SECTION = 2_900
LONGEST_BLOCKS = 11_800
LONGEST_FENCE = 2_400
LONGEST_LOG_LINE = 280
MOST_BLOCKS = 48


@dataclass(frozen=True, slots=True)
class Message:
    """What is posted: the fallback text (notifications, screen readers) and the blocks."""

    text: str
    blocks: list[Block] = field(default_factory=list)


def message(head: Phrase, *parts: Block | None) -> Message:
    """A message that begins with a phrase; parts at the end fall off when all would be too long."""
    kept: list[Block] = [section(head)]
    used = weight(kept[0])
    tail = [part for part in parts if part is not None and part["type"] == "actions"]
    used += sum(weight(part) for part in tail)
    for part in parts:
        if part is None or part in tail:
            continue
        used += weight(part)
        if used > LONGEST_BLOCKS or len(kept) + len(tail) >= MOST_BLOCKS:
            break
        kept.append(part)
    return Message(cut(head.mrkdwn, LONGEST_TEXT), kept + tail)


def section(phrase: Phrase) -> Block:
    """A paragraph. `verbatim` keeps Slack from making links and mentions of its own."""
    return {"type": "section", "text": _mrkdwn(phrase, LONGEST_SECTION)}


def lines(phrases: Iterable[Phrase]) -> Block | None:
    """A paragraph of several lines; None when there are none."""
    joined = join(phrases, "\n")
    return section(joined) if joined else None


def context(*phrases: Phrase) -> Block | None:
    """Small print; None when there is none."""
    elements = [_mrkdwn(phrase, LONGEST_SECTION) for phrase in phrases if phrase][:10]
    return {"type": "context", "elements": elements} if elements else None


def fence(text: str) -> Block:
    """Text of a log, letter for letter: inside these elements nothing is ever a sign."""
    shown = fit(visible(text, keeps_lines=True), LONGEST_FENCE) or " "
    inner = {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": shown}]}
    return {"type": "rich_text", "elements": [inner]}


def evidence(found: Sequence[Evidence], most: int = 3, *, telling: Telling | None = None) -> list[Block]:
    """Where each claim can be checked, and the lines as they were printed; of a long one the part around `telling`."""
    if not found:
        return []
    kept = found[:most]
    places = join((say("`{place}`", place=Clause(place_of(item))) for item in kept), ", ")
    is_log = any(item.line is not None or item.offset is not None for item in kept)
    label = say("From the log, {places}:" if is_log else "From {places}:", places=places)
    text = "\n".join(fit(visible(excerpt(item.text, telling)), LONGEST_LOG_LINE) for item in kept)
    return [block for block in (context(label), fence(text)) if block]


def button(label: str | Phrase, action: str, value: str, *, style: str = "") -> Block:
    """One button; `style` is empty, primary or danger."""
    said = label.plain if isinstance(label, Phrase) else spoken(label)
    made: Block = {
        "type": "button",
        "text": {"type": "plain_text", "text": said, "emoji": True},
        "action_id": carried(action, 255),
        "value": carried(value, 1900),
    }
    return made | ({"style": style} if style else {})


def more_menu(action: str, options: Sequence[tuple[str, str]]) -> Block:
    """A menu behind three dots: label and value of each entry, five at most."""
    shown = [
        {"text": {"type": "plain_text", "text": spoken(label), "emoji": True}, "value": carried(value, 150)}
        for label, value in options
    ]
    return {"type": "overflow", "action_id": action, "options": shown[:5]}


def carried(value: str, most: int) -> str:
    """What comes back with a click: letter for letter, as far as it can be sent at all (half a pair cannot)."""
    return value[:most].encode("utf-8", "replace").decode()


def actions(block_id: str, buttons: Sequence[Block]) -> Block | None:
    """A row of buttons; None without any."""
    return {"type": "actions", "block_id": carried(block_id, 250), "elements": list(buttons)} if buttons else None


def table(rows: Sequence[Sequence[str | Phrase]]) -> Block | None:
    """A table; the first row is its head. None without content."""
    if len(rows) < 2:
        return None
    cells = [[{"type": "raw_text", "text": fit(_cell(cell), 120) or "–"} for cell in row] for row in rows[:100]]
    return {"type": "table", "rows": cells}


def cut(text: str, most: int) -> str:
    """Written-out text no longer than that, never inside an entity or a sign of Slack's."""
    if len(text) <= most:
        return text
    end = most - 1
    for opening, closing in (("&", ";"), ("<", ">")):
        start = text.rfind(opening, 0, end)
        if start >= 0 and text.find(closing, start) >= end:
            end = start
    return text[:end] + "…"


def calling(said: Message, mention: str) -> Message:
    """The same message, calling people; `mention` is Slack's own sign, such as `<!here>`."""
    if not said.blocks or said.blocks[0]["type"] != "section":
        return Message(f"{said.text} {mention}", said.blocks)
    first = said.blocks[0]
    head = {**first, "text": {**first["text"], "text": f"{first['text']['text']} {mention}"}}
    return Message(f"{said.text} {mention}", [head, *said.blocks[1:]])


def shortened(long: Message) -> Message:
    """The plainest form: one paragraph, for a Slack that refused the whole message."""
    return Message(cut(long.text, LONGEST_SECTION), [])


def weight(value: Any) -> int:
    """How many characters a block, or any part of it, brings."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(weight(item) for item in value.values())
    return sum(weight(item) for item in value) if isinstance(value, list) else 0


def _cell(cell: str | Phrase) -> str:
    return cell.plain if isinstance(cell, Phrase) else visible(cell)


def _mrkdwn(phrase: Phrase, most: int) -> Block:
    # Slack refuses a whole message for one text that is empty, as a log's own words may be.
    return {"type": "mrkdwn", "text": cut(phrase.mrkdwn, most) or "–", "verbatim": True}
