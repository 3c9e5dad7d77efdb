"""What a message really does in Slack: whom it pings and where it links, in every text it carries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from bot.workspace.values import Json

_CONTROL = re.compile(r"<([^<>\n]+)>")
_BARE = re.compile(r"(?:https?://|mailto:|\bwww\.)[^\s<>|]+", re.IGNORECASE)
_PING = re.compile(r"@[UW]|!(?:here|channel|everyone|subteam\^)")


def pings(message: Json) -> list[str]:
    """Every mention that would notify somebody: `@U…`, `!here`, `!channel`, `!subteam^…`, and rich_text's own."""
    found = [one for text in _texts(message) for one in _CONTROL.findall(text) if _PING.match(one)]
    for element in _elements(message.get("blocks") or []):
        kind = element.get("type")
        if kind in {"user", "usergroup", "broadcast"}:
            found.append(f"rich_text {kind}")
    return found


def links(message: Json, *, bare: bool = True) -> list[str]:
    """Every address that can be clicked; with `bare`, also those that Slack itself turns into links."""
    found = [one for text in _texts(message) for one in _CONTROL.findall(text) if not re.match(r"[@#!]", one)]
    if bare:
        found += [one for text in _texts(message) for one in _BARE.findall(_CONTROL.sub(" ", text))]
    found += [
        str(element["url"]) for element in _elements(message.get("blocks") or []) if element.get("type") == "link"
    ]
    return found


def _texts(message: Json) -> Iterator[str]:
    """Every text that Slack reads as mrkdwn."""
    blocks = message.get("blocks") or []
    if isinstance(message.get("text"), str):
        yield message["text"]
    for element in _elements(blocks):
        if element.get("type") in {"mrkdwn", "markdown"} and isinstance(element.get("text"), str):
            yield element["text"]
    for attachment in message.get("attachments") or []:
        for key in ("pretext", "text", "title", "footer", "fallback"):
            if isinstance(attachment.get(key), str):
                yield attachment[key]
        yield from _texts({"blocks": attachment.get("blocks")})
        for field in attachment.get("fields") or []:
            yield str(field.get("value", ""))


def _elements(value: Any) -> Iterator[Json]:
    """Every object, however deep."""
    if isinstance(value, list):
        for item in value:
            yield from _elements(item)
    elif isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _elements(item)
