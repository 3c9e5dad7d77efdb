"""A clock that is set while a run is followed moves nothing of what is said about the run."""

import time

import pytest

from watcher.node_clock import NodeClock

DAY = 86_400.0


@pytest.mark.parametrize("jump", [-600.0, DAY, -DAY], ids=["ten minutes back", "a day on", "a day back"])
def test_the_difference_follows_a_clock_that_is_set(monkeypatch, jump):
    """What was three seconds ahead is so much more ahead at once, until it is measured anew."""
    clock, real = NodeClock(), time.time
    clock.measured(3.0)

    monkeypatch.setattr(time, "time", lambda: real() + jump)

    assert clock.ahead_seconds == pytest.approx(3.0 + jump, abs=1.0)
    assert time.time() - clock.ahead_seconds == pytest.approx(real() - 3.0, abs=1.0)
    clock.measured(3.0 + jump)
    assert clock.ahead_seconds == pytest.approx(3.0 + jump, abs=1.0)
