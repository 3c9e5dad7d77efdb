"""A run is listed as it stands: what its log last said, and what is open against it since."""

from dataclasses import replace

import pytest

from diagnosis.findings import Cleared, Finding
from diagnosis.incidents import Tracker
from diagnosis.incidents.incident import State
from diagnosis.observations import Origin
from handlers.kept import Kept
from handlers.messages.blocks import message
from handlers.messages.phrase import say
from handlers.messages.standing_incident import with_incident
from handlers.run_state import ended_by, state_of, with_states
from registry import Run

NOW = 1_000_000.0
RUN = Run("run42", state="running", last_progress=NOW - 100.0, last_step=39)


def opened(*found, node=None):
    """The open incidents after these findings: kinds, or kind and category."""
    tracker = Tracker()
    for number, one in enumerate(found):
        kind, category = one if isinstance(one, tuple) else (one, "")
        details = {"category": category} if category else {}
        finding = Finding(kind, "critical", Origin("run42", node), f"{kind} was seen", details=details)
        tracker.receive(f"w/{number}", finding, NOW)
    return tracker.open_of("run42")


@pytest.mark.parametrize(
    ("found", "state"),
    [
        ([], "running"),
        ([("cuda_oom", "gpu_oom")], "crashed"),
        (["killed"], "crashed"),
        (["stalled"], "stalled"),
        (["initialising_too_long"], "stalled"),
        (["stalled", "run_down"], "down"),
        (["nonfinite_loss"], "running"),
        ([("disk_nearly_full", "disk_full")], "running"),
        ([("x", "preempted")], "preempted"),
        (["watcher_silent"], "unheard"),
    ],
)
def test_the_open_incident_tells_how_a_run_stands(found, state):
    """A killed process prints nothing more, so the registry alone would call it running."""
    assert state_of(RUN, opened(*found)) == state


def test_one_silent_node_of_a_run_is_no_silent_run():
    """The others train on."""
    assert state_of(RUN, opened("watcher_silent", node="n1")) == "running"


def test_steps_after_the_trouble_are_a_run_that_goes_on():
    """A caught exception, or a restart that has begun."""
    incidents = opened(("cuda_oom", "gpu_oom"))

    assert state_of(replace(RUN, last_progress=NOW + 60), incidents) == "running"
    assert state_of(replace(RUN, attempt=1), incidents) == "running"
    assert ended_by(replace(RUN, last_progress=NOW + 60), incidents) is None


def test_what_is_over_is_not_told():
    """The log's own last word stands, and what a run said of its end is never overruled."""
    tracker = Tracker()
    tracker.receive("w/1", Finding("stalled", "critical", Origin("run42"), "stalled"), NOW)
    tracker.receive("w/2", Cleared("stalled", Origin("run42"), "over"), NOW)

    assert state_of(RUN, tracker.open_of("run42")) == "running"
    assert state_of(replace(RUN, state="finished"), opened("killed")) == "finished"


@pytest.mark.parametrize(
    ("found", "state"),
    [
        (("cuda_oom", "gpu_oom"), "crashed"),
        ("killed", "crashed"),
        ("stalled", "stalled"),
        ("run_down", "down"),
        ("watcher_silent", "running"),
        ("nonfinite_loss", "running"),
    ],
)
def test_a_person_who_closes_an_incident_makes_no_dead_process_train(found, state):
    """Until it goes on; that a watcher is heard again is not told to a closed incident, so its silence ends there."""
    (closed,) = (
        replace(one, state=State.RESOLVED, resolved_at=NOW + 9, resolved_by="U0ALICE") for one in opened(found)
    )

    assert state_of(RUN, [closed]) == state
    assert state_of(replace(RUN, last_progress=NOW + 60), [closed]) == "running"
    assert state_of(RUN, [replace(closed, resolved_by="")]) == "running"


def test_only_runs_of_which_something_is_open_are_changed():
    """The list keeps its order."""
    other = replace(RUN, name="other")

    assert [run.state for run in with_states([other, RUN], opened("killed"))] == ["running", "crashed"]


@pytest.mark.parametrize("replaces_head", [True, False])
def test_an_answer_points_to_the_open_incident(replaces_head):
    """A run that seems to start and has run out of memory is not called starting."""
    (incident,) = opened(("cuda_oom", "gpu_oom"))
    told = message(say("🟢 *run42* is starting; no step was printed yet."), None)

    shown = with_incident(
        told,
        Kept(incident, "C1", "17.000001"),
        "crashed",
        replaces_head=replaces_head,
        workspace_url="https://acme.slack.com/",
        now=NOW + 60,
    )

    texts = [block["text"]["text"] for block in shown.blocks]
    assert ("is starting" in texts[0]) is not replaces_head
    pointing = texts[0] if replaces_head else texts[1]
    assert "cuda_oom was seen" in pointing
    assert "https://acme.slack.com/archives/C1/p17000001" in pointing
    assert "60 s" in pointing
