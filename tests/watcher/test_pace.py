"""What catching up takes from the job: the share that was set, however many runs there are."""

import asyncio

import pytest

from watcher.pace import HASTE_SECONDS, LONGEST_SECONDS, Pace

BATCH_SECONDS = 0.1
"""CPU time of one batch here."""


class Machine:
    """A core, and time that passes only by work and by sleep."""

    def __init__(self):
        self.spent = self.now = 0.0
        self.batches = {}

    def work(self, seconds):
        """Take the core."""
        self.spent += seconds
        self.now += seconds

    async def sleep(self, seconds):
        """Let time pass, and the others have their turn."""
        self.now += seconds
        await asyncio.sleep(0)

    def pace(self, share):
        return Pace(share, spent=lambda: self.spent, clock=lambda: self.now, sleep=self.sleep)

    async def catch_up(self, pace, name, until, beside=0.0):
        """Read batch after batch; `beside` is what else the process does meanwhile."""
        while self.now < until:
            async with pace.turn(is_behind=True):
                self.work(BATCH_SECONDS)
                await asyncio.sleep(0)
                self.batches[name] = self.batches.get(name, 0) + 1
            self.work(beside)


@pytest.mark.parametrize("runs", [1, 3, 300])
@pytest.mark.parametrize("share", [0.2, 0.5, 1.0])
async def test_all_runs_together_take_the_share_and_no_more(share, runs):
    """After its haste a watcher that catches up takes what was allowed, and uses it, with one run or with hundreds."""
    machine = Machine()
    pace = machine.pace(share)
    ends = 600.0

    await asyncio.gather(*(machine.catch_up(pace, name, ends) for name in range(runs)))

    allowed = HASTE_SECONDS + share * machine.now
    assert 0.9 * min(allowed, machine.now) <= machine.spent <= allowed + runs * BATCH_SECONDS


async def test_each_run_has_its_turn():
    """None of those that are behind waits for another's whole log."""
    machine = Machine()
    pace = machine.pace(0.5)

    await asyncio.gather(*(machine.catch_up(pace, name, 600.0) for name in range(30)))

    assert max(machine.batches.values()) <= 2 * min(machine.batches.values())


async def test_who_keeps_up_waits_for_nobody():
    """A line that was written just now is read though the others are far behind."""
    machine = Machine()
    pace = machine.pace(0.1)
    await machine.catch_up(pace, "behind", 2 * HASTE_SECONDS)
    now = machine.now

    async with pace.turn(is_behind=False):
        pass

    assert machine.now == now


async def test_catching_up_goes_on_where_the_share_is_taken_already():
    """What else the watcher does may take more than the share; a long log is then read slowly, not never."""
    machine = Machine()
    pace = machine.pace(0.2)

    await machine.catch_up(pace, "behind", 600.0, beside=10 * BATCH_SECONDS)

    assert machine.batches["behind"] >= 600.0 / (LONGEST_SECONDS + 11 * BATCH_SECONDS) - 1
