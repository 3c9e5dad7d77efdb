"""A lane lets through what Slack takes, the urgent first, and keeps still after a 429."""

import asyncio

import pytest

from bot import pacing
from bot.pacing import NORMAL, PATIENT, URGENT, Pacing


@pytest.mark.parametrize(
    ("priorities", "expected"),
    [
        ((PATIENT, NORMAL, URGENT), ["critical", "reply", "edit"]),
        ((NORMAL, NORMAL, NORMAL), ["edit", "reply", "critical"]),
    ],
    ids=["by priority", "control: all the same"],
)
async def test_the_urgent_overtakes_the_waiting(priorities, expected):
    """Whoever is most urgent when the turn comes has it; among equals, whoever waits longest."""
    pacing, order = Pacing(), []

    async def go(name, priority):
        await pacing.turn("post C1", 0.05, priority=priority)
        order.append(name)

    await go("first", NORMAL)
    names = ("edit", "reply", "critical")
    await asyncio.gather(*(go(name, priority) for name, priority in zip(names, priorities, strict=True)))

    assert order == ["first", *expected]


@pytest.mark.parametrize("keeps", [True, False], ids=["place kept", "control: a new one each time"])
async def test_whoever_is_refused_keeps_its_place(keeps):
    """Slack says "later" to the first; when the lane opens it goes before those who came after it."""
    pacing, order = Pacing(), []

    async def go(name):
        place = pacing.place() if keeps else None
        await pacing.turn("post C1", 0.02, place=place)
        if name == "refused" and not order:
            order.append("the refusal")
            pacing.close("post C1", 0.1)
            await asyncio.sleep(0)
            assert pacing.waiting("post C1") == 2
            await pacing.turn("post C1", 0.02, place=place)
        order.append(name)

    await asyncio.gather(*(go(name) for name in ("refused", "second", "third")))

    kept = ["the refusal", "refused", "second", "third"]
    assert (order == kept) is keeps


@pytest.mark.parametrize(
    ("made_up_for", "took"), [(pacing.MADE_UP_FOR, 100.1), (0.0, 110.0)], ids=["made up for", "control: lost each time"]
)
async def test_a_turn_that_came_late_makes_the_next_no_later(monkeypatch, made_up_for, took):
    """A hundred turns on a machine that wakes a tenth of a second late each time take as long as a hundred turns."""
    clock = [0.0]

    async def oversleep(seconds):
        clock[0] += seconds + 0.1

    monkeypatch.setattr(pacing, "MADE_UP_FOR", made_up_for)
    monkeypatch.setattr(asyncio, "sleep", oversleep)
    paced = Pacing(lambda: clock[0])
    for _ in range(101):
        await paced.turn("x", 1.0)

    assert clock[0] == pytest.approx(took)


async def test_lanes_do_not_wait_for_each_other():
    """A closed channel holds up nobody else."""
    pacing = Pacing()
    await pacing.turn("post C1", 0.01)
    pacing.close("post C1", 60.0)

    blocked = asyncio.create_task(pacing.turn("post C1", 0.01))
    await asyncio.wait_for(pacing.turn("post C2", 0.01), 30)
    await asyncio.sleep(0.05)

    assert not blocked.done()
    assert pacing.waiting("post C1") == 1
    blocked.cancel()


async def test_nothing_goes_before_the_time_that_slack_said():
    """After Retry-After the lane opens, not earlier."""
    clock = [0.0]
    pacing = Pacing(lambda: clock[0])
    await pacing.turn("x", 0.001)
    pacing.close("x", 5.0)
    pacing.close("x", 1.0)

    waiting = asyncio.create_task(pacing.turn("x", 0.001))
    clock[0] = 4.9
    await asyncio.sleep(0.02)
    assert not waiting.done()
    waiting.cancel()

    clock[0] = 5.1
    await asyncio.wait_for(pacing.turn("y", 0.001), 30)


async def test_a_cancelled_call_gives_its_turn_away():
    """Somebody who left does not hold the lane."""
    pacing = Pacing()
    await pacing.turn("x", 0.05)
    gone = asyncio.create_task(pacing.turn("x", 0.05, priority=URGENT))
    stays = asyncio.create_task(pacing.turn("x", 0.05))
    await asyncio.sleep(0)
    gone.cancel()

    await asyncio.wait_for(stays, 30)
    assert gone.cancelled()


async def test_a_failing_lane_tells_those_who_wait():
    """Nobody waits for ever for a turn that will not come."""
    clock = iter([0.0, 0.0, 0.0])
    pacing = Pacing(lambda: next(clock))
    await pacing.turn("x", 60.0)

    with pytest.raises(RuntimeError):
        await asyncio.wait_for(pacing.turn("x", 60.0), 30)
