"""The shapes of Block Kit's blocks, with the lengths and counts Slack enforces."""

from __future__ import annotations

from typing import Any

from bot.workspace.element_shapes import (
    ACCESSORY,
    ACTION_ELEMENT,
    CONTEXT_ACTION,
    IMAGE,
    IMAGE_BLOCK,
    INPUT_ELEMENT,
)
from bot.workspace.shapes import Check, Rule, anything, boolean, by_type, items, number, one_of, shape, string, text

MARKDOWN_CHARACTERS = 12_000
TABLE_ROWS, TABLE_COLUMNS, TABLE_CHARACTERS = 100, 20, 10_000

_BLOCK: dict[str, Rule] = {"type": anything, "block_id": string(255)}

_STYLE = shape(dict.fromkeys(("bold", "italic", "strike", "code", "underline", "highlight"), boolean))
_RICH: dict[str, Rule] = {"type": anything, "style": _STYLE}
RICH_INLINE = by_type(
    {
        "text": shape({**_RICH, "text": string(least=1)}, required=("text",)),
        "link": shape({**_RICH, "url": string(3000, 1), "text": string(), "unsafe": boolean}, required=("url",)),
        "user": shape({**_RICH, "user_id": string(least=1)}, required=("user_id",)),
        "usergroup": shape({**_RICH, "usergroup_id": string(least=1)}, required=("usergroup_id",)),
        "channel": shape({**_RICH, "channel_id": string(least=1)}, required=("channel_id",)),
        "emoji": shape(
            {**_RICH, "name": string(least=1), "unicode": string(), "skin_tone": number}, required=("name",)
        ),
        "broadcast": shape({**_RICH, "range": one_of("here", "channel", "everyone")}, required=("range",)),
        "color": shape({**_RICH, "value": string(least=1)}, required=("value",)),
        "date": shape(
            {**_RICH, "timestamp": number, "format": string(least=1), "fallback": string(), "url": string()},
            required=("timestamp", "format"),
        ),
    }
)
_RICH_SECTION = shape({"type": anything, "elements": items(RICH_INLINE)}, required=("elements",))
_FENCED: dict[str, Rule] = {"type": anything, "elements": items(RICH_INLINE), "border": number}
RICH_ELEMENT = by_type(
    {
        "rich_text_section": _RICH_SECTION,
        "rich_text_preformatted": shape({**_FENCED, "language": string()}, required=("elements",)),
        "rich_text_quote": shape(_FENCED, required=("elements",)),
        "rich_text_list": shape(
            {
                "type": anything,
                "style": one_of("bullet", "ordered"),
                "elements": items(by_type({"rich_text_section": _RICH_SECTION})),
                "indent": number,
                "offset": number,
                "border": number,
            },
            required=("style", "elements"),
        ),
    }
)
RICH_TEXT = shape({**_BLOCK, "elements": items(RICH_ELEMENT)}, required=("elements",))


def _one_table(check: Check, value: Any, pointer: str) -> None:
    check.tables += 1
    if check.tables > 1:
        check.complain("only_one_table_allowed", pointer)
    characters = sum(len(cell) for cell in _strings(value.get("rows")))
    if characters > TABLE_CHARACTERS:
        check.complain(f"must be less than {TABLE_CHARACTERS + 1} characters", f"{pointer}/rows")


def _markdown_total(check: Check, value: Any, pointer: str) -> None:
    if isinstance(value.get("text"), str):
        check.markdown_characters += len(value["text"])
    if check.markdown_characters > MARKDOWN_CHARACTERS:
        check.complain(
            f"markdown blocks must be less than {MARKDOWN_CHARACTERS + 1} characters together", f"{pointer}/text"
        )


def _strings(value: Any) -> list[str]:
    """Every text in a cell, however deep."""
    if isinstance(value, list):
        return [found for item in value for found in _strings(item)]
    if isinstance(value, dict):
        return [value["text"]] if isinstance(value.get("text"), str) else _strings(list(value.values()))
    return []


_CELL = by_type(
    {
        "raw_text": shape({"type": anything, "text": string(least=1)}, required=("text",)),
        "raw_number": shape({"type": anything, "value": number, "text": string()}, required=("value",)),
        "rich_text": RICH_TEXT,
    }
)
_COLUMN = shape({"align": one_of("left", "center", "right"), "is_wrapped": boolean})
_POINT = shape({"label": string(20), "value": number}, required=("label", "value"))
_SERIES = shape({"name": string(20), "data": items(_POINT, least=1, most=20)}, required=("name", "data"))

BLOCKS: dict[str, Rule] = {
    "section": shape(
        {
            **_BLOCK,
            "text": text(3000),
            "fields": items(text(2000), least=1, most=10),
            "accessory": ACCESSORY,
            "expand": boolean,
        },
        any_of=("text", "fields"),
    ),
    "header": shape({**_BLOCK, "text": text(150, plain=True), "level": number}, required=("text",)),
    "divider": shape(_BLOCK),
    "context": shape(
        {
            **_BLOCK,
            "elements": items(
                by_type({"image": IMAGE, "mrkdwn": text(3000), "plain_text": text(3000)}), least=1, most=10
            ),
        },
        required=("elements",),
    ),
    "actions": shape({**_BLOCK, "elements": items(ACTION_ELEMENT, least=1, most=25)}, required=("elements",)),
    "context_actions": shape({**_BLOCK, "elements": items(CONTEXT_ACTION, least=1, most=5)}, required=("elements",)),
    "image": IMAGE_BLOCK,
    "input": shape(
        {
            **_BLOCK,
            "label": text(2000, plain=True),
            "element": INPUT_ELEMENT,
            "hint": text(2000, plain=True),
            "optional": boolean,
            "dispatch_action": boolean,
        },
        required=("label", "element"),
    ),
    "rich_text": RICH_TEXT,
    "markdown": shape({**_BLOCK, "text": string(MARKDOWN_CHARACTERS, 1)}, required=("text",), also=_markdown_total),
    "table": shape(
        {
            **_BLOCK,
            "rows": items(items(_CELL, least=1, most=TABLE_COLUMNS), least=1, most=TABLE_ROWS),
            "column_settings": items(_COLUMN, most=TABLE_COLUMNS),
        },
        required=("rows",),
        also=_one_table,
    ),
    "data_visualization": shape(
        {
            **_BLOCK,
            "title": string(50, 1),
            "chart": shape(
                {
                    "type": one_of("line", "bar", "area", "pie"),
                    "series": items(_SERIES, least=1, most=12),
                    "segments": items(anything, most=12),
                    "axis_config": anything,
                },
                required=("type",),
            ),
        },
        required=("title", "chart"),
    ),
    "alert": shape(
        {**_BLOCK, "text": text(200), "level": one_of("default", "info", "warning", "error", "success")},
        required=("text",),
    ),
}

_EVERYWHERE = {"section", "header", "divider", "context", "actions", "image", "input", "rich_text"}
ON_SURFACE = {
    "message": _EVERYWHERE | {"markdown", "table", "context_actions", "data_visualization"},
    "modal": _EVERYWHERE | {"alert"},
    "home": _EVERYWHERE,
}
MOST_BLOCKS = {"message": 50, "modal": 100, "home": 100}
