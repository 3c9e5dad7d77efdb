"""Bytes of one source, in any pieces, cut into the lines a terminal would have shown."""

from collections.abc import Sequence
from itertools import accumulate, repeat
from operator import add
from typing import NamedTuple

from diagnosis.formats.hygiene import CUT, MAX_EVIDENCE, MAX_LINE_BYTES, strip_escapes

_CUT = CUT.encode()


Piece = tuple[bytes, int, int, bytes, bool]
"""What stands between two line ends, a whole line or one redraw of a line that is rewritten with CR:

its bytes; its byte offset in the source; the number of the physical line (by LF, from 1), as `grep -n` prints
it; what stood in front of it on the same physical line (its end only, bounded); whether it begins that line.
A plain tuple, because a log has one for every line.
"""


class Lines(NamedTuple):
    """Whole lines in a row that nothing was done to: no redraw, no hole, none too long."""

    printed: Sequence[str]
    texts: Sequence[str]
    """The same without escapes."""
    number: int
    """The number of the first."""
    offsets: Sequence[int]


class RedrawnLines(NamedTuple):
    """Whole lines in a row, some of them rewritten with CR."""

    raws: Sequence[bytes]
    """Each without its end."""
    number: int
    """The number of the first."""
    offsets: Sequence[int]
    """Where each begins, and one more for the end."""
    rest: bytes
    """What follows the last line end."""


class Splitter:
    """Splits on LF and CR, whatever the chunks; holds at most one capped line."""

    def __init__(self, line: int = 1, offset: int = 0) -> None:
        self.line = line
        self.offset = offset
        """Byte offset of the first byte that is not part of a finished piece."""
        self._held = bytearray()
        self._held_length = 0
        self._before = b""
        self._starts_line = True
        self.cut = 0
        """Lines of which only the beginning was read."""
        self.first_cut: int | None = None
        """The number of the first of them."""
        self._last_cut = 0

    def begin(self) -> None:
        """Another file: its lines are counted anew."""
        self.line, self.offset = 1, 0
        self.cut, self.first_cut, self._last_cut = 0, None, 0

    @property
    def has_partial(self) -> bool:
        """True when a line has begun that is not ended yet."""
        return self._held_length > 0

    def split(self, data: bytes) -> list[Piece]:
        """The pieces that are complete with these bytes."""
        if b"\r" in data or self._before:
            return self._split_redraws(data)
        has_nul = b"\0" in data
        lines = data.split(b"\n")
        rest = lines.pop()
        pieces: list[Piece] = []
        if lines:
            line, offset = self.line, self.offset
            if self._held_length:
                pieces.append(self._finish(lines[0], b""))
                line += 1
                offset += self._held_length + len(lines[0]) + 1
                self._clear()
                del lines[0]
            for raw in lines:
                text = _without_nul(raw) if has_nul else raw
                pieces.append((text if len(text) <= MAX_LINE_BYTES else self._cut(text, line), offset, line, b"", True))
                line += 1
                offset += len(raw) + 1
            self.line, self.offset = line, offset
            self._starts_line = True
        self._hold(rest)
        return pieces

    def whole_lines(self, data: bytes) -> Lines | None:
        """The same lines all together, where they need no care; None: nothing was taken, they must be split."""
        if b"\r" in data or b"\0" in data or self._held_length or self._before:
            return None
        end = data.rfind(b"\n")
        body = data[: max(end, 0)]
        if body.isascii():
            printed = body.decode("ascii").split("\n")
            lengths = list(map(len, printed))
        else:
            raws = body.split(b"\n")
            printed = [raw.decode("utf-8", "replace") for raw in raws]
            lengths = list(map(len, raws))
        if end < 0 or max(lengths) > MAX_LINE_BYTES:
            return None
        offsets = list(accumulate(map(add, lengths, repeat(1)), initial=self.offset))
        texts = list(map(strip_escapes, printed)) if b"\x1b" in data or b"\b" in data else printed
        lines = Lines(printed, texts, self.line, offsets)
        self.line += len(printed)
        self.offset = offsets[-1]
        self._starts_line = True
        self._hold(data[end + 1 :])
        return lines

    def redrawn_lines(self, data: bytes) -> RedrawnLines | None:
        """The lines of these bytes, none of them taken; None where they need more care than a redraw does."""
        if (
            b"\0" in data
            or b"\x1b" in data
            or b"\b" in data
            or not self._starts_line
            or self._held_length
            or self._before
        ):
            return None
        raws = data.split(b"\n")
        rest = raws.pop()
        return RedrawnLines(raws, self.line, list(accumulate(map(len, raws), _next_line, initial=self.offset)), rest)

    def go_on_at(self, line: int, offset: int) -> None:
        """Somebody has read the whole lines up to here."""
        self.line, self.offset = line, offset

    def partial(self) -> Piece | None:
        """Take out the line that has begun, as it stands; what follows is read as a new piece of the same line."""
        if not self._held_length:
            return None
        piece = self._finish(b"", self._before)
        self.offset += self._held_length
        self._before = (self._before + piece[0])[-MAX_EVIDENCE:]
        self._clear()
        self._starts_line = False
        return piece

    def _split_redraws(self, data: bytes) -> list[Piece]:
        pieces: list[Piece] = []
        lines = data.split(b"\n")
        for number, content in enumerate(lines):
            ends_line = number < len(lines) - 1
            parts = content.split(b"\r")
            for place, part in enumerate(parts):
                last = place == len(parts) - 1
                if last and not ends_line:
                    self._hold(part)
                    break
                piece = self._finish(part, self._before)
                pieces.append(piece)
                self.offset += self._held_length + len(part) + 1
                self._clear()
                if last:
                    self.line += 1
                    self._before = b""
                    self._starts_line = True
                else:
                    self._remember(piece[0])
                    self._starts_line = False
        return pieces

    def _finish(self, end: bytes, before: bytes) -> Piece:
        raw = bytes(self._held) + _without_nul(end)
        if len(raw) > MAX_LINE_BYTES:
            raw = self._cut(raw, self.line)
        return raw, self.offset, self.line, before, self._starts_line

    def _cut(self, raw: bytes, line: int) -> bytes:
        if line != self._last_cut:
            self.cut, self._last_cut = self.cut + 1, line
            self.first_cut = self.first_cut or line
        return raw[:MAX_LINE_BYTES] + _CUT

    def _hold(self, part: bytes) -> None:
        if not part:
            return
        self._held_length += len(part)
        room = MAX_LINE_BYTES + 1 - len(self._held)
        if room > 0:
            self._held += _without_nul(part)[:room]

    def _remember(self, raw: bytes) -> None:
        self._before = (self._before + raw + b"\r")[-MAX_EVIDENCE:]

    def _clear(self) -> None:
        self._held.clear()
        self._held_length = 0


def _next_line(offset: int, length: int) -> int:
    return offset + length + 1


def _without_nul(raw: bytes) -> bytes:
    # A file that was truncated under a writer begins with a hole that reads as NUL bytes.
    return raw.replace(b"\0", b"") if b"\0" in raw else raw
