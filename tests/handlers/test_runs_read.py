"""`/runs` puts thousands in order by a glance and reads one page: the same list as if all had been read."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from diagnosis.findings import Finding, Severity
from diagnosis.incidents import Habits, Tracker
from diagnosis.incidents.incident import State
from diagnosis.observations import Evidence, Origin
from handlers.arguments import read_arguments
from handlers.run_list import OPTIONS, Listing, page_of, read_listing
from handlers.run_state import with_states
from handlers.runs import look
from registry import Run, keys

WORDS = [
    *(
        "",
        "--page 2",
        "--sort name",
        "--sort state",
        "--sort loss",
        "--sort progress",
        "--sort eta",
        "--sort incidents",
    ),
    *("--state running --sort loss", "--state crashed", "--owner BOB --sort eta", "--label team=vision", "--page 99"),
    "--label team=vision --owner bob --state finished --sort incidents --page 2",
]


@pytest.fixture
async def desk(registry):
    """Ninety runs of every kind, some of them in trouble."""
    now = await registry.now()
    for n in range(90):
        facts = {
            "state": ("running", "finished", "crashed", "unknown")[n % 4],
            "owner": ("bob", "eve", None)[n % 3],
            "labels": {"team": "vision" if n % 2 else "text"} if n % 5 else None,
            "last_loss": (float("nan"), 2.0 + n % 7, None)[n % 3],
            "last_progress": now - 7 * n if n % 6 else None,
            "last_step": n * 10,
            "total_steps": 5000 if n % 4 else None,
            "step_seconds": 1.0 + n % 3,
            "attempt": n % 2,
        }
        await registry.runs.see(f"run-{n * 37 % 90:03}", **facts)
    return SimpleNamespace(registry=registry)


@pytest.fixture
async def opened(registry):
    """Incidents of some runs, as the announcer keeps them."""
    tracker = Tracker(Habits(group_wait_seconds=0.0))
    now = await registry.now()
    for n in (4, 8, 8, 12):
        kind = "nonfinite_loss" if n == 4 else "stalled"
        found = Finding(kind, Severity.CRITICAL, Origin(f"run-{n:03}", "n1", 0, 0), "x", (Evidence("a", 1, ""),), 1)
        tracker.receive(f"n1/e/{n}{kind}", found, now)
    return tracker


@pytest.mark.parametrize("words", WORDS)
async def test_the_page_is_the_one_of_a_whole_reading(desk, opened, registry, monkeypatch, words):
    """Whatever the order and the choice: names, what is shown of them, page and counts."""
    listing = read_listing(read_arguments(words, OPTIONS, most_names=0))
    incidents = [one for run in opened.troubled_runs for one in opened.open_of(run)]
    fields = {one.id: {"run": one.run} for one in incidents}

    async def all_open():
        return fields

    monkeypatch.setattr(registry.incidents, "all_open", all_open)
    monkeypatch.setattr("handlers.runs.kept_of", lambda told: SimpleNamespace(incident=_of(incidents, told["run"])))
    every = with_states(await registry.runs.all(1000), incidents)

    page, counts, now = await look(desk, listing)

    assert page == page_of(every, listing, counts, now)
    assert page.known == 90


async def test_the_newest_step_stands_first_and_old_runs_are_not_read(registry, monkeypatch):
    """A stalled run's watcher is heard as often as the others; ten thousand old runs cost nothing."""
    now, partly, read = await registry.now(), registry.runs.partly, []
    for name, ago in (("stalled", 600), ("trains", 2), ("starts", None)):
        await registry.runs.see(name, last_progress=None if ago is None else now - ago)
    await registry.runs.see("old", last_progress=now - 86_500)
    await registry.runs._door.call("ZADD", keys.RUNS, now - 86_400, "old")

    async def reading(names, facts):
        read.extend(names)
        return await partly(names, facts)

    monkeypatch.setattr(registry.runs, "partly", reading)
    await registry.runs.see("old-but-heard", last_progress=now - 9_000)

    page, _, _ = await look(SimpleNamespace(registry=registry), Listing())

    assert [run.name for run in page.runs] == ["starts", "trains", "stalled", "old-but-heard", "old"]
    assert "old" not in read


async def test_only_one_page_is_read_whole(desk, registry, monkeypatch):
    """However many runs there are, and in whatever order."""
    whole, many = [], registry.runs.many

    async def reading(names):
        whole.append(len(names))
        return await many(names)

    monkeypatch.setattr(registry.runs, "many", reading)
    for words in WORDS:
        await look(desk, read_listing(read_arguments(words, OPTIONS, most_names=0)))

    assert max(whole) <= 20


def _of(incidents, run) -> Run:
    return next(one for one in incidents if one.run == run)


async def test_a_run_whose_incident_was_closed_is_not_called_running(registry):
    """Its process died whatever a person says of the incident; steps that come later are a run that goes on."""
    tracker, now = Tracker(Habits(group_wait_seconds=0.0)), await registry.now()
    for name in ("dead", "again"):
        await registry.runs.see(name, state="running", last_progress=now - 60, last_step=23)
        killed = Finding("killed", Severity.CRITICAL, Origin(name, "n1", 0, 0), "killed", (Evidence("a", 1, ""),), 1)
        tracker.receive(f"n1/e/{name}", killed, now - 50)
        (open_one,) = tracker.open_of(name)
        closed = replace(open_one, state=State.RESOLVED, resolved_at=now - 40, resolved_by="U0ALICE")
        await registry.incidents.save(closed.id, name, {"incident": closed, "channel": "C1"}, is_open=False)
        await registry.incidents.finish([closed.id])
    await registry.runs.see("again", last_progress=now - 2)

    page, counts, _ = await look(SimpleNamespace(registry=registry), Listing())
    chosen, _, _ = await look(SimpleNamespace(registry=registry), Listing(state="crashed"))

    assert {run.name: run.state for run in page.runs} == {"dead": "crashed", "again": "running"}
    assert [run.name for run in chosen.runs] == ["dead"]
    assert not counts
