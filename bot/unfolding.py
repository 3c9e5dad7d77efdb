"""Documents that hold a training's lines folded up: a Jupyter notebook, and records of JSON on one line.

Both become lines again while they are read, each with the number of the physical line it came from, so that
evidence can be looked up in the file as it lies there.
"""

import codecs
import io
import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import IO, Any, cast

from diagnosis.formats.fields import loss_key, normalise

CHUNK = 1 << 18
MOST_BYTES = 32 << 20
"""Of a longer document on one line only its records are told, each while it is read."""
_NOTEBOOK = re.compile(rb'\A\s*\{\s*"(?:cells|metadata|nbformat(?:_minor)?)":')
_CELL = b'"cell_type"'
_OUTPUT = re.compile(r'"(text|text/html|traceback)": \[$')
_HTML = "text/html"
_HTML_CELL = re.compile(r"<t[dh][^>]*>(.*?)</t[dh]>")
_RECORDS = re.compile(r"\[\s*(?=\{)")
_LIST_OPENS = 256
"""Characters between the bracket of a list and its first object, at most, where they are read in two pieces."""
_BETWEEN = re.compile(r"\s*,?\s*")
_DECODER = json.JSONDecoder()
_FEWEST = 2


def unfolded(head: bytes, stream: IO[bytes]) -> IO[bytes] | None:
    """What the document holds, as lines; None for a file that is no such document. `head` was read already."""
    if _NOTEBOOK.match(head) is not None and _CELL in head:
        lines = _notebook_lines(_physical_lines(head, stream))
        return _lines(lines)
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
            break
        data += more
    if b"\n" in data.rstrip():
        return _lines(_on(data, stream))
    is_whole = len(data) < MOST_BYTES
    text = data.decode("utf-8", "replace")
    found = _records(_Rest(text, None if is_whole else stream))
    first = list(islice(found, _FEWEST))
    records: Iterable[str] = chain(first, found) if len(first) == _FEWEST else _rows(text) if is_whole else ()
    redrawn = _redrawn(records)
    begin = next(redrawn, None)
    return _lines(_on(data, stream) if begin is None else chain([begin], redrawn))


def _lines(pieces: Iterator[bytes]) -> IO[bytes]:
    return cast("IO[bytes]", io.BufferedReader(_Lines(pieces)))


def _redrawn(records: Iterable[str]) -> Iterator[bytes]:
    """All on one line; nothing where there are none."""
    end = b""
    for record in records:
        yield end + record.encode("utf-8", "replace")
        end = b"\r"
    if end:
        yield b"\n"


def _on(data: bytes, stream: IO[bytes]) -> Iterator[bytes]:
    while data:
        yield data
        data = stream.read(CHUNK)


class _Rest:
    """What is still to be read of a document, and the stream that holds more of it than is here."""

    def __init__(self, text: str, stream: IO[bytes] | None) -> None:
        self.text = text
        self.place = 0
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def grow(self) -> bool:
        """Twice as much as is left, so that a long record costs no more than its length; False: there is no more."""
        if self._stream is None or len(self.text) - self.place > MOST_BYTES:
            return False
        self.text, self.place = self.text[self.place :], 0
        more = self._stream.read(max(CHUNK, len(self.text)))
        self.text += self._decoder.decode(more)
        return bool(more)

    def give_up(self) -> None:
        """Nothing behind this place can be understood."""
        self.place, self._stream = len(self.text), None


def _records(rest: _Rest) -> Iterator[str]:
    """The objects of every list of objects, or those that stand one behind the other without one."""
    is_list = not _are_in_a_row(rest.text)
    while not is_list or _finds_a_list(rest):
        is_list = True
        while (record := _next_record(rest)) is not None:
            yield record


def _are_in_a_row(text: str) -> bool:
    try:
        end = _DECODER.raw_decode(text)[1] if text[:1] == "{" else len(text)
    except (ValueError, RecursionError):
        return False
    between = _BETWEEN.match(text, end)
    return between is not None and text[between.end() : between.end() + 1] == "{"


def _finds_a_list(rest: _Rest) -> bool:
    while (start := _RECORDS.search(rest.text, rest.place)) is None:
        rest.place = max(rest.place, len(rest.text) - _LIST_OPENS)
        if not rest.grow():
            return False
    rest.place = start.end()
    return True


def _next_record(rest: _Rest) -> str | None:
    """The object that begins here; None: another thing does, or half an object at the end."""
    while True:
        between = _BETWEEN.match(rest.text, rest.place)
        start = rest.place if between is None else between.end()
        try:
            if start < len(rest.text):
                if rest.text[start] != "{":
                    return None
                rest.place = _DECODER.raw_decode(rest.text, start)[1]
                return rest.text[start : rest.place]
        except RecursionError:
            rest.give_up()
        except ValueError:
            pass
        if not rest.grow():
            rest.give_up()
            return None


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
