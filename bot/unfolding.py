"""Documents that hold a training's lines folded up: a Jupyter notebook, records of JSON on one line, columns of JSON.

They become lines again while they are read, each with the number of the physical line it came from, so that
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
_COLUMN = re.compile(rb'"[^"\n]{0,80}[lL]oss(?:es)?": ?\[\s*(?:-?\d|NaN|-?Infinity)')
_OUTPUT = re.compile(r'"(text|text/html|traceback)": \[$')
_NUMBER = re.compile(r"-?(?:\d[\d.eE+-]*|NaN|Infinity)|null")
_SEVERAL = re.compile(r"(?i)losses$")
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
    text = head.strip()
    has_lines = b"\n" in text
    if _NOTEBOOK.match(head) is not None and (_CELL in head or not has_lines):
        printed = _notebook_lines(_physical_lines(head, stream)) if has_lines else _minified_notebook(head, stream)
        return _lines(printed)
    if text[:1] in (b"[", b"{") and not has_lines:
        return _one_line(head, stream)
    if text[:1] == b"{" and _COLUMN.search(head) is not None:
        return _lines(_columns(head, stream))
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


def _minified_notebook(head: bytes, stream: IO[bytes]) -> Iterator[bytes]:
    """What was printed there, all on the one line, as a bar is redrawn."""
    data = _whole(head, stream)
    try:
        cells = json.loads(data).get("cells", ())
        printed = [text for cell in cells for out in cell.get("outputs", ()) for text in _printed_by(out)]
    except (ValueError, AttributeError, TypeError, RecursionError):
        return _on(data, stream)
    return _redrawn(printed)


def _printed_by(output: Any) -> Iterator[str]:
    """The lines of one output of a cell."""
    for key in ("text", "traceback"):
        told = output.get(key, ())
        yield from (told if isinstance(told, str) else "\n".join(part.rstrip("\n") for part in told)).split("\n")
    table = output.get("data", {}).get(_HTML, ())
    row: list[str] = []
    for part in re.split(r"(?<=</tr>)", "".join(table)):
        if found := _row_of(part, row):
            yield found


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
    data = _whole(head, stream, until=b"\n")
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


def _whole(head: bytes, stream: IO[bytes], until: bytes | None = None) -> bytes:
    """The document, or so much of it as may be held."""
    data = bytearray(head)
    while len(data) < MOST_BYTES and (until is None or until not in data.rstrip()):
        more = stream.read(CHUNK)
        if not more:
            break
        data += more
    return bytes(data)


def _columns(head: bytes, stream: IO[bytes]) -> Iterator[bytes]:
    """The rows of a history that is printed with indents, each on the line on which its loss stands."""
    data = _whole(head, stream)
    text = data.decode("utf-8", "replace")
    columns = _history(text) if len(data) < MOST_BYTES else None
    if columns is None:
        yield from _on(data, stream)
        return
    rows, opens, left = _rows(text), f"{json.dumps(columns[0])}:", 0
    for line in text.split("\n"):
        begins = line.find(opens) if not left else 0
        left = len(columns[1]) if not left and begins >= 0 else left
        count = min(left, len(_NUMBER.findall(line, begins + len(opens) if line.find(opens) >= 0 else 0)))
        left -= count
        yield "\r".join(islice(rows, count)).encode() + b"\n"


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
    columns = _history(text)
    for place in range(len(columns[1]) if columns is not None else 0):
        assert columns is not None
        yield json.dumps({key: one[place] for key, one in columns[2].items()})


def _history(text: str) -> tuple[str, list[Any], dict[str, list[Any]]] | None:
    """The key of the loss, its values, and all lists that are as long."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    for told in (value, *value.values()) if isinstance(value, dict) else ():
        lists = {key: one for key, one in told.items() if isinstance(one, list)} if isinstance(told, dict) else {}
        names = {normalise(_SEVERAL.sub("loss", key)): key for key in lists}
        loss = loss_key(names)
        values = lists[names[loss]] if loss is not None else []
        if loss is not None and values and not isinstance(values[0], list | dict):
            alike = {key: one for key, one in lists.items() if len(one) == len(values)}
            return names[loss], values, {_SEVERAL.sub("loss", key): one for key, one in alike.items()}
    return None
