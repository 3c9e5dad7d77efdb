"""A Slack message as lines for a terminal."""

import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from handlers.messages.blocks import Message

_SIGN = re.compile(r"<([@#!][^<>|]*)(?:\|([^<>]*))?>")
_BOLD = re.compile(r"(?<![\w*])\*(?=\S)([^*\n]*[^*\s])\*(?![\w*])")
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}


def plain_of(mrkdwn: str) -> str:
    """What a reader in Slack sees, as text: signs resolved, bold marks gone, entities as their letters."""
    resolved = _SIGN.sub(lambda sign: sign[2] if sign[2] is not None else sign[1].lstrip("!"), mrkdwn)
    unmarked = _BOLD.sub(r"\1", resolved)
    return re.sub(r"&(?:lt|gt|amp);", lambda entity: _ENTITIES[entity[0]], unmarked)


def show(message: Message, console: Console | None = None) -> None:
    """Print a message on stdout."""
    out = console or Console(file=sys.stdout, soft_wrap=True, highlight=False)
    if not message.blocks:
        out.print(Text(plain_of(message.text)))
    for block in message.blocks:
        for part in _parts(block):
            out.print(part)


def table_of(rows: Sequence[Sequence[str]]) -> Table:
    """A table without frames; numbers stand as they are."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for name in rows[0]:
        made.add_column(Text(name), overflow="fold")
    for row in rows[1:]:
        made.add_row(*(Text(cell) for cell in row))
    return made


def _parts(block: dict[str, Any]) -> Iterator[Text | Table]:
    kind = block["type"]
    if kind == "section":
        yield Text(plain_of(block["text"]["text"]))
    elif kind == "context":
        yield Text(" · ".join(plain_of(element["text"]) for element in block["elements"]), style="dim")
    elif kind == "rich_text":
        for element in block["elements"]:
            text = "".join(str(inner.get("text", "")) for inner in element["elements"])
            yield Text("\n".join(f"  {line}" for line in text.splitlines()))
    elif kind == "table":
        yield table_of([[str(cell.get("text", "")) for cell in row] for row in block["rows"]])
