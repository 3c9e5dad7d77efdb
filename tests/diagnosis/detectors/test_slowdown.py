"""Slowdown: most points of a quarter of an hour, against the run's own normal."""

import pytest

from diagnosis.detectors.slowdown import Slowdown
from diagnosis.findings import Severity
from diagnosis.observations import Phase, PhaseMark
from diagnosis.thresholds import Thresholds
from tests.diagnosis.lines import RANK0, Watching, calm, cleared, evidence, findings, kinds, sample

START = 1_700_000_000.0


@pytest.fixture
def watching():
    return Watching(Slowdown(Thresholds()))


class Run:
    """Steps one after another on one clock."""

    def __init__(self):
        self.step = 0
        self.time = START

    def steps(self, count, seconds, **fields):
        lines = []
        for _ in range(count):
            self.step += 1
            self.time += seconds
            lines.append(sample(self.step, 2.3, time=self.time, **fields))
        return lines


def test_a_run_that_becomes_slow_is_a_warning(watching):
    """30 s a step instead of 20 s for a quarter of an hour."""
    run = Run()

    watching.feed(run.steps(300, 20.0), run.steps(40, 30.0))

    (finding,) = findings(watching.said)
    assert (finding.kind, finding.severity) == ("slowdown", Severity.WARNING)
    assert finding.text.startswith("steps are 33 % slower than this run's normal since step 30")
    assert 300 <= finding.step <= 305


def test_printed_throughput_goes_before_the_clock(watching):
    """Tokens per second fall while lines come at the same pace."""
    run = Run()

    watching.feed(run.steps(300, 20.0, tokens_per_second=1000.0), run.steps(50, 20.0, tokens_per_second=600.0))

    (finding,) = findings(watching.said)
    assert finding.details["unit"] == "tokens per second"
    assert (finding.details["usual"], finding.details["now"]) == ("1,000", "600")


def test_a_log_without_times_is_judged_by_its_durations(watching):
    """Megatron prints elapsed time per iteration and nothing else."""
    watching.feed([sample(step, 2.3, step_seconds=20.0) for step in range(1, 300)])
    watching.feed([sample(step, 2.3, step_seconds=40.0) for step in range(300, 350)])

    assert kinds(watching.said) == ["slowdown"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"batch_size": 64.0}, {"batch_size": 128.0}),
        ({"sequence_length": 2048.0}, {"sequence_length": 4096.0}),
        (
            {"sequence_length": 512.0, "samples_per_second": 90.0},
            {"sequence_length": 1024.0, "samples_per_second": 40.0},
        ),
        ({"sequence_length": 512.0, "tokens_per_second": 90.0}, {"sequence_length": 1024.0, "tokens_per_second": 60.0}),
    ],
)
def test_steps_that_are_more_work_are_not_slower(watching, before, after):
    """A batch that is ramped up, longer sequences: what the log says of them explains it."""
    run = Run()

    assert watching.feed(run.steps(300, 20.0, **before), run.steps(90, 38.0, **after)) == []


def test_steps_that_are_less_work_are_no_faster(watching):
    """Half the batch in the same time would be slower, but nobody asked for more."""
    run = Run()

    assert watching.feed(run.steps(300, 20.0, batch_size=64.0), run.steps(90, 20.0, batch_size=32.0)) == []


@pytest.mark.parametrize(
    "story",
    [
        lambda run: run.steps(300, 20.0) + run.steps(1, 600.0) + run.steps(60, 20.0),
        lambda run: [seen for _ in range(30) for seen in run.steps(10, 20.0) + run.steps(1, 90.0)],
        lambda run: run.steps(300, 20.0) + run.steps(10, 30.0) + run.steps(60, 20.0),
        lambda run: run.steps(20, 20.0) + run.steps(40, 30.0),
        lambda run: [seen for pace in calm(400, level=20.0, noise=12.0) for seen in run.steps(1, pace)],
    ],
    ids=["a pause", "periodic evaluations", "a few minutes", "no normal yet", "a pace that always varies"],
)
def test_what_is_no_slowdown(watching, story):
    """Pauses, phases, short dips, a run that is new, and work whose size varies."""
    assert watching.feed(story(Run())) == []


def test_phases_are_left_out(watching):
    """The line after a save carries the save's time."""
    run = Run()
    watching.feed(run.steps(300, 20.0))

    for _ in range(40):
        watching.feed(PhaseMark(RANK0, Phase.SAVING, True, evidence(1)), run.steps(1, 60.0), run.steps(1, 20.0))

    assert watching.said == []


def test_a_run_that_is_fast_again_ends_it(watching):
    """Once the slow points have left the window."""
    run = Run()

    watching.feed(run.steps(300, 20.0), run.steps(60, 30.0), run.steps(60, 20.0))

    assert kinds(watching.said) == cleared(watching.said) == ["slowdown"]


def test_several_ranks_lines_are_no_pace(watching):
    """The same step from eight ranks is one step."""
    run = Run()

    watching.feed([line for step in run.steps(400, 20.0) for line in [step] * 8])

    assert watching.said == []
