"""The stall rule: progress and not silence, the run's own pace, lawful pauses, and six outcomes never merged."""

from dataclasses import replace

import pytest

from diagnosis.observations import GpuSample, Origin, Phase, ProcessSample, RankProgress
from diagnosis.stall import Outcome, Watched, allowed_silence, judge_stall, own_threshold
from diagnosis.thresholds import Thresholds

NOW = 100_000.0
LIMITS = Thresholds()


def rank(
    number: int, quiet: float, *, heard: float | None = None, phase: Phase = Phase.TRAINING, step: int | None = 500
) -> RankProgress:
    return RankProgress(
        Origin(rank=number, node="n1"), step, NOW - quiet, NOW - (quiet if heard is None else heard), phase
    )


def gpu(util: float) -> GpuSample:
    return GpuSample("n1", 0, NOW, utilization_percent=util)


def run(quiet: float, *, intervals: float | None = 10.0, **more: object) -> Watched:
    ranks = more.pop("ranks", (rank(0, quiet), rank(1, quiet)))
    paces = () if intervals is None else (intervals,) * 60
    return Watched(now=NOW, ranks=ranks, intervals=paces, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("interval", "expected"),
    [(1.0, 180.0), (10.0, 180.0), (30.0, 300.0), (100.0, 1000.0), (400.0, 1200.0), (900.0, 1800.0)],
)
def test_the_threshold_follows_the_pace_within_its_bounds(interval, expected):
    """Ten medians, at least three minutes, at most twenty; but never below twice the pace itself."""
    assert own_threshold((interval,) * 60, LIMITS) == expected


def test_ten_minutes_hold_before_the_pace_is_known():
    """Nine intervals are not enough."""
    assert own_threshold((1.0,) * 9, LIMITS) == 600.0


@pytest.mark.parametrize(("quiet", "outcome"), [(60, Outcome.FINE), (170, Outcome.FINE), (200, Outcome.STALLED)])
def test_a_run_stalls_by_its_own_threshold(quiet, outcome):
    """Steps of ten seconds: three minutes."""
    assert judge_stall(run(quiet)).outcome is outcome


def test_other_lines_are_no_progress():
    """Heartbeats flow on during a hang."""
    seen = run(0, ranks=(rank(0, 900, heard=1), rank(1, 900, heard=1)))

    assert judge_stall(seen).outcome is Outcome.STALLED


@pytest.mark.parametrize("phase", [Phase.SAVING, Phase.EVALUATING, Phase.LOADING, Phase.TOKENISING])
@pytest.mark.parametrize(("quiet", "outcome"), [(1200, Outcome.FINE), (1900, Outcome.STALLED)])
def test_a_lawful_pause_is_no_stall(phase, quiet, outcome):
    """Half an hour at least, whatever rank is in it."""
    seen = run(quiet, ranks=(rank(0, quiet, phase=phase), rank(1, quiet)))

    assert judge_stall(seen).outcome is outcome


def test_a_pause_may_last_as_long_as_it_usually_does():
    """Three times the longest one this run came back from."""
    longest = {Phase.SAVING: 1500.0}

    assert allowed_silence(Phase.SAVING, (10.0,) * 60, LIMITS, longest) == 4500.0


@pytest.mark.parametrize(("waited", "outcome"), [(1800, Outcome.FINE), (2800, Outcome.INITIALISING_TOO_LONG)])
def test_the_first_step_may_take_long(waited, outcome):
    """Compiling and loading are no stall for 45 minutes."""
    ranks = (replace(rank(0, 0, phase=Phase.INITIALISING, step=None), progressed_at=None),)

    assert judge_stall(run(0, ranks=ranks, started_at=NOW - waited)).outcome is outcome


@pytest.mark.parametrize(
    ("observed", "outcome"),
    [
        ({"n1": 5.0}, Outcome.INITIALISING_TOO_LONG),
        ({"n1": 85.0}, Outcome.INITIALISING_TOO_LONG),
        ({"n1": 200.0}, Outcome.WATCHER_SILENT),
        ({"n1": 200.0, "n2": 5.0}, Outcome.WATCHER_SILENT),
        ({}, Outcome.WATCHER_SILENT),
    ],
    ids=["looks", "looked after it was due", "fell silent before", "and another node's is heard", "is gone"],
)
def test_no_first_step_is_missed_where_nobody_looked_for_it(observed, outcome):
    """The watcher that reads the log has to be heard after the first step was due."""
    ranks = (replace(rank(0, 0, phase=Phase.INITIALISING, step=None), progressed_at=None),)
    seen = run(0, ranks=ranks, started_at=NOW - 2800, observed_at={node: NOW - ago for node, ago in observed.items()})

    assert judge_stall(seen).outcome is outcome


def test_a_finished_run_never_stalls():
    """Whatever time has gone by."""
    ranks = (rank(0, 90_000, phase=Phase.FINISHED), rank(1, 90_000, phase=Phase.FINISHED))

    assert judge_stall(run(0, ranks=ranks)).outcome is Outcome.ENDED
    assert judge_stall(run(90_000, has_ended=True)).outcome is Outcome.ENDED


