"""Lines come out as a terminal would have shown them, at their places, whatever the chunks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.formats.hygiene import CUT, MAX_LINE_BYTES
from diagnosis.formats.splitter import Splitter

BYTES = st.lists(st.sampled_from([b"a", b"bc", b"\n", b"\r", b"\r\n", b"\0", b"\xff", "ü".encode()]), max_size=40)


def pieces(data: bytes, sizes=()):
    """Everything the splitter gives, with what is left at the end."""
    splitter = Splitter()
    found = []
    position = 0
    for size in (*sizes, len(data)):
        found += splitter.split(data[position : position + size])
        position += size
    last = splitter.partial()
    return [*found, *([last] if last else [])]


def test_lines_have_the_numbers_that_grep_prints():
    """By LF, from 1."""
    assert [(raw, line) for raw, _, line, _, _ in pieces(b"a\nb\n\nc\n")] == [(b"a", 1), (b"b", 2), (b"", 3), (b"c", 4)]


def test_redraws_of_a_line_share_its_number():
    """Each is a piece of its own, with its byte offset and with what stands in front of it."""
    assert [(raw, offset, line, before) for raw, offset, line, before, _ in pieces(b"1\r22\r3\nx")] == [
        (b"1", 0, 1, b""),
        (b"22", 2, 1, b"1\r"),
        (b"3", 5, 1, b"1\r22\r"),
        (b"x", 7, 2, b""),
    ]


@given(parts=BYTES, sizes=st.lists(st.integers(1, 7), max_size=30))
def test_chunks_change_nothing(parts, sizes):
    """Any chunking of any bytes gives the same pieces."""
    data = b"".join(parts)

    assert pieces(data, sizes) == pieces(data)


@given(parts=BYTES)
def test_no_byte_is_lost_but_nul(parts):
    """Pieces and line ends together are the data."""
    data = b"".join(parts).replace(b"\0", b"")

    assert b"".join(raw for raw, *_ in pieces(data)) == data.replace(b"\n", b"").replace(b"\r", b"")


@pytest.mark.parametrize("end", [b"\n", b"\r"])
def test_an_endless_line_is_cut_and_the_next_is_not_lost(end):
    """It costs one capped line of memory, and the cut can be seen."""
    splitter = Splitter()
    chunk = b"x" * (1 << 20)
    found = [piece for _ in range(64) for piece in splitter.split(chunk)]
    found += splitter.split(end + b"next\n")

    assert len(found[0][0]) == MAX_LINE_BYTES + len(CUT.encode())
    assert found[0][0].endswith(CUT.encode())
    assert found[1][0] == b"next"
    assert found[1][1] == (64 << 20) + 1


def test_a_hole_of_nul_bytes_is_skipped():
    """A file truncated under its writer begins with one; it may be huge and holds no line end."""
    splitter = Splitter()
    for _ in range(64):
        assert splitter.split(b"\0" * (1 << 20)) == []

    found = splitter.split(b"\0\0step\n")

    assert [(raw, line) for raw, _, line, _, _ in found] == [(b"step", 1)]


def test_a_line_read_before_its_end_is_not_read_twice():
    """What comes later is a piece of the same line."""
    splitter = Splitter()
    splitter.split(b"first half, ")
    half = splitter.partial()
    rest = splitter.split(b"second half\nnext\n")

    assert half is not None
    assert half[0] == b"first half, "
    assert [(raw, line, starts) for raw, _, line, _, starts in rest] == [
        (b"second half", 1, False),
        (b"next", 2, True),
    ]
    assert rest[0][3] == b"first half, "
