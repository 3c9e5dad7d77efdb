"""Reads the pickles that PyTorch's flight recorder writes without unpickling them.

A pickle is a program. This interpreter knows only the instructions that build dicts, lists, tuples, texts and
numbers, refuses every other one, and stops at limits of depth, count and size. It never imports, calls or
makes an object of any class. A file that was cut while it was written gives what it held until there.
"""

import struct
from collections.abc import Callable
from typing import Any, Final, NamedTuple

MAX_ITEMS: Final = 4_000_000
"""Values that may be built from one file."""
MAX_TEXT: Final = 1 << 20
"""Bytes of one text."""
MAX_DEPTH: Final = 64
MAX_INT_BYTES: Final = 16


class UnsafePickle(ValueError):
    """The file holds an instruction that could do more than build plain values, or more than we take."""


class _Truncated(Exception):
    """Not an error of anybody: the file simply ends."""


class Plain(NamedTuple):
    """What a pickle held."""

    value: Any
    """Dicts, lists, tuples, texts, bytes, numbers, booleans and None; nothing else."""
    complete: bool
    """False when the file ended before its last instruction."""


def read_plain(data: bytes) -> Plain:
    """The value in a pickle made of plain values.

    Raises:
        UnsafePickle: Any instruction beyond them, or a limit was reached.
    """
    reader = _Reader(data)
    try:
        return Plain(reader.run(), complete=True)
    except _Truncated:
        return Plain(reader.rescue(), complete=False)


_MARK = object()


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._place = 0
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}
        self._depths: dict[int, int] = {}
        self._shared: set[int] = set()
        self._built = 0

    def run(self) -> Any:
        while True:
            code = self._take(1)[0]
            if code == _STOP:
                return self._pop()
            action = _ACTIONS.get(code)
            if action is None:
                raise UnsafePickle(f"instruction {code:#04x} at byte {self._place - 1}")
            action(self)

    def rescue(self) -> Any:
        """The outermost value of a file that ends too early, filled with what is there."""
        stack = self._stack
        while any(item is _MARK for item in stack):
            parts = self.since_mark()
            if stack and isinstance(stack[-1], list):
                stack[-1].extend(parts)
            elif stack and isinstance(stack[-1], dict):
                stack[-1].update(
                    pair for pair in zip(parts[::2], parts[1::2], strict=False) if isinstance(pair[0], str)
                )
        while len(stack) > 1:
            value = stack.pop()
            if isinstance(stack[-1], list):
                stack[-1].append(value)
            elif len(stack) > 1 and isinstance(stack[-1], str) and isinstance(stack[-2], dict):
                stack[-2][stack.pop()] = value
        return stack[0] if stack else None

    # Reading

    def _take(self, count: int) -> bytes:
        end = self._place + count
        if end > len(self._data):
            raise _Truncated
        taken = self._data[self._place : end]
        self._place = end
        return taken

    def _line(self) -> bytes:
        end = self._data.find(b"\n", self._place, self._place + 256)
        if end < 0:
            raise _Truncated
        taken = self._data[self._place : end]
        self._place = end + 1
        return taken

    def number(self, form: str) -> int:
        size = struct.calcsize(form)
        return int(struct.unpack(form, self._take(size))[0])

    def text(self, size: int) -> str:
        if size > MAX_TEXT:
            raise UnsafePickle(f"a text of {size} bytes")
        return self._take(size).decode("utf-8", "replace")

    def raw(self, size: int) -> bytes:
        if size > MAX_TEXT:
            raise UnsafePickle(f"{size} raw bytes")
        return self._take(size)

    def decimal(self) -> int | bool:
        line = self._line()
        if line in (b"00", b"01"):
            return line == b"01"
        return _small_int(line.rstrip(b"L"))

    def real(self) -> float:
        try:
            return float(self._line())
        except ValueError as error:
            raise UnsafePickle("a number that is none") from error

    def long(self, size: int) -> int:
        if not 0 <= size <= MAX_INT_BYTES:
            raise UnsafePickle(f"a number of {size} bytes")
        return int.from_bytes(self._take(size), "little", signed=True)

    # Building

    def push(self, value: Any) -> None:
        self._built += 1
        if self._built > MAX_ITEMS:
            raise UnsafePickle(f"more than {MAX_ITEMS} values")
        self._stack.append(value)

    def mark(self) -> None:
        self._stack.append(_MARK)

    def _pop(self) -> Any:
        if not self._stack or self._stack[-1] is _MARK:
            raise UnsafePickle("an instruction without its values")
        return self._stack.pop()

    def since_mark(self) -> list[Any]:
        for place in range(len(self._stack) - 1, -1, -1):
            if self._stack[place] is _MARK:
                taken = self._stack[place + 1 :]
                del self._stack[place:]
                return taken
        raise UnsafePickle("an end without its beginning")

    def top(self, kind: type) -> Any:
        if not self._stack or not isinstance(self._stack[-1], kind):
            raise UnsafePickle(f"no {kind.__name__} to fill")
        return self._stack[-1]

    def build_tuple(self, count: int | None) -> None:
        parts = self.since_mark() if count is None else [self._pop() for _ in range(count)][::-1]
        value = tuple(parts)
        self._grow(value, parts)
        self.push(value)

    def append(self, values: list[Any]) -> None:
        target = self.top(list)
        self._grow(target, values)
        target.extend(values)

    def set_items(self, values: list[Any]) -> None:
        if len(values) % 2:
            raise UnsafePickle("a key without its value")
        target = self.top(dict)
        self._grow(target, values)
        for key, value in zip(values[::2], values[1::2], strict=True):
            if not isinstance(key, str | int | float | bytes | tuple | None):
                raise UnsafePickle("a key that is no plain value")
            try:
                target[key] = value
            except TypeError as error:
                raise UnsafePickle("a key that is no plain value") from error

    def _grow(self, target: Any, parts: list[Any]) -> None:
        """Refuse nesting that is too deep, and values that could come to contain themselves."""
        if id(target) in self._shared:
            raise UnsafePickle("a value that grows after it was used elsewhere")
        depth = self._depths.get(id(target), 1)
        for part in parts:
            if isinstance(part, dict | list | tuple):
                depth = max(depth, self._depths.get(id(part), 1) + 1)
        if depth > MAX_DEPTH:
            raise UnsafePickle(f"deeper than {MAX_DEPTH}")
        self._depths[id(target)] = depth

    def put(self, place: int) -> None:
        if not self._stack or self._stack[-1] is _MARK:
            raise UnsafePickle("nothing to remember")
        if len(self._memo) > MAX_ITEMS:
            raise UnsafePickle("too much to remember")
        self._memo[place] = self._stack[-1]

    def memoize(self) -> None:
        self.put(len(self._memo))

    def get(self, place: int) -> None:
        if place not in self._memo:
            raise UnsafePickle("a value that was never remembered")
        value = self._memo[place]
        if isinstance(value, dict | list):
            self._shared.add(id(value))
        self.push(value)

    def pop(self) -> None:
        if not self._stack:
            raise UnsafePickle("nothing to drop")
        self._stack.pop()

    def skip_frame(self) -> None:
        self._take(8)

    def protocol(self) -> None:
        if self._take(1)[0] > 5:
            raise UnsafePickle("a newer kind of pickle")

    def keep(self, kind: Callable[[], Any]) -> None:
        self.push(kind())

    def dict_from_mark(self) -> None:
        values = self.since_mark()
        self.push({})
        self.set_items(values)

    def list_from_mark(self) -> None:
        values = self.since_mark()
        self.push([])
        self.append(values)

    def one_item(self) -> None:
        value, key = self._pop(), self._pop()
        self.set_items([key, value])

    def one_append(self) -> None:
        value = self._pop()
        self.append([value])

    def get_decimal(self) -> None:
        self.get(_small_int(self._line()))

    def put_decimal(self) -> None:
        self.put(_small_int(self._line()))


