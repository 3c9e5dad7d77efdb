"""A run stands the same way in every answer that names it."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from diagnosis.findings import Finding, Severity
from diagnosis.incidents import Habits, Tracker
from diagnosis.incidents.incident import State
from diagnosis.observations import Evidence, Origin, RankProgress
from diagnosis.stall import Outcome
from handlers.arguments import read_arguments
from handlers.find_run import NoSuchRun, named_run
from handlers.messages.blocks import message
from handlers.messages.phrase import say
from handlers.run_list import OPTIONS, read_listing
from handlers.run_state import LIVES_AGAIN_SECONDS
from handlers.runs import look
from handlers.shown_runs import few_as_shown
from handlers.stall import _known_of, _pointed


@pytest.fixture
def desk(registry):
    return SimpleNamespace(registry=registry, workspace_url=lambda: "https://acme.slack.com/")


@pytest.fixture
def dies(registry):
    """A run whose process was killed, and the incident of that; a person closed it so many seconds ago."""

    async def begin(name, *, closed_ago=None, **facts):
        now = await registry.now()
        await registry.runs.see(name, state="running", **facts)
        tracker = Tracker(Habits(group_wait_seconds=0.0))
        killed = Finding("killed", Severity.CRITICAL, Origin(name, "n1", 0, 0), "killed", (Evidence("a", 1, ""),), 1)
        tracker.receive(f"n1/e/{name}", killed, now - 4000)
        (incident,) = tracker.open_of(name)
        if closed_ago is not None:
            incident = replace(
                incident, state=State.RESOLVED, resolved_at=now - closed_ago, resolved_by="U0ALICE", changed_at=now
            )
        fields = {"incident": incident, "channel": "C1", "ts": "17.000001"}
        await registry.incidents.save(incident.id, name, fields, is_open=incident.is_open)
        if not incident.is_open:
            await registry.incidents.finish([incident.id])
        return now

    return begin


async def states_of(desk, name):
    """What each surface calls it."""
    run = await desk.registry.runs.get(name)
    (shown,) = await few_as_shown(desk, [run])
    page, _, _ = await look(desk, read_listing(read_arguments("", OPTIONS, most_names=0)))
    with pytest.raises(NoSuchRun) as near:
        await named_run(desk, f"{name}x")
    return {
        "its window": shown.state,
        "/runs": next(one.state for one in page.runs if one.name == name),
        "did you mean": near.value.near[0].state,
        "/stall": (await _known_of(desk, run)).state,
    }


@pytest.mark.parametrize("closed_ago", [None, 600.0])
async def test_a_dead_run_is_dead_in_every_answer(desk, dies, registry, closed_ago):
    """Also where a name was mistyped, and also after a person closed its incident."""
    now = await registry.now()
    await dies("run42", closed_ago=closed_ago, last_step=23, last_progress=now - 5000)

    assert set((await states_of(desk, "run42")).values()) == {"crashed"}


@pytest.mark.parametrize(
    ("heard_ago", "state"),
    [
        (None, "crashed"),
        (900.0, "crashed"),
        (600.0 - LIVES_AGAIN_SECONDS + 1, "crashed"),
        (600.0 - LIVES_AGAIN_SECONDS - 1, "running"),
        (5.0, "running"),
    ],
)
async def test_a_run_without_steps_lives_again_when_its_log_grows_for_a_while(desk, dies, registry, heard_ago, state):
    """A person closed its incident ten minutes ago; the last words of what dies come sooner than those that count."""
    now = await dies("run42", closed_ago=600.0)
    heard_at = None if heard_ago is None else now - heard_ago
    await registry.ranks.update("run42", [RankProgress(Origin("run42", "n1", 0), None, None, heard_at)])

    assert set((await states_of(desk, "run42")).values()) == {state}


async def test_lines_alone_do_not_overrule_an_open_incident_or_steps(desk, dies, registry):
    """Nobody has closed it; or its steps tell better."""
    now = await dies("open")
    await dies("steps", closed_ago=600.0, last_step=23, last_progress=now - 5000)
    for name in ("open", "steps"):
        await registry.ranks.update(name, [RankProgress(Origin(name, "n1", 0), None, None, now)])

    assert set((await states_of(desk, "open")).values()) == {"crashed"}
    assert set((await states_of(desk, "steps")).values()) == {"crashed"}


@pytest.mark.parametrize("outcome", [Outcome.FINE, Outcome.STALLED])
async def test_nobody_is_sent_to_the_thread_they_ask_in(desk, dies, registry, outcome):
    """It stands above; only an answer that would sound as if all were well says it again."""
    now = await dies("run42")
    about = await _known_of(desk, await registry.runs.get("run42"))
    here = about.pointed.incident.id

    told = _pointed(desk, about, message(say("a head"), None), outcome, now, here=here)

    assert ("archives" in str(told.blocks)) is (outcome is Outcome.FINE)


@pytest.mark.parametrize("outcome", [Outcome.FINE, Outcome.STALLED, Outcome.RUN_DOWN])
async def test_stall_points_to_the_incident_that_a_person_closed(desk, dies, registry, outcome):
    """Who asks why a run stands is sent to what is known of it, closed or not."""
    now = await dies("run42", closed_ago=600.0)
    about = await _known_of(desk, await registry.runs.get("run42"))

    told = _pointed(desk, about, message(say("a head"), None), outcome, now)

    shown = str(told.blocks)
    assert "<@U0ALICE>" in shown
    assert "killed" in shown
    assert "https://acme.slack.com/archives/C1/p17000001" in shown
    assert ("a head" in shown) is (outcome is not Outcome.FINE)
