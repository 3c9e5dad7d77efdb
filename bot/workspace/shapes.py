"""Small rules from which the shapes of Block Kit are put together, with Slack's own complaints."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.workspace.values import Json


@dataclass(slots=True)
class Check:
    """One check of one message or view: what was found so far."""

    surface: str
    """`message`, `modal` or `home`."""
    files: Callable[[str], Json | None]
    """What is known of a file, by id or URL."""
    problems: list[str] = field(default_factory=list)
    action_ids: set[str] = field(default_factory=set)
    block_ids: set[str] = field(default_factory=set)
    markdown_characters: int = 0
    tables: int = 0
    focused: int = 0

    def complain(self, what: str, pointer: str) -> None:
        """Note what is wrong and where."""
        self.problems.append(f"{what} [json-pointer:{pointer}]")


Rule = Callable[[Check, Any, str], None]


def string(most: int | None = None, least: int = 0) -> Rule:
    """A string within these lengths."""

    def rule(check: Check, value: Any, pointer: str) -> None:
        if not isinstance(value, str):
            check.complain("must provide a string", pointer)
        elif most is not None and len(value) > most:
            check.complain(f"must be less than {most + 1} characters", pointer)
        elif len(value) < least:
            check.complain(f"must be more than {least - 1} characters", pointer)

    return rule


def boolean(check: Check, value: Any, pointer: str) -> None:
    """True or false."""
    if not isinstance(value, bool):
        check.complain("must provide a boolean", pointer)


def number(check: Check, value: Any, pointer: str) -> None:
    """A number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        check.complain("must provide a number", pointer)


def anything(_check: Check, _value: Any, _pointer: str) -> None:
    """Not looked at."""


def one_of(*values: str) -> Rule:
    """One of these words."""

    def rule(check: Check, value: Any, pointer: str) -> None:
        if value not in values:
            check.complain(f"must be one of: {', '.join(values)}", pointer)

    return rule


def items(rule: Rule, *, least: int = 0, most: int | None = None) -> Rule:
    """A list of things that all follow one rule."""

    def check_items(check: Check, value: Any, pointer: str) -> None:
        if not isinstance(value, list):
            check.complain("must provide an array", pointer)
            return
        if most is not None and len(value) > most:
            check.complain(f"no more than {most} items allowed", pointer)
        if len(value) < least:
            check.complain(f"no fewer than {least} items allowed", pointer)
        for index, item in enumerate(value):
            rule(check, item, f"{pointer}/{index}")

    return check_items


def shape(
    fields: Mapping[str, Rule],
    *,
    required: Collection[str] = (),
    any_of: Collection[str] = (),
    only_one_of: Collection[str] = (),
    also: Rule | None = None,
) -> Rule:
    """An object with these fields and no others."""

    def rule(check: Check, value: Any, pointer: str) -> None:
        if not isinstance(value, dict):
            check.complain("must provide an object", pointer)
            return
        for name in value:
            if name not in fields:
                check.complain(f"invalid additional property: {name}", pointer)
        for name in required:
            if value.get(name) is None:
                check.complain(f"missing required field: {name}", pointer)
        if any_of and not any(value.get(name) for name in any_of):
            check.complain(f"missing required field: {' or '.join(any_of)}", pointer)
        if only_one_of and sum(value.get(name) is not None for name in only_one_of) != 1:
            check.complain(f"must have exactly one of: {', '.join(only_one_of)}", pointer)
        for name, field_rule in fields.items():
            if value.get(name) is not None:
                field_rule(check, value[name], f"{pointer}/{name}")
        if also is not None:
            also(check, value, pointer)

    return rule


def by_type(shapes: Mapping[str, Rule], allowed: Collection[str] | None = None) -> Rule:
    """An object whose `type` says which shape it must have."""

    def rule(check: Check, value: Any, pointer: str) -> None:
        if not isinstance(value, dict):
            check.complain("must provide an object", pointer)
            return
        kind = value.get("type")
        if kind is None:
            check.complain("missing required field: type", pointer)
        elif not isinstance(kind, str) or kind not in shapes or (allowed is not None and kind not in allowed):
            check.complain(f"unsupported type: {kind}", f"{pointer}/type")
        else:
            shapes[kind](check, value, pointer)

    return rule


def text(most: int, *, plain: bool = False, least: int = 1) -> Rule:
    """A text object within this length; `plain` allows plain_text only."""
    kinds = ("plain_text",) if plain else ("plain_text", "mrkdwn")

    def fits_kind(check: Check, value: Any, pointer: str) -> None:
        if value.get("type") == "mrkdwn" and "emoji" in value:
            check.complain("invalid additional property: emoji", pointer)
        if value.get("type") == "plain_text" and "verbatim" in value:
            check.complain("invalid additional property: verbatim", pointer)

    return shape(
        {"type": one_of(*kinds), "text": string(most, least), "emoji": boolean, "verbatim": boolean},
        required=("type", "text"),
        also=fits_kind,
    )