def test_a_run_whose_processes_are_gone_is_down_not_stalled():
    """They are two different calls to make."""
    dead = (
        ProcessSample("n1", 1, NOW, "python", "gone", rank=0),
        ProcessSample("n1", 2, NOW, "python", "zombie", rank=1),
    )

    assert judge_stall(run(30, processes=dead)).outcome is Outcome.RUN_DOWN


def test_a_silent_watcher_is_not_a_stalled_run():
    """Nobody looks any more: that is all that can be said."""
    seen = run(5000, observed_at={"n1": NOW - 300, "n2": NOW - 400})

    standing = judge_stall(seen)

    assert standing.outcome is Outcome.WATCHER_SILENT
    assert standing.silent_nodes == ("n1", "n2")


def test_one_silent_watcher_of_a_run_that_goes_on_is_named():
    """The run is fine as far as the others see."""
    standing = judge_stall(run(20, observed_at={"n1": NOW - 5, "n2": NOW - 400}))

    assert standing.outcome is Outcome.WATCHER_SILENT
    assert standing.silent_nodes == ("n2",)


DEMO = Thresholds(stall_after=8.0, stall_min=8.0)
"""A stall is called sooner than a silent watcher."""


@pytest.mark.parametrize("limits", [LIMITS, DEMO], ids=["defaults", "demo"])
@pytest.mark.parametrize("others", [{}, {"n2": 1.0}], ids=["alone", "beside one that is heard"])
@pytest.mark.parametrize("ago", [20.0, 60.0, 200.0, 2_000.0])
def test_no_stall_is_seen_where_nobody_looks(limits, others, ago):
    """Whoever reads the steps was last heard soon after the last one: whether more came, nobody knows."""
    observed = {"n1": NOW - ago} | {node: NOW - seconds for node, seconds in others.items()}
    quiet = ago + 5.0

    standing = judge_stall(run(quiet, intervals=1.0, observed_at=observed), limits)

    assert standing.outcome is not Outcome.STALLED
    assert standing.is_unseen or standing.outcome is Outcome.FINE or set(standing.silent_nodes) == set(observed)


def test_no_stall_is_seen_where_no_watcher_is_left():
    """It went an hour ago, and is counted no longer."""
    standing = judge_stall(run(5_000, observed_at={}))

    assert (standing.outcome, standing.is_unseen) == (Outcome.WATCHER_SILENT, True)
    assert standing.text == "no watcher of it is heard any more"


@pytest.mark.parametrize(
    ("observed", "why"),
    [
        ({"n1": 3.0}, "who reads the steps looks"),
        ({"n1": 80.0}, "it looked after the next step was due, and then fell silent"),
        ({"n1": 3.0, "n2": 500.0}, "another node fell silent"),
        ({"elsewhere": 3.0}, "the files name nodes that have no watcher: any may read them"),
    ],
)
def test_a_stall_is_seen_where_somebody_looked(observed, why):
    """A node that fell silent hides no stall that another one sees."""
    seen = run(400, observed_at={node: NOW - ago for node, ago in observed.items()})

    assert judge_stall(seen).outcome is Outcome.STALLED, why


def test_idle_gpus_of_the_other_nodes_see_a_stall_too():
    """The node that wrote the log is lost; the others wait."""
    seen = run(700, observed_at={"n1": NOW - 690, "n2": NOW - 1}, gpus=(gpu(0), gpu(1)))

    assert judge_stall(seen).outcome is Outcome.STALLED


def test_an_unknown_dialect_has_unknown_progress():
    """Never "no progress"."""
    ranks = (replace(rank(0, 0, step=None), progressed_at=None),)

    assert judge_stall(run(0, ranks=ranks, has_known_dialect=False)).outcome is Outcome.PROGRESS_UNKNOWN


@pytest.mark.parametrize(("phase", "outcome"), [(Phase.TRAINING, Outcome.STALLED), (Phase.SAVING, Outcome.FINE)])
def test_ten_silent_minutes_and_idle_gpus_are_a_stall_outside_pauses(phase, outcome):
    """The plain rule people ask for, though the run's own pace would allow more."""
    slow = run(700, intervals=200.0, ranks=(rank(0, 700, phase=phase),), gpus=(gpu(0), gpu(2)))

    assert judge_stall(slow).outcome is outcome


def test_ten_silent_minutes_and_busy_gpus_are_judged_by_the_pace():
    """A slow run that works."""
    assert judge_stall(run(700, intervals=200.0, gpus=(gpu(100),))).outcome is Outcome.FINE


def test_half_way_to_the_threshold_evidence_is_due():
    """Before the watchdog's abort takes it away; nobody is called yet."""
    assert not judge_stall(run(50)).is_half_way
    standing = judge_stall(run(100))

    assert standing.is_half_way
    assert not standing.is_trouble
