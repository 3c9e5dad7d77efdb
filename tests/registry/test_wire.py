"""Values travel whole, new and old versions live side by side, and no bytes hurt the reader."""

import dataclasses
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.findings import Cleared, Finding
from diagnosis.observations import (
    Evidence,
    GpuSample,
    Heartbeat,
    HostSample,
    Origin,
    Phase,
    ProcessSample,
    RankProgress,
)
from diagnosis.series import AttemptSpan, Mark
from registry import wire
from tests.registry.values import finding

ORIGIN = Origin("run42", "node1", 3, 1)
VALUES = [
    finding(),
    dataclasses.replace(finding(), details={"loss": "2.31"}, last_good_step=6, attempt=2),
    Cleared("stall", ORIGIN, "it moves again", step=8),
    Heartbeat("w", "node1", 1.5, runs=("a", "b"), problems=("no NVIDIA driver here",), fields={"version": "1"}),
    GpuSample("node1", 0, 1.0, utilization_percent=99.5, memory_used_bytes=1 << 40, pids=(1, 2)),
    ProcessSample("node1", 7, 1.0, "python3", "disk-sleep", gpu_indices=(0,)),
    HostSample("node1", 1.0, disk_free_bytes={"/": 1.5}, processes=(ProcessSample("node1", 7, 1.0, "p", "zombie"),)),
    RankProgress(ORIGIN, 5, 1.0, 2.0, Phase.SAVING, Evidence("a.log", 1, "x", 2)),
    Mark("jump", 5.0, 1.0, 9.0, 2.0),
    AttemptSpan(2, 1.0, 5.0, end="crashed"),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_arrives_as_it_was_sent(value):
    """Every kind survives the journey, nested parts and enumerations included."""
    assert wire.decode(wire.encode(value)) == value


def test_every_kind_that_travels_is_tested():
    """A new kind in KINDS needs a value above."""
    assert set(wire.KINDS.values()) - {type(value) for value in VALUES} == {Evidence}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_that_json_has_not_arrives(value):
    """NaN and the infinities travel as the words of the inspect contract, in JSON any program reads."""
    data = wire.encode(Mark("nonfinite", 5.0, value=value))

    json.loads(data, parse_constant=pytest.fail)
    assert repr(wire.decode(data).value) == repr(value)


def test_a_newer_writer_is_understood():
    """Fields we do not know are ignored, fields we miss take their default."""
    record = {"v": 2, "t": "cleared", "kind": "stall", "origin": {"run": "a", "rack": 4}, "text": "x", "mood": "good"}

    assert wire.decode(wire.dump(record)) == Cleared("stall", Origin("a"), "x")


def test_a_finding_keeps_its_key():
    """What names a finding for ever is the same on both sides."""
    assert wire.decode(wire.encode(finding(9))).key == finding(9).key


def test_a_huge_text_is_shortened_and_still_arrives():
    """No line of a log can make a finding too large to travel."""
    evidence = tuple(Evidence("a.log", line, "x" * 100_000) for line in range(200))

    data = wire.encode(dataclasses.replace(finding(), evidence=evidence, text="y" * 1_000_000))

    assert len(data) <= wire.LARGEST_BYTES
    assert wire.decode(data).text.endswith("y…")


def test_broken_unicode_travels():
    """Half a surrogate from a log of any bytes does no harm."""
    sent = dataclasses.replace(finding(), text="\udc80 lone")

    assert wire.decode(wire.encode(sent)).text == "\udc80 lone"


@given(st.binary(max_size=200) | st.text(max_size=200))
def test_no_bytes_hurt_the_reader(data):
    """Anything that is not ours is Unreadable, never another error."""
    with pytest.raises(wire.Unreadable):
        wire.decode(data)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
field_names = sorted({field.name for kind in wire.KINDS.values() for field in dataclasses.fields(kind)})


@given(st.sampled_from(sorted(wire.KINDS)), st.dictionaries(st.sampled_from(field_names), json_values, max_size=10))
def test_no_record_hurts_the_reader(kind, record):
    """Fields of any shape give a value of the right kind or Unreadable."""
    try:
        value = wire.decode(wire.dump({**record, "t": kind}))
    except wire.Unreadable:
        return
    assert isinstance(value, wire.KINDS[kind])


@pytest.mark.parametrize("data", [b"[" * 100_000, b"x" * (wire.LARGEST_BYTES + 1), b'{"t":"finding","v":NaN}'])
def test_hostile_json_is_unreadable(data):
    """Deep, huge and non-standard JSON is refused, not suffered."""
    with pytest.raises(wire.Unreadable):
        wire.decode(data)


def test_only_what_may_travel_does():
    """A type nobody put on the list is our own mistake and says where to mend it."""
    with pytest.raises(TypeError, match="KINDS"):
        wire.encode(object())


def test_the_kind_is_checked():
    """Whoever expects a finding is not handed a mark."""
    with pytest.raises(wire.Unreadable, match="Mark"):
        wire.decode_as(Finding, wire.encode(Mark("jump", 1.0)))
