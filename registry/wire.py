"""How our values travel through Redis and stand in the spool: small, versioned JSON.

`{"v": 1, "t": "finding", …fields}`. Fields at their default stay away; a reader ignores fields it does not know, so
old and new versions live side by side. NaN and infinities are the words of the `inspect` contract: JSON has none.
"""

import json
import math
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from itertools import islice
from typing import Any, Final, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from diagnosis.findings import Cleared, Finding
from diagnosis.observations import Evidence, GpuSample, Heartbeat, HostSample, ProcessSample, RankProgress
from diagnosis.series import AttemptSpan, Mark

VERSION: Final = 1
LARGEST_BYTES: Final = 256 * 1024
"""What a reader accepts. A writer shortens texts long before."""
CAPS: Final = ((4096, 1024), (1024, 128), (256, 32))
"""Longest text and longest list; the next pair is taken when the whole is still too large."""

KINDS: Final[dict[str, type]] = {
    "finding": Finding,
    "cleared": Cleared,
    "heartbeat": Heartbeat,
    "gpu": GpuSample,
    "process": ProcessSample,
    "host": HostSample,
    "rank": RankProgress,
    "mark": Mark,
    "attempt": AttemptSpan,
    "evidence": Evidence,
}
_NAMES: Final = {kind: name for name, kind in KINDS.items()}
_ENDLESS: Final = 1 << 62
_NUMBER_WORDS: Final = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}

V = TypeVar("V")


class Unreadable(ValueError):
    """These bytes are not something a Runwatch of ours wrote, or a future one in a way we cannot read."""


def encode(value: Any) -> bytes:
    """Return one of the KINDS as bytes; texts and lists beyond the caps are shortened."""
    name = _NAMES.get(type(value))
    if name is None:
        raise TypeError(f"{type(value).__name__} does not travel; add it to KINDS in registry/wire.py")
    return dump({"v": VERSION, "t": name, **_plain_fields(value)})


def plain(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass value that say something, for `dump` and later `build`."""
    return _plain_fields(value)


def decode(data: bytes | str) -> Any:
    """Return what `encode` was given. Raises Unreadable on anything else."""
    record = load(data)
    if not isinstance(record, dict):
        raise Unreadable("not a record")
    kind = KINDS.get(str(record.get("t")))
    if kind is None:
        raise Unreadable(f"unknown kind {record.get('t')!r:.40}")
    return build(kind, record)


def decode_as(kind: type[V], data: bytes | str) -> V:
    """Return what `encode` was given, which must be of this kind."""
    value = decode(data)
    if not isinstance(value, kind):
        raise Unreadable(f"a {type(value).__name__} where a {kind.__name__} belongs")
    return value


def dump(content: Any) -> bytes:
    """Return JSON-able data as compact bytes, NaN and infinities as words, shortened until it may travel."""
    data = b""
    for caps in CAPS:
        text = json.dumps(_plain(content, caps), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        data = text.encode("utf-8", "backslashreplace")
        if len(data) <= LARGEST_BYTES:
            return data
    raise ValueError(f"{len(data)} bytes even when shortened; at most {LARGEST_BYTES} travel")


def load(data: bytes | str) -> Any:
    """Return the JSON in these bytes. Raises Unreadable, whatever they are."""
    if len(data) > LARGEST_BYTES:
        raise Unreadable(f"{len(data)} bytes, more than the {LARGEST_BYTES} we accept")
    try:
        return _DECODER.decode(data if isinstance(data, str) else data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as problem:
        raise Unreadable("not JSON") from problem


def jsonable(content: Any) -> Any:
    """Return data that JSON can hold, whole, NaN and infinities as words: for documents, not for travelling."""
    return _plain(content, (_ENDLESS, _ENDLESS))


def number(value: Any) -> float | None:
    """Return a number as it travelled: a number, or one of the words for NaN and the infinities."""
    if isinstance(value, str):
        return _NUMBER_WORDS.get(value)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def build(kind: type[V], record: Mapping[str, Any]) -> V:
    """Return a value of this dataclass from plain fields, ignoring those it does not have."""
    try:
        return kind(
            **{
                name: read(record[name])
                for name, read, may_be_none in _readers(cast("Any", kind))
                if name in record and (may_be_none or record[name] is not None)
            }
        )
    except (TypeError, ValueError, OverflowError, AttributeError, RecursionError) as problem:
        raise Unreadable(f"not a {kind.__name__}: {problem}") from problem


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


_DECODER: Final = json.JSONDecoder(parse_constant=_no_constant)
"""Made once: `json.loads` with an argument makes one each time, which a list of ten thousand runs would feel."""


def _plain_fields(value: Any) -> dict[str, Any]:
    plain = {}
    for name, default, is_made in _defaults(cast("Any", type(value))):
        content = getattr(value, name)
        if not (content is default or (is_made and not content)):
            plain[name] = content
    return plain


@cache
def _defaults(kind: type) -> tuple[tuple[str, Any, bool], ...]:
    """Return each field's default and whether it is made by a factory, worked out once."""
    return tuple((item.name, item.default, item.default_factory is not MISSING) for item in fields(kind))


def _plain(value: Any, caps: tuple[int, int]) -> Any:
    kind = type(value)
    if kind is str:
        return value if len(value) <= caps[0] else value[: caps[0] - 1] + "…"
    if kind is float:
        return value if math.isfinite(value) else "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if kind is int or value is None or kind is bool:
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float):
        # A number of another library, such as numpy's.
        return _plain(float(value), caps)
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(_plain_fields(value), caps)
    if isinstance(value, Mapping):
        return {str(_plain(key, caps)): _plain(item, caps) for key, item in islice(value.items(), caps[1])}
    if isinstance(value, tuple | list | set | frozenset):
        return [_plain(item, caps) for item in islice(value, caps[1])]
    return value


@cache
def _readers(kind: type) -> tuple[tuple[str, Callable[[Any], Any], bool], ...]:
    """Return how to read each field of a dataclass and whether it may be None, worked out once."""
    hints = get_type_hints(kind)
    return tuple(
        (item.name, _reader(hints[item.name]), type(None) in get_args(hints[item.name])) for item in fields(kind)
    )


def _reader(hint: Any) -> Callable[[Any], Any]:
    origin, parts = get_origin(hint), get_args(hint)
    if origin in {Union, types.UnionType}:
        item = _reader(next(part for part in parts if part is not type(None)))
        return lambda value: None if value is None else item(value)
    if origin is tuple:
        item = _reader(parts[0])
        return lambda value: tuple(item(one) for one in _list(value))
    if origin is not None and issubclass(origin if isinstance(origin, type) else object, Mapping):
        item = _reader(parts[1])
        return lambda value: {str(key): item(one) for key, one in value.items()}
    if origin is Literal:
        return lambda value: value if value in parts else parts[-1]
    if is_dataclass(hint):
        return lambda value: build(cast("type[Any]", hint), value)
    if hint is Any:
        return lambda value: value
    if hint is float:
        return _float
    if hint is int:
        return _int
    if hint is bool:
        return bool
    if isinstance(hint, type):
        return hint
    return lambda value: value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("a list belongs here")
    return value


def _float(value: Any) -> float:
    read = number(value)
    if read is None:
        raise TypeError("a number belongs here")
    return read


def _int(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("a whole number belongs here")
    return value
