"""Incidents and mutes."""

import math

import pytest

from registry import RegistryAway, connect
from registry.incidents import AT_ONCE


async def test_an_incident_is_remembered_as_it_was_saved(registry):
    """Fields stay until they are saved anew; the timeline has one entry per finding."""
    await registry.incidents.save("i1", "run42", {"state": "open", "ts": "1.2"}, timeline={"w/e/1": {"text": "a"}})
    await registry.incidents.save("i1", "run42", {"state": "acknowledged"}, timeline={"w/e/1": "b", "w/e/2": "c"})

    fields = await registry.incidents.get("i1")

    assert (fields["run"], fields["state"], fields["ts"]) == ("run42", "acknowledged", "1.2")
    assert await registry.incidents.timeline("i1") == {"w/e/1": {"text": "a"}, "w/e/2": "c"}


async def test_open_incidents_are_found_by_run_and_over_all(registry):
    """A closed one is in the history, and no longer among the open."""
    for name, run in (("i1", "run42"), ("i2", "run42"), ("i3", "other")):
        await registry.incidents.save(name, run, {})
    await registry.incidents.save("i2", "run42", {"state": "resolved"}, is_open=False)

    assert set(await registry.incidents.open_of("run42")) == {"i1"}
    assert set(await registry.incidents.all_open()) == {"i1", "i3"}
    assert set(await registry.incidents.of_run("run42")) == {"i1", "i2"}
    assert next(iter(await registry.incidents.recent())) == "i2"


async def test_hundreds_of_incidents_are_looked_through_a_few_at_a_time(registry):
    """The run's own come first, then the newest of all, each once; never are many of them in memory together."""
    for number in range(3 * AT_ONCE):
        await registry.incidents.save(f"i{number}", "run42" if number < 3 else "other", {})

    pieces = [piece async for piece in registry.incidents.newest("run42", 2, 2 * AT_ONCE)]

    names = [name for piece in pieces for name in piece]
    assert names[:3] == ["i2", "i1", f"i{3 * AT_ONCE - 1}"]
    assert len(names) == len(set(names)) == 2 + 2 * AT_ONCE
    assert max(map(len, pieces)) <= AT_ONCE


async def test_a_reopened_incident_is_open_again(registry):
    """Nothing of the closing stays behind."""
    await registry.incidents.save("i1", "run42", {}, is_open=False)
    await registry.incidents.save("i1", "run42", {})

    assert set(await registry.incidents.all_open()) == {"i1"}


async def test_what_is_not_there_is_none(registry):
    """An id nobody saved is no incident."""
    assert await registry.incidents.get("never") is None
    assert await registry.incidents.timeline("never") == {}


async def test_a_mute_always_ends(registry):
    """It holds until its time, then it is gone; it can be taken back before."""
    await registry.mutes.add("m1", 100.0, {"run": "run42", "by": "U1"})
    await registry.mutes.add("m2", math.inf, {"run": "other"})

    assert set(await registry.mutes.active(99.9)) == {"m1", "m2"}
    assert set(await registry.mutes.active(100.0)) == {"m2"}
    assert await registry.mutes.remove("m2")
    assert not await registry.mutes.remove("m2")
    assert await registry.mutes.tidy(100.0) == 1
    assert await registry.mutes.active(0) == {}


async def test_no_redis_is_away(tmp_path):
    """An address where nobody listens is RegistryAway, for every call."""
    registry = connect(f"unix://{tmp_path}/none.sock", "test")

    with pytest.raises(RegistryAway, match="not reachable"):
        await registry.check()
    with pytest.raises(RegistryAway):
        await registry.runs.see("run42")
    await registry.aclose()
