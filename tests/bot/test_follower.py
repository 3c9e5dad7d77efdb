"""In which order a bot takes what an earlier one left."""

import pytest

from bot.follower import in_order
from registry import StreamId
from registry.events import Event
from registry.ledger import Intent

ONE, OTHER = StreamId("node1", "e"), StreamId("node2", "e")


def waiting(*items):
    """(stream, number, moment of the intent or None)."""
    return [(Event(stream, number, b""), at and Intent("C1", "bot", at)) for stream, number, at in items]


@pytest.mark.parametrize(
    ("items", "ordered"),
    [
        ([], []),
        ([(ONE, 1, None), (ONE, 2, None)], [(ONE, 1), (ONE, 2)]),
        # What was about to be told keeps its thread: the other node's finding joins it, not the other way round.
        ([(ONE, 1, None), (OTHER, 7, 5.0)], [(OTHER, 7), (ONE, 1)]),
        # Over, and back again: in this order they are two troubles, in the other one.
        ([(ONE, 1, None), (ONE, 2, 5.0), (ONE, 3, None)], [(ONE, 1), (ONE, 2), (ONE, 3)]),
        ([(ONE, 1, 9.0), (OTHER, 1, 4.0), (ONE, 2, 3.0)], [(ONE, 1), (ONE, 2), (OTHER, 1)]),
        ([(ONE, 1, 5.0), (OTHER, 1, 5.0)], [(ONE, 1), (OTHER, 1)]),
    ],
)
def test_what_was_intended_comes_first_and_a_stream_keeps_its_order(items, ordered):
    """Each finding once."""
    assert [(event.stream, event.number) for event in in_order(waiting(*items))] == ordered
