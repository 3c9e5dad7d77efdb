"""The small text beside a snapshot's summary: what was found on each node, and what became of each piece."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from handlers.messages.escaping import visible
from handlers.messages.phrase import Clause, say
from handlers.messages.snapshot import say_bytes

MOST_BYTES = 60_000
MOST_MOMENTS = 20
LONGEST = 2000


def snapshot_text(run: str, answers: Sequence[tuple[str, Mapping[str, Any]]], note: str) -> str:
    """Everything that fits, node by node; what others wrote is shown with its control signs made visible."""
    lines = [say("Snapshot of {run}", run=run).plain]
    lines += [say("Note: {note}", note=note).plain, ""] if note else [""]
    for node, body in answers:
        lines += [f"== {visible(node)} {_text(body, 'path')}", *_url(body)]
        lines += [f"   {say('not taken: {why}', why=_clause(body, 'error')).plain}"] if body.get("error") else []
        lines += [line for moment in _dicts(body.get("moments"))[:MOST_MOMENTS] for line in _moment(moment)]
        lines += [_piece(piece) for piece in _dicts(body.get("pieces"))]
        lines.append("")
    text = "\n".join(lines)
    return text if len(text) <= MOST_BYTES else f"{text[:MOST_BYTES]}\n… {say('cut').plain}\n"


def _moment(moment: Mapping[str, Any]) -> list[str]:
    at = moment.get("at")
    when = f"{datetime.fromtimestamp(at, UTC):%H:%M:%S} UTC " if isinstance(at, int | float) else ""
    line = moment.get("line")
    place = f"{_text(moment, 'file')}{f':{line}' if isinstance(line, int) else ''}"
    return [f"   {when}{_clause(moment, 'text').plain}", f"      {place}", f"      {_text(moment, 'quote')}"]


def _piece(piece: Mapping[str, Any]) -> str:
    """Its name is that of its file; what became of it is told."""
    size = piece.get("bytes")
    told = say_bytes(float(size)) if isinstance(size, int | float) and size else ""
    outcome, why = _clause(piece, "outcome").plain, _clause(piece, "why").plain
    return f"   {_text(piece, 'name'):<24} {outcome:<12} {told:>9}  {why}".rstrip()


def _url(body: Mapping[str, Any]) -> list[str]:
    return [f"   {say('copied to {url}', url=_text(body, 'url')).plain}"] if body.get("url") else []


def _clause(body: Mapping[str, Any], name: str) -> Clause:
    return Clause(str(body.get(name) or "")[:LONGEST])


def _text(body: Mapping[str, Any], name: str) -> str:
    return visible(str(body.get(name) or ""))[:LONGEST]


def _dicts(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else []
