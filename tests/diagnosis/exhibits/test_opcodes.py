"""The interpreter of plain pickles: it builds values and nothing else."""

import contextlib
import math
import os
import pickle
import pickletools
import struct
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.exhibits.opcodes import MAX_DEPTH, Plain, UnsafePickle, read_plain

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 100), 1 << 100)
    | st.floats(allow_nan=False)
    | st.text(max_size=40)
    | st.binary(max_size=40),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(st.text(max_size=8) | st.integers(0, 1 << 30), inner, max_size=5)
        | st.tuples(inner, inner)
        | st.tuples(inner, inner, inner, inner)
    ),
    max_leaves=30,
)


class Evil:
    def __reduce__(self):
        return os.system, ("touch /tmp/runwatch-was-here",)


@given(PLAIN, st.integers(3, 5))
def test_plain_values_come_back_as_they_were(value, protocol):
    assert read_plain(pickle.dumps(value, protocol)) == Plain(value, complete=True)


@given(st.dictionaries(st.text(max_size=8), st.integers() | st.text(max_size=20), max_size=8))
def test_the_oldest_protocols_are_read_too(value):
    small = {key: item if isinstance(item, str) else item % 1000 for key, item in value.items()}
    try:
        read = read_plain(pickle.dumps(small, 1))
    except UnsafePickle:
        pytest.fail("protocol 1 holds nothing but plain values here")
    assert read.value == small


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize(
    "value", [Evil(), [{"entries": [Evil()]}], os.getcwd, datetime.now(UTC), {1, 2}, complex(1, 2)]
)
def test_whatever_would_call_something_is_refused(value, protocol, tmp_path):
    with pytest.raises(UnsafePickle):
        read_plain(pickle.dumps(value, protocol))


def test_every_instruction_that_is_not_known_is_refused():
    known = b"\x80\x95(0N\x88\x89KMJIL\x8a\x8bFG\x8cX\x8dUTCB]})ldt\x85\x86\x87aesuqrp\x94hjg."
    for code in range(256):
        if code not in known:
            with pytest.raises(UnsafePickle):
                read_plain(bytes([0x80, 4, ord("]"), code]) + b"1\n" * 40 + b".")
    dangerous = {
        "GLOBAL",
        "STACK_GLOBAL",
        "REDUCE",
        "BUILD",
        "INST",
        "OBJ",
        "NEWOBJ",
        "NEWOBJ_EX",
        "EXT1",
        "PERSID",
        "BINPERSID",
    }
    assert not {op.code.encode("latin-1")[0] for op in pickletools.opcodes if op.name in dangerous} & set(known)


def test_a_value_that_contains_itself_is_refused():
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(UnsafePickle):
        read_plain(pickle.dumps(endless))


def test_deep_nesting_is_refused_before_it_hurts():
    with pytest.raises(UnsafePickle):
        read_plain(b"\x80\x04" + b"]" * 200_000 + b"a" * 199_999 + b".")
    value: object = 1
    for _ in range(MAX_DEPTH - 1):
        value = [value]
    assert read_plain(pickle.dumps(value)).complete


def test_a_billion_laughs_is_refused():
    laugh = b"\x80\x04]\x94" + b"".join(b"(" + b"h\x00" * 10 + b"e" for _ in range(60)) + b"."
    with pytest.raises(UnsafePickle):
        read_plain(laugh)


@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x04X" + struct.pack("<I", 1 << 31) + b"a",
        b"\x80\x04\x8d" + struct.pack("<Q", 1 << 60) + b"a",
        b"\x80\x04\x8b" + struct.pack("<i", 1 << 30) + b"1",
        b"\x80\x04\x8b" + struct.pack("<i", -5) + b"1",
        b"\x80\x04I" + b"9" * 200 + b"\n.",
        b"\x80\x09N.",
        b"\x80\x04.",
        b"\x80\x04a.",
        b"\x80\x04t.",
        b"\x80\x04}]Ns.",
        b"\x80\x04h\x05.",
        b"\x80\x04Fabc\n.",
    ],
)
def test_lies_about_sizes_and_broken_programs_are_refused(data):
    with pytest.raises(UnsafePickle):
        read_plain(data)


def test_a_dump_cut_anywhere_gives_what_it_held():
    value = {"version": "2.5", "entries": [{"record_id": i, "state": "completed"} for i in range(50)]}
    data = pickle.dumps(value, 2)
    most = 0
    for cut in range(2, len(data), 7):
        found = read_plain(data[:cut])
        assert not found.complete
        if isinstance(found.value, dict) and isinstance(found.value.get("entries"), list):
            entries = [entry for entry in found.value["entries"] if entry]
            assert entries[:-1] == value["entries"][: max(0, len(entries) - 1)]
            most = max(most, len(entries))
    assert most >= 45


@given(st.binary(max_size=300))
def test_any_bytes_give_a_value_or_a_refusal(data):
    for head in (b"", b"\x80\x04"):
        with contextlib.suppress(UnsafePickle):
            read_plain(head + data)


@given(PLAIN, st.data())
def test_a_flipped_byte_gives_a_value_or_a_refusal(value, data):
    raw = bytearray(pickle.dumps(value, 4))
    place = data.draw(st.integers(0, len(raw) - 1))
    raw[place] = data.draw(st.integers(0, 255))
    with contextlib.suppress(UnsafePickle):
        read_plain(bytes(raw))


def test_nan_is_a_number():
    assert math.isnan(read_plain(pickle.dumps(math.nan)).value)
