"""A run's own thresholds reach the watcher that follows it, at once or with its next heartbeat."""

import json

import pytest

from diagnosis.thresholds import OF_A_RUN, SPECS
from registry import keys
from tests.watcher.conftest import until
from tests.watcher.following import append, lines


async def jumps(registry):
    series = await registry.series.whole("run42")
    return [mark.step for mark in series.marks if mark.kind == "jump"]


async def test_a_watcher_that_is_told_judges_by_it_from_the_next_point_on(watching, settings, registry, log):
    """A move of 0.5 was none before, and is one after; what was learnt so far stays."""
    log.write_bytes(lines(0, 50))
    agent = await watching(settings)
    append(log, b"step=50 loss=2.9 lr=0.0001 grad_norm=1.0\nstep=51 loss=2.4 lr=0.0001 grad_norm=1.0\n")
    await until(lambda: registry.ranks.all("run42"))

    limits = {"jump_delta": 0.3, "no_such": 1.0}
    await registry.runs.update("run42", limits=limits)
    payload = {"run": "run42", "limits": limits}
    request = await registry.requests.ask(agent.watcher, "limits", payload, await registry.now() + 60)
    answers = await registry.requests.gather(request, [agent.watcher], await registry.now() + 60)
    append(log, b"step=52 loss=2.9 lr=0.0001 grad_norm=1.0\n")

    assert answers[agent.watcher].body == {"taken": True}
    assert await until(lambda: jumps(registry)) == [52.0]


async def test_a_watcher_that_starts_later_takes_what_was_set_before(watching, settings, registry, log):
    """It stands in the registry, and comes with the heartbeat."""
    await registry.runs.see("run42")
    await registry.runs.update("run42", limits={"jump_delta": 0.3})
    log.write_bytes(lines(0, 50))
    agent = await watching(settings)

    async def adopted():
        return agent.runs[0].judge.thresholds.jump_delta == 0.3

    assert await until(adopted)


@pytest.mark.parametrize("value", [0.5, "inf", 10**400], ids=["half", "inf", "huge"])
async def test_what_stands_there_and_makes_no_sense_ends_no_watching(watching, settings, registry, log, value):
    """Whoever may write to the registry cannot make a window of half a point."""
    limits = {spec.name: value for spec in SPECS if spec.name not in OF_A_RUN or value != 0.5}
    key = keys.run("run42")
    await registry.runs.see("run42")
    await registry._door.call("HSET", key, "limits", json.dumps(limits))
    log.write_bytes(lines(0, 50))
    agent = await watching(settings)
    await until(lambda: registry.ranks.all("run42"))

    agent.runs[0].adopt(await registry.runs.limits("run42"))
    append(log, lines(50, 400))
    append(log, b"step=400 loss=9.9 lr=0.0001 grad_norm=1.0\n")

    assert agent.runs[0].judge.thresholds == settings.thresholds
    assert set(await until(lambda: jumps(registry))) == {400.0}
