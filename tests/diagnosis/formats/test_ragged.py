"""Numbers of any width, read many at once, are to the last bit what `float` makes of each."""

import math
import random
import re
import struct
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnosis.formats.bulk.chunk import Chunk
from diagnosis.formats.bulk.dict_layout import MARGIN, Column
from tests.counts import examples

BEFORE = b"{'loss': "
NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]{1,3})?")
LONGEST = 23
ODD = ("", ".", "1.", ".5", "-", "+1.5", "-0.0", "0", "007", "1.2.3", "nan", "inf", "1e400", "1e5", "1E-05", "12e-5")
ODD += ("1e-123", "5e-324", "9007199254740993", "1 ", "1_0", "0x1", "\xe9", "1.5\xe9", "\0", "-e-05", "e-05", "1.e-05")

floats = st.floats(allow_nan=False, allow_infinity=False)
usual = st.floats(1e-9, 1e7)
tokens = st.one_of(
    floats.map(repr),
    usual.map(repr),
    usual.map(lambda value: repr(-value)),
    st.integers(0, 10**20).map(str),
    st.tuples(usual, st.integers(0, 20)).map(lambda both: f"{both[0]:.{both[1]}f}"),
    st.tuples(floats, st.integers(0, 20)).map(lambda both: f"{both[0]:.{both[1]}e}"),
    st.sampled_from(ODD),
)


def same(one, other):
    """True when two floats are the same bits."""
    return struct.pack("<d", one) == struct.pack("<d", other)


def read(column, printed):
    """What a column says of each token: its value, None where it has none."""
    data = b"".join(BEFORE + token.encode() + b", 'x': 1}\n" for token in printed)
    chunk = Chunk(data + MARGIN, len(data))
    begins = chunk.starts + len(BEFORE)
    values, ends, good = column.read(chunk, begins)
    sizes = [len(token.encode()) for token in printed]
    assert all(
        not fits or end - begin == size for fits, begin, end, size in zip(good, begins, ends, sizes, strict=True)
    )
    return [float(value) if fits else None for value, fits in zip(values, good, strict=True)]


def expected(token, factor=1.0):
    """What must be said of a token."""
    if NUMBER.fullmatch(token) is None or len(token) > LONGEST or math.isinf(float(token) * factor):
        return None
    return float(token) * factor


@given(
    pieces=st.lists(st.lists(tokens, min_size=1, max_size=60), min_size=1, max_size=3),
    factor=st.sampled_from((1.0, 1024.0)),
)
@settings(max_examples=examples(200), deadline=None)
def test_numbers_of_any_width_are_read_as_floats(pieces, factor):
    """Whatever stands beside them and was read before."""
    column = Column(("loss", factor), BEFORE, ord(","))

    for printed in pieces:
        told = read(column, printed)

        for token, value in zip(printed, told, strict=True):
            wanted = expected(token, factor)
            assert (value is None) == (wanted is None), token
            assert value is None or same(value, wanted), token


@pytest.mark.parametrize("digits", range(16, 23))
def test_what_lies_near_the_middle_of_two_floats_is_rounded_right(digits):
    """The digits of the middle itself, as many as fit."""
    dice, printed = random.Random(digits), []
    for _ in range(2000):
        middle = (2 * (dice.getrandbits(52) | 1 << 52) + 1) / Decimal(2 ** dice.randint(48, 66))
        printed.append(format(middle, "f")[:digits])

    told = read(Column(("loss", 1.0), BEFORE, ord(",")), printed)

    assert all(same(value, float(token)) for token, value in zip(printed, told, strict=True))


@given(printed=st.lists(tokens, min_size=1, max_size=60))
@settings(max_examples=examples(50), deadline=None)
def test_a_number_that_nobody_reads_is_still_one(printed):
    """A line with something else in its place is none of this kind."""
    told = read(Column(None, BEFORE, ord(",")), printed)

    for token, value in zip(printed, told, strict=True):
        assert value is None or NUMBER.fullmatch(token) is not None, token
        assert value is not None or expected(token) is None, token


@pytest.mark.parametrize("wrong", [b"{'loss'; ", b"{'loss':\t", b"{'lost': ", b"|'loss': "])
def test_what_stands_in_front_is_compared_byte_by_byte(wrong):
    """One other byte is another line."""
    data = wrong + b"2.5, 'x': 1}\n"
    chunk = Chunk(data + MARGIN, len(data))

    good = Column(("loss", 1.0), BEFORE, ord(",")).read(chunk, chunk.starts + len(BEFORE))[2]

    assert not good.any()
