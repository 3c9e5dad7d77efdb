"""Block Kit as strictly as Slack reads it: what is wrong with a message's blocks or a view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bot.workspace.block_shapes import BLOCKS, MOST_BLOCKS, ON_SURFACE
from bot.workspace.element_shapes import OPTION, OPTION_GROUP
from bot.workspace.shapes import Check, anything, boolean, by_type, items, one_of, shape, string, text
from bot.workspace.values import Json, Refused

MOST_CHARACTERS = 13_200
"""All texts of a message's blocks together: measured by others, not documented (`msg_blocks_too_long`)."""

Files = Callable[[str], Json | None]

_VIEW = shape(
    {
        "type": one_of("modal", "home"),
        "title": text(24, plain=True),
        "submit": text(24, plain=True),
        "close": text(24, plain=True),
        "blocks": anything,
        "private_metadata": string(3000),
        "callback_id": string(255),
        "external_id": string(255),
        "clear_on_close": boolean,
        "notify_on_close": boolean,
        "submit_disabled": boolean,
    },
    required=("type", "blocks"),
)


def problems_of_blocks(blocks: Any, files: Files, *, surface: str = "message", pointer: str = "/blocks") -> list[str]:
    """What is wrong with these blocks, in Slack's words; empty when nothing is."""
    check = Check(surface, files)
    _check_blocks(check, blocks, pointer)
    return check.problems


def problems_of_view(view: Any, files: Files) -> list[str]:
    """What is wrong with this view; empty when nothing is."""
    surface = "home" if isinstance(view, dict) and view.get("type") == "home" else "modal"
    check = Check(surface, files)
    _VIEW(check, view, "/view")
    if not isinstance(view, dict):
        return check.problems
    if surface == "modal" and view.get("title") is None:
        check.complain("missing required field: title", "/view")
    if "blocks" in view:
        _check_blocks(check, view["blocks"], "/view/blocks")
    if surface == "modal" and not view.get("submit") and any(_is_input(block) for block in view.get("blocks") or ()):
        check.complain("missing required field: submit", "/view")
    if check.focused > 1:
        check.complain("only one element can be focused on load", "/view/blocks")
    return check.problems


def problems_of_options(answer: Json) -> list[str]:
    """What is wrong with the options an app suggests; empty when nothing is."""
    check = Check("modal", lambda _: None)
    rule = shape(
        {"options": items(OPTION, most=100), "option_groups": items(OPTION_GROUP, most=100)},
        only_one_of=("options", "option_groups"),
    )
    rule(check, answer, "")
    return check.problems


def refuse_bad_blocks(blocks: Any, files: Files) -> None:
    """Refuse a message's blocks as chat.postMessage does."""
    if blocks is None:
        return
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise Refused("invalid_blocks_format")
    problems = problems_of_blocks(blocks, files)
    if problems:
        raise invalid_blocks(problems)
    if characters_in(blocks) > MOST_CHARACTERS:
        raise Refused("msg_blocks_too_long")


def refuse_bad_attachments(attachments: Any, files: Files) -> None:
    """Refuse attachments (the coloured bar) as chat.postMessage does."""
    if attachments is None:
        return
    if not isinstance(attachments, list) or not all(isinstance(one, dict) for one in attachments):
        raise Refused("invalid_attachments")
    if len(attachments) > 100:
        raise Refused("too_many_attachments")
    problems: list[str] = []
    for index, attachment in enumerate(attachments):
        if attachment.get("blocks") is not None:
            problems += problems_of_blocks(attachment["blocks"], files, pointer=f"/attachments/{index}/blocks")
    if problems:
        raise invalid_blocks(problems)
    if sum(characters_in(attachment.get("blocks") or []) for attachment in attachments) > MOST_CHARACTERS:
        raise Refused("msg_blocks_too_long")


def invalid_blocks(problems: list[str]) -> Refused:
    """The refusal that names each problem with its pointer."""
    return Refused(
        "invalid_blocks",
        errors=problems,
        response_metadata={"messages": [f"[ERROR] {problem}" for problem in problems]},
    )


def characters_in(value: Any) -> int:
    """How many characters of text there are, however deep."""
    if isinstance(value, list):
        return sum(characters_in(item) for item in value)
    if isinstance(value, dict):
        own = len(value["text"]) if isinstance(value.get("text"), str) else 0
        return own + sum(characters_in(item) for item in value.values() if not isinstance(item, str))
    return 0


def _check_blocks(check: Check, blocks: Any, pointer: str) -> None:
    known = by_type(BLOCKS, ON_SURFACE[check.surface])

    def one_block(check: Check, block: Any, pointer: str) -> None:
        check.action_ids.clear()  # an action_id must be unique within its block; lists repeat one per row
        known(check, block, pointer)

    items(one_block, most=MOST_BLOCKS[check.surface])(check, blocks, pointer)
    if not isinstance(blocks, list):
        return
    for index, block in enumerate(blocks):
        block_id = block.get("block_id") if isinstance(block, dict) else None
        if not isinstance(block_id, str):
            continue
        if block_id in check.block_ids:
            check.complain(f"`block_id` `{block_id}` already exists for another block", f"{pointer}/{index}/block_id")
        check.block_ids.add(block_id)


def _is_input(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "input"
