"""Documents that hold a training's lines folded up: a Jupyter notebook, and records of JSON on one line.

Both become lines again while they are read, each with the number of the physical line it came from, so that
evidence can be looked up in the file as it lies there.
"""

import io
import json
import re
from collections.abc import Iterator
from typing import IO, Any, cast

from diagnosis.formats.fields import loss_key, normalise

CHUNK = 1 << 18
MOST_BYTES = 32 << 20
"""A longer document on one line is left as it is."""
_NOTEBOOK = re.compile(rb'\A\s*\{\s*"(?:cells|metadata|nbformat(?:_minor)?)":')
_CELL = b'"cell_type"'
_OUTPUT = re.compile(r'"(text|text/html|traceback)": \[$')
_HTML = "text/html"
_HTML_CELL = re.compile(r"<t[dh][^>]*>(.*?)</t[dh]>")
_RECORDS = re.compile(r"\[\s*(?=\{)")
_BETWEEN = re.compile(r"\s*,?\s*")
_FEWEST = 2


def unfolded(head: bytes, stream: IO[bytes]) -> IO[bytes] | None:
    """What the document holds, as lines; None for a file that is no such document. `head` was read already."""
    if _NOTEBOOK.match(head) is not None and _CELL in head:
        lines = _notebook_lines(_physical_lines(head, stream))
        return cast("IO[bytes]", io.BufferedReader(_Lines(lines)))
    text = head.strip()
    if text[:1] in (b"[", b"{") and b"\n" not in text:
        return _one_line(head, stream)
    return None


class _Lines(io.RawIOBase):
    """Lines that are made while they are read."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._lines = lines
        self._left = b""

    def readable(self) -> bool:
        """It is for reading."""
        return True

    def readinto(self, buffer: "memoryview | bytearray") -> int:  # type: ignore[override]
        """As many bytes as are there; none at the end."""
        while not self._left:
            line = next(self._lines, None)
            if line is None:
                return 0
            self._left = line
        count = min(len(buffer), len(self._left))
        buffer[:count], self._left = self._left[:count], self._left[count:]
        return count


def _physical_lines(head: bytes, stream: IO[bytes]) -> Iterator[bytes]:
    rest = head
    while True:
        *lines, rest = rest.split(b"\n")
        yield from lines
        more = stream.read(CHUNK)
        if not more:
            break
        rest += more
    yield rest


def _notebook_lines(lines: Iterator[bytes]) -> Iterator[bytes]:
    """For every line of the file what was printed there, or nothing: code, pictures and settings are no log."""
    inside: str | None = None
    row: list[str] = []
    for raw in lines:
        text = raw.decode("utf-8", "replace").strip()
        printed = ""
        if inside is None:
            opens = _OUTPUT.match(text)
            inside = opens[1] if opens is not None else None
        elif text[:1] != '"':
            inside, row = None, []
        else:
            printed = _string(text).removesuffix("\n")
            if inside == _HTML:
                printed = _row_of(printed, row)
        yield printed.replace("\n", "\r").encode("utf-8", "replace") + b"\n"


def _row_of(html: str, row: list[str]) -> str:
    """The row of a table once it is complete."""
    row += _HTML_CELL.findall(html)
    if "</tr>" not in html:
        return ""
    whole = "\t".join(row)
    row.clear()
    return whole


def _string(text: str) -> str:
    try:
        value = json.loads(text.removesuffix(","))
    except ValueError:
        return ""
    return value if isinstance(value, str) else ""


def _one_line(head: bytes, stream: IO[bytes]) -> IO[bytes]:
    """Records one behind the other, as a bar is redrawn: all on the one line; anything else as it stands."""
    data = head
    while len(data) < MOST_BYTES and b"\n" not in data.rstrip():
        more = stream.read(CHUNK)
        if not more:
            text = data.decode("utf-8", "replace")
            records = list(_records(text)) or list(_rows(text))
            if len(records) >= _FEWEST:
                data = "\r".join(records).encode("utf-8", "replace") + b"\n"
            return io.BytesIO(data)
        data += more
    return cast("IO[bytes]", io.BufferedReader(_Lines(_on(data, stream))))


def _on(data: bytes, stream: IO[bytes]) -> Iterator[bytes]:
    while data:
        yield data
        data = stream.read(CHUNK)


def _records(text: str) -> Iterator[str]:
    """The objects of every list of objects."""
    decoder = json.JSONDecoder()
    start = _RECORDS.search(text)
    while start is not None:
        place = start.end()
        try:
            while text[place : place + 1] == "{":
                end = decoder.raw_decode(text, place)[1]
                yield text[place:end]
                between = _BETWEEN.match(text, end)
                place = between.end() if between is not None else end
        except (ValueError, RecursionError):
            return
        start = _RECORDS.search(text, place)


def _rows(text: str) -> Iterator[str]:
    """A history that is kept as one list for each metric."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return
    for columns in (value, *value.values()) if isinstance(value, dict) else ():
        lists = {key: one for key, one in columns.items() if isinstance(one, list)} if isinstance(columns, dict) else {}
        loss = loss_key(map(normalise, lists))
        length = next((len(one) for key, one in lists.items() if normalise(key) == loss), 0)
        if length:
            for place in range(length):
                yield json.dumps({key: one[place] for key, one in lists.items() if len(one) == length})
            return
