"""In which order a bot takes what an earlier one left, and when it begins anew."""

import pytest

from bot.follower import Follower, in_order
from registry import StreamId
from registry.errors import RegistryAway
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


async def test_as_long_as_nobody_can_say_what_was_forgotten_reading_goes_on(registry, monkeypatch):
    """One of several servers is away: what the others hold is read, and it is asked again until it answers."""
    answers = [100.0, RegistryAway("away"), 100.0, 200.0]
    monkeypatch.setattr(type(registry.events), "changes", property(lambda _: len(answers)))

    async def doubtful_before(_streams):
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(registry.events, "doubtful_before", doubtful_before)
    follower = Follower(registry, None, None)
    await follower.begin()

    assert [await follower.may_have_forgotten() for _ in range(3)] == [False, False, True]


async def test_a_reign_begins_though_one_of_several_servers_is_away(registry, monkeypatch):
    """What the others hold is told meanwhile; once it is back, the reign begins anew with what it knows."""
    answers = [RegistryAway("away"), RegistryAway("away"), 100.0]

    async def doubtful_before(_streams):
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(registry.events, "doubtful_before", doubtful_before)
    follower = Follower(registry, None, None)
    await follower.begin()

    assert [await follower.may_have_forgotten() for _ in range(2)] == [False, True]


async def test_a_stream_whose_server_is_away_holds_up_no_other(registry, monkeypatch):
    """It is asked for again; only when all are away nothing can be read."""
    away, door = {OTHER}, registry.ledger._door
    answered = door.many
    for stream in (ONE, OTHER):
        await registry.events.register(stream)
        await registry.events.publish(stream.watcher, stream.epoch, 1, b"x", "key")

    async def many(commands, *, raising=True):
        said = await answered(commands)
        silent = [any(stream.watcher in command[1] for stream in away) for command in commands]
        if raising and any(silent):
            raise RegistryAway("away")
        return [RegistryAway("away") if is_silent else one for one, is_silent in zip(said, silent, strict=True)]

    monkeypatch.setattr(door, "many", many)
    follower = Follower(registry, None, None)

    await follower._find_streams()
    assert set(follower._positions) == {ONE}
    away.clear()
    await follower._find_streams()
    assert set(follower._positions) == {ONE, OTHER}
    away |= {ONE, OTHER}
    with pytest.raises(RegistryAway):
        await Follower(registry, None, None)._find_streams()
