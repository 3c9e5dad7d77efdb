"""What was shown is written down, and what is still owed to a thread is known to whoever takes over."""

from dataclasses import replace

import pytest

from bot.books import Books
from bot.once import LeaseLost, Told
from bot.records import SHOWN, Record, read, save_chart
from diagnosis.findings import Cleared
from diagnosis.incidents import Resolved, State, Tracker
from diagnosis.observations import Origin
from registry import keys
from registry.events import Event
from tests.bot.test_backlog import STREAM

TOLD = Told("C1", "1.0")
OPENING, ENDING = Event(STREAM, 1, b""), Event(STREAM, 2, b"")


@pytest.fixture
def over(finding):
    """An incident that was over before its root was told; its thread still has to hear of it."""
    tracker = Tracker()
    [_] = tracker.receive(OPENING.id, finding(), 100.0)
    [said] = tracker.receive(ENDING.id, Cleared("nonfinite_loss", Origin("run42", "node17", 3), "finite again"), 101.0)
    assert isinstance(said, Resolved)
    return said.incident


def books(registry, *events, **more):
    """Those of a bot that took these findings."""
    kept = Books(registry, **more)
    kept.events |= {event.id: event for event in events}
    return kept


async def test_what_is_owed_keeps_an_incident_known(registry, over):
    """Its root was told, its chart came, its root was changed by a bot that has not read that it is over: all the same."""
    record = Record(over, "C1", "1.0")

    await books(registry, OPENING, ENDING).keep(record, [OPENING.id], TOLD, is_new=True)
    assert set(await registry.incidents.unfinished()) == {over.id}
    await save_chart(registry, record, SHOWN)
    assert set(await registry.incidents.unfinished()) == {over.id}
    await books(registry).keep(record, [], TOLD)
    assert set(await registry.incidents.unfinished()) == {over.id}

    last = books(registry, ENDING)
    await last.keep(record, [ENDING.id], TOLD)
    assert await registry.incidents.unfinished() == {}
    assert (await registry.ledger.state(ENDING)).is_settled
    assert last.owing == set()


async def test_what_was_opened_again_while_its_end_was_told_is_not_finished(registry, over, monkeypatch):
    """A person opens it while the ledger is written: whoever takes over must know it."""
    kept = books(registry, ENDING)
    deliver = registry.ledger.delivered

    async def delivered(event, place):
        await deliver(event, place)
        await kept.remember(replace(over, state=State.OPEN))

    monkeypatch.setattr(registry.ledger, "delivered", delivered)
    await kept.keep(Record(over, "C1", "1.0"), [ENDING.id], TOLD)

    assert set(await registry.incidents.unfinished()) == {over.id}


async def test_a_redis_that_went_back_while_it_was_written_knows_the_incident(registry, over, monkeypatch):
    """Its ledger, asked again by itself, must not say of a finding that it is settled in an incident nobody knows."""
    deliver = registry.ledger.delivered

    async def delivered(event, place):
        await registry._door.call("DEL", keys.incident(over.id))
        await registry._door._topology.lost(await registry._door._server_of("rw:any"))
        await deliver(event, place)

    monkeypatch.setattr(registry.ledger, "delivered", delivered)
    await books(registry, OPENING, ENDING).keep(Record(over, "C1", "1.0"), [OPENING.id], TOLD, is_new=True)

    assert read(await registry.incidents.get(over.id)) is not None


async def test_what_was_told_is_owed_no_more(registry, over):
    """The next bot reads from the record what its thread still has to hear, and nothing else."""
    first = books(registry, OPENING, ENDING)
    await first.keep(Record(over, "C1", "1.0"), [OPENING.id], TOLD, is_new=True)
    assert first.owing == {over.id}
    assert list(read(await registry.incidents.get(over.id)).incident.calls) == [ENDING.id]

    await first.keep(Record(over, "C1", "1.0"), [ENDING.id], TOLD)

    assert read(await registry.incidents.get(over.id)).incident.calls == {}


async def test_whoever_lost_the_right_to_announce_writes_nothing(registry, over):
    """It slept, another bot told more meanwhile: what it knew must not be written over that."""
    late = books(registry, OPENING, may_write=lambda: False)

    with pytest.raises(LeaseLost):
        await late.keep(Record(over, "C1", "1.0"), [OPENING.id], TOLD, is_new=True)
    with pytest.raises(LeaseLost):
        await late.settle([OPENING.id], None)
    await books(registry).keep(Record(over, "C1", "1.0"), [], TOLD)
    await late.finish([over.id])
    assert set(await registry.incidents.unfinished()) == {over.id}

    await books(registry).finish([over.id])
    assert await registry.incidents.unfinished() == {}
    assert not (await registry.ledger.state(OPENING)).is_settled
