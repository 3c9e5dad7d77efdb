"""Makes the layout of a flat dict out of a line that `LogReader` has just read, and proves it on other numbers."""

import random
import re
from itertools import pairwise

import numpy as np

from diagnosis.formats.bulk.chunk import Chunk
from diagnosis.formats.bulk.dict_layout import MARGIN, Column, DictLayout
from diagnosis.formats.bulk.layout import Group
from diagnosis.formats.line import Line
from diagnosis.formats.shapes import Places, Shape
from diagnosis.observations import StepKind

TRIES = 6
LONGEST = 4096
_ITEM = re.compile(
    r"'[^',\n]{1,80}': (?P<quote>['\"]?)(?P<value>[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d{1,3})?)(?P=quote)(?:, |\}\Z)"
)
_OTHERS = ("0.5", "-1.25", "3e-05", "12", "0.00029999987999999997", "1.8671811819076538", "2.0E+3", "77777.125")
"""Numbers as others print them."""


def dict_layout_of(raw: bytes, line: Line, shape: Shape, kind: StepKind) -> DictLayout | None:
    """The layout of a line that is one flat dict of numbers; None when it is more than that."""
    text = line.text
    places = shape.places(text)
    head = raw[: len(raw) - len(text)]
    if places is None or len(raw) > LONGEST or not raw.isascii() or head + text.encode() != raw:
        return None
    if line.time is not None or places.time is not None or places.rank is not None or b"\0" in raw:
        return None
    numbers = _numbers(text, shape, places)
    if not numbers:
        return None
    starts, stops = [0, *(stop for _, stop in numbers)], [*(start for start, _ in numbers), len(text)]
    between = [text[start:stop].encode() for start, stop in zip(starts, stops, strict=True)]
    known = {(start, stop): (name, factor) for name, start, stop, factor in places.numbers}
    between[0] = head + between[0]
    columns = tuple(
        Column(known.get(span), before, behind[0])
        for span, (before, behind) in zip(numbers, pairwise(between), strict=True)
    )
    names = frozenset(name for name, *_ in places.numbers) | frozenset(places.constants)
    group = Group(shape.name, kind, line.origin, line.stream, names, is_timed=False)
    layout = DictLayout(raw, text, shape, group, columns, between[-1], places.constants)
    return layout if _is_proven(layout, numbers, known) else None


def _numbers(text: str, shape: Shape, places: Places) -> list[tuple[int, int]]:
    """Where the numbers stand that may be others; none when something else stands in the dict."""
    at, spans = 1, []
    while text[:1] == "{" and at < len(text):
        item = _ITEM.match(text, at)
        if item is None:
            return []
        spans.append(item.span("value"))
        at = item.end()
    read = {(start, stop) for _, start, stop, _ in places.numbers}
    free = [span for span in spans if span in read or shape.match(text[: span[0]] + "0.625" + text[span[1] :])]
    return free if read <= set(free) else []


def _is_proven(
    layout: DictLayout, numbers: list[tuple[int, int]], known: dict[tuple[int, int], tuple[str, float]]
) -> bool:
    """The layout reads the line, and others with other numbers, as the shape does."""
    dice, text = random.Random(0), layout.text  # noqa: S311 - the same tries each time
    head = layout.line[: len(layout.line) - len(text)]
    texts = [text]
    for _ in range(TRIES):
        pieces = [text[: numbers[0][0]]]
        for (_, stop), (following, _) in pairwise([*numbers, (len(text), 0)]):
            pieces += [dice.choice(_OTHERS), text[stop:following]]
        texts.append("".join(pieces))
    data = b"".join(head + one.encode() + b"\n" for one in texts)
    chunk = Chunk(data + MARGIN, len(data))
    rows, columns = layout.read(chunk, np.arange(len(texts)))
    if not len(rows) or rows[0] != 0 or set(columns) != {name for name, _ in known.values()}:
        return False
    for place, row in enumerate(rows.tolist()):
        read = layout.shape.read(texts[row])
        told = {**{name: float(column[place]) for name, column in columns.items()}, **layout.constants}
        if read is None or read[1:] != (None, None) or told != read[0]:
            return False
    return True