def _small_int(text: bytes) -> int:
    if len(text) > 40:
        raise UnsafePickle("a very long number")
    try:
        return int(text)
    except ValueError as error:
        raise UnsafePickle("a number that is none") from error


_STOP = ord(".")
_ACTIONS: Final[dict[int, Callable[[_Reader], None]]] = {
    0x80: _Reader.protocol,
    0x95: _Reader.skip_frame,
    ord("("): _Reader.mark,
    ord("0"): _Reader.pop,
    ord("N"): lambda reader: reader.push(None),
    0x88: lambda reader: reader.push(True),
    0x89: lambda reader: reader.push(False),
    ord("K"): lambda reader: reader.push(reader.number("<B")),
    ord("M"): lambda reader: reader.push(reader.number("<H")),
    ord("J"): lambda reader: reader.push(reader.number("<i")),
    ord("I"): lambda reader: reader.push(reader.decimal()),
    ord("L"): lambda reader: reader.push(reader.decimal()),
    0x8A: lambda reader: reader.push(reader.long(reader.number("<B"))),
    0x8B: lambda reader: reader.push(reader.long(reader.number("<i"))),
    ord("F"): lambda reader: reader.push(reader.real()),
    ord("G"): lambda reader: reader.push(struct.unpack(">d", reader.raw(8))[0]),
    0x8C: lambda reader: reader.push(reader.text(reader.number("<B"))),
    ord("X"): lambda reader: reader.push(reader.text(reader.number("<I"))),
    0x8D: lambda reader: reader.push(reader.text(reader.number("<Q"))),
    ord("U"): lambda reader: reader.push(reader.raw(reader.number("<B"))),
    ord("T"): lambda reader: reader.push(reader.raw(reader.number("<I"))),
    ord("C"): lambda reader: reader.push(reader.raw(reader.number("<B"))),
    ord("B"): lambda reader: reader.push(reader.raw(reader.number("<I"))),
    ord("]"): lambda reader: reader.push([]),
    ord("}"): lambda reader: reader.push({}),
    ord(")"): lambda reader: reader.push(()),
    ord("l"): _Reader.list_from_mark,
    ord("d"): _Reader.dict_from_mark,
    ord("t"): lambda reader: reader.build_tuple(None),
    0x85: lambda reader: reader.build_tuple(1),
    0x86: lambda reader: reader.build_tuple(2),
    0x87: lambda reader: reader.build_tuple(3),
    ord("a"): _Reader.one_append,
    ord("e"): lambda reader: reader.append(reader.since_mark()),
    ord("s"): _Reader.one_item,
    ord("u"): lambda reader: reader.set_items(reader.since_mark()),
    ord("q"): lambda reader: reader.put(reader.number("<B")),
    ord("r"): lambda reader: reader.put(reader.number("<I")),
    ord("p"): _Reader.put_decimal,
    0x94: _Reader.memoize,
    ord("h"): lambda reader: reader.get(reader.number("<B")),
    ord("j"): lambda reader: reader.get(reader.number("<I")),
    ord("g"): _Reader.get_decimal,
}
"""Everything we know how to do. What is missing is missing on purpose: no GLOBAL, no REDUCE, no BUILD, no INST."""
