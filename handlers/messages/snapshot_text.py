"""The small text beside a snapshot's summary: what was found on each node, and what became of each piece."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from handlers.messages.escaping import visible
from handlers.messages.snapshot import say_bytes

MOST_BYTES = 60_000
MOST_MOMENTS = 20


def snapshot_text(run: str, answers: Sequence[tuple[str, Mapping[str, Any]]], note: str) -> str:
    """Everything that fits, node by node; what others wrote is shown with its control signs made visible."""
    lines = [f"Snapshot of {visible(run)}", *([f"Note: {visible(note)}"] if note else []), ""]
    for node, body in answers:
        lines += [f"== {visible(node)} {_text(body, 'path')}", *_url(body)]
        lines += [f"   not taken: {_text(body, 'error')}"] if body.get("error") else []
        lines += [line for moment in _dicts(body.get("moments"))[:MOST_MOMENTS] for line in _moment(moment)]
        lines += [_piece(piece) for piece in _dicts(body.get("pieces"))]
        lines.append("")
    text = "\n".join(lines)
    return text if len(text) <= MOST_BYTES else text[:MOST_BYTES] + "\n… cut\n"


def _moment(moment: Mapping[str, Any]) -> list[str]:
    at = moment.get("at")
    when = f"{datetime.fromtimestamp(at, UTC):%H:%M:%S} UTC " if isinstance(at, int | float) else ""
    line = moment.get("line")
    place = f"{_text(moment, 'file')}{f':{line}' if isinstance(line, int) else ''}"
    return [f"   {when}{_text(moment, 'text')}", f"      {place}", f"      {_text(moment, 'quote')}"]


def _piece(piece: Mapping[str, Any]) -> str:
    size = piece.get("bytes")
    told = say_bytes(float(size)) if isinstance(size, int | float) and size else ""
    why = _text(piece, "why")
    return f"   {_text(piece, 'name'):<24} {_text(piece, 'outcome'):<12} {told:>9}  {why}".rstrip()


def _url(body: Mapping[str, Any]) -> list[str]:
    return [f"   copied to {_text(body, 'url')}"] if body.get("url") else []


def _text(body: Mapping[str, Any], name: str) -> str:
    return visible(str(body.get(name) or ""))[:2000]


def _dicts(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else []
