"""Makes a layout out of a line that `LogReader` has just read, and proves it on changed digits first."""

import random
from itertools import accumulate

import numpy as np

from diagnosis.formats.bulk.decimal import Number, number_at
from diagnosis.formats.bulk.dict_layout import DictLayout
from diagnosis.formats.bulk.dict_learning import dict_layout_of
from diagnosis.formats.bulk.layout import Group, Layout
from diagnosis.formats.bulk.stamps import Stamp, stamp_at
from diagnosis.formats.dialects.huggingface import DICT
from diagnosis.formats.hygiene import kept_places, strip_escapes
from diagnosis.formats.line import Line
from diagnosis.formats.shapes import Places, Shape
from diagnosis.formats.timestamps import STAMP
from diagnosis.observations import StepKind

LONGEST = 4096
TRIES = 4
_COUNTED = frozenset({"lap", "unix_time", "policy_loss", "episode", "steps_per_epoch"})
_NO_LOSS = {"torchtitan": -1.0, "huggingface": None, "nemo": None}
"""Dialects that put values right in a way that columns can follow: the value that is no loss."""


def layout_of(raw: bytes, line: Line, shape: Shape, *, has_step: bool = True) -> Layout | DictLayout | None:
    """The layout of a line as the reader left it; None when its like cannot be read as columns.

    Without `has_step` something else tells the step.
    """
    places = shape.places(line.text)
    byte_of = _bytes_of_text(raw, line)
    if places is None or byte_of is None or len(raw) > LONGEST:
        return None
    kind = _kind(shape, places, has_step=has_step)
    if kind is None or (shape.found.settle is not None and shape.name not in _NO_LOSS):
        return None
    if shape.name == DICT.name and (flat := dict_layout_of(raw, line, shape, kind)) is not None:
        return flat
    picked: dict[int, int] = {}
    numbers: dict[str, Number] = {}
    for name, start, end, factor in places.numbers:
        number = _number(raw, byte_of, (start, end), factor, picked)
        if number is None:
            return None
        numbers[name] = number
    stamp = _stamp(raw, line, places, byte_of, picked)
    if stamp is None and line.time is not None:
        return None
    names = frozenset((*numbers, *places.constants))
    group = Group(shape.name, kind, line.origin, line.stream, names, stamp is not None)
    gaps = frozenset((*picked, *(byte_of[place] for place in _free_digits(line.text, shape, places))))
    layout = Layout(
        raw, line.text, shape, group, gaps, tuple(picked), numbers, places.constants, stamp, _NO_LOSS.get(shape.name)
    )
    return layout if _is_proven(layout, places, byte_of) else None


def _kind(shape: Shape, places: Places, *, has_step: bool) -> StepKind | None:
    """Whence the step comes; None for lines that tell it in another way than is wanted."""
    names = {name for name, *_ in places.numbers}
    carries_one = "step" in names or {"epoch", "step_in_epoch"} <= names
    if not _COUNTED.isdisjoint(names) or carries_one is not has_step:
        return None
    if not has_step:
        return "implied"
    return "printed" if shape.found.kind == "implied" else shape.found.kind


def _bytes_of_text(raw: bytes, line: Line) -> list[int] | None:
    """For every character of the text, the place of its first byte in the line; one more for its end."""
    printed, text = line.printed, line.text
    if not text or printed.encode("utf-8", "replace") != raw:
        return None
    kept = kept_places(printed)
    stripped = strip_escapes(printed)
    if len(kept) != len(stripped) or not stripped.endswith(text):
        return None
    sizes = [0, *accumulate(len(character.encode()) for character in printed)]
    return [sizes[place] for place in kept[-len(text) :]] + [sizes[kept[-1] + 1]]


def _number(
    raw: bytes, byte_of: list[int], span: tuple[int, int], factor: float, picked: dict[int, int]
) -> Number | None:
    start, end = byte_of[span[0]], byte_of[span[1]]
    if end - start != span[1] - span[0]:
        return None  # an escape, or a character of several bytes, stands inside the number
    return number_at(raw[start:end], start, factor, picked)


def _stamp(raw: bytes, line: Line, places: Places, byte_of: list[int], picked: dict[int, int]) -> Stamp | None:
    if places.time is not None:
        start, end = byte_of[places.time[0]], byte_of[places.time[1]]
        return stamp_at(raw[start:end], start, picked)
    if line.time is None:
        return None
    # An envelope told the time.
    head = raw[: byte_of[0]].decode("utf-8", "replace")
    found = STAMP.search(head)
    if found is None or not head.isascii():
        return None
    return stamp_at(head[slice(*found.span())].encode(), found.start(), picked)


def _free_digits(text: str, shape: Shape, places: Places) -> list[int]:
    """Digits that the shape neither reads nor holds: they may be any others."""
    read = [(start, end) for _, start, end, _ in places.numbers]
    read += [span for span in (places.time, places.rank) if span is not None]
    taken = {place for start, end in read for place in range(start, end)}
    free: list[int] = []
    for place, character in enumerate(text):
        if place in taken or not (character.isascii() and character.isdigit()):
            continue
        other = text[:place] + ("7" if character != "7" else "4") + text[place + 1 :]
        if shape.places(other) == places:
            free.append(place)
    return free


def _is_proven(layout: Layout, places: Places, byte_of: list[int]) -> bool:
    """The layout reads the line, and others with other digits, as the shape does."""
    dice = random.Random(0)  # noqa: S311 - the same tries each time
    fixed = set() if layout.stamp is None else set(range(layout.stamp.start, layout.stamp.end))
    place_of = {byte: place for place, byte in enumerate(byte_of[:-1])}
    free = [place for place in layout.gaps if place in place_of and place not in fixed]
    raws, texts = [], []
    for turn in range(TRIES):
        raw, text = bytearray(layout.line), list(layout.text)
        for place in free if turn else ():
            digit = dice.choice("0123456789")
            raw[place], text[place_of[place]] = ord(digit), digit
        raws.append(bytes(raw))
        texts.append("".join(text))
    return _reads_alike(layout, raws, texts, places)


def _reads_alike(layout: Layout, raws: list[bytes], texts: list[str], places: Places) -> bool:
    assert layout.shape is not None
    digits, misfit = layout.match(np.frombuffer(b"".join(raws), np.uint8).reshape(len(raws), -1))
    if misfit is not None:
        return False
    columns, refused = layout.values(digits)
    for number, text in enumerate(texts):
        read = layout.shape.read(text)
        if read is None or layout.shape.places(text) != places:
            return False
        told = {**{name: float(column[number]) for name, column in columns.items()}, **layout.constants}
        if told != read[0] and (refused is None or not refused[number]):
            return False
    return True
