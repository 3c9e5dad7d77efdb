"""One real line and what must be read from it: the form of every dialect's test."""

import math
from typing import Any, NamedTuple

from tests.diagnosis.formats.reading import facts, reader_of, samples


class Case(NamedTuple):
    """A log of a few lines, the dialect it speaks, and the samples in it."""

    dialect: str
    text: str
    expected: list[dict[str, Any]]


def check(case: Case) -> None:
    """The log is read as expected, number for number."""
    reader, seen = reader_of(case.text)
    found = [facts(sample) for sample in samples(seen)]

    assert len(found) == len(case.expected), found
    for got, wanted in zip(found, case.expected, strict=True):
        for name, value in wanted.items():
            assert is_same(got.get(name), value), f"{name}: {got.get(name)!r}, wanted {value!r} in {got}"
    assert reader.dialect == case.dialect
    assert reader.unread.count == 0, reader.unread.samples


def is_same(got: Any, wanted: Any) -> bool:
    """Equal, NaN to NaN and None to nothing, numbers to nine digits."""
    if wanted is None or got is None:
        return got is wanted
    if isinstance(wanted, str):
        return bool(got == wanted)
    if math.isnan(wanted):
        return math.isnan(got)
    return math.isclose(got, wanted, rel_tol=1e-9)


NAN = math.nan
INF = math.inf
