"""A connection that says nothing is noticed, whatever somebody does to this machine's clock."""

import time
from types import SimpleNamespace

import pytest

from bot.sockets import Connection


@pytest.fixture
def connection():
    """One that was heard just now."""
    made = Connection.__new__(Connection)
    made.client = SimpleNamespace(last_ping_pong_time=time.time())
    made.heard_at, made._pong = time.monotonic(), None
    return made


@pytest.mark.parametrize("jump", [0.0, -86_400.0, 86_400.0], ids=["clock as it was", "a day back", "a day on"])
def test_silence_is_counted_on_a_clock_that_nobody_sets(connection, monkeypatch, jump):
    """Thirty seconds after the last pong it was silent for thirty seconds; a new pong ends that."""
    assert connection.silent_seconds < 1
    wall, steady = time.time, time.monotonic
    monkeypatch.setattr(time, "time", lambda: wall() + 30.0 + jump)
    monkeypatch.setattr(time, "monotonic", lambda: steady() + 30.0)

    assert 30.0 <= connection.silent_seconds < 31.0

    connection.client.last_ping_pong_time = time.time()
    assert connection.silent_seconds < 1


@pytest.mark.parametrize("jump", [-86_400.0, 86_400.0], ids=["a day back", "a day on"])
def test_on_a_clock_that_is_set_silence_would_be_miscounted(connection, monkeypatch, jump):
    """Negative control: counted on the wall clock, a day is silence that was not, or hides silence that was."""
    wall = time.time
    monkeypatch.setattr(time, "monotonic", wall)
    connection.heard_at = time.monotonic()
    assert connection.silent_seconds < 1

    monkeypatch.setattr(time, "monotonic", lambda: wall() + 30.0 + jump)

    assert not 30.0 <= connection.silent_seconds < 31.0
