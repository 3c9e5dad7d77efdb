"""The judge: whose numbers belong together, which attempt, and what is over."""

from dataclasses import replace

import pytest

from diagnosis.judge import Judge
from diagnosis.observations import Category, Origin
from tests.diagnosis.lines import (
    NAN,
    Watching,
    banner,
    calm,
    cleared,
    course,
    findings,
    jumps,
    kinds,
    rank,
    sample,
    symptom,
)


@pytest.fixture
def watching():
    return Watching(Judge())


def interleaved(losses, ranks, first=1, grad_norm=None):
    return [
        sample(first + place, loss, grad_norm, origin=rank(number))
        for place, loss in enumerate(losses)
        for number in ranks
    ]


def test_a_healthy_run_says_nothing(watching):
    """300 calm points of one rank."""
    assert watching.feed(course(calm(300), grad_norm=1.0, lr=1e-4)) == []


def test_ranks_that_print_the_same_share_one_series(watching):
    """Eight ranks print one jump: it is marked once."""
    watching.feed(interleaved([2.0, 2.1, 3.9, 3.8], range(8)))

    assert [(jump.step, jump.to_loss) for jump in jumps(watching.said)] == [(3, 3.9)]


def test_every_rank_tells_its_own_nan(watching):
    """The incident gathers ranks under one kind."""
    watching.feed(interleaved([2.0, 2.1], range(4)), interleaved([NAN, NAN], range(4), first=3))

    assert kinds(watching.said) == ["nonfinite_loss"] * 4
    assert [one.origin.rank for one in findings(watching.said)] == [0, 1, 2, 3]
    assert {one.last_good_step for one in findings(watching.said)} == {2}


def test_ranks_that_differ_have_their_own_baselines(watching):
    """A loss that wanders between two ranks' levels is no jump."""
    for step in range(1, 50):
        watching.feed(sample(step, 2.0, origin=rank(0)), sample(step, 4.0, origin=rank(1)))

    assert jumps(watching.said) == []


def test_two_printers_that_round_differently_are_one(watching):
    """DeepSpeed's and Megatron's lines of the same step."""
    watching.feed([seen for step in range(1, 20) for seen in (
        sample(step, 12.7902, origin=rank(0)), sample(step, 12.79022, origin=rank(1)),
    )])  # fmt: skip
    watching.feed(sample(20, 14.1, origin=rank(0)), sample(20, 14.10011, origin=rank(1)))

    assert len(jumps(watching.said)) == 1


def test_files_of_ranks_read_one_after_another_are_not_a_jump(watching):
    """Rank 1's file starts again at step 1 after rank 0's has ended."""
    for number in range(3):
        watching.feed(course([9.0, 8.5, 8.0, 7.5], origin=rank(number), file=f"rank{number}.log"))

    assert watching.said == []
    assert watching.judge.attempt == 0


def test_a_new_attempt_starts_every_baseline_afresh(watching):
    """The loss before a resume and the loss after it are no neighbours."""
    watching.feed(course(calm(100)), banner(), course([9.0, 8.9, 8.8], first=50))

    assert jumps(watching.said) == []
    assert watching.judge.attempt == 1


def test_verdicts_carry_the_attempt(watching):
    """A NaN of the second attempt says so."""
    watching.feed(course([2.0, 2.1]), banner(), course([2.0, NAN], first=2))

    assert [one.attempt for one in findings(watching.said)] == [1]


def test_a_restart_that_trains_ends_what_was_open(watching):
    """After ten good points the old NaN and the old out-of-memory are over."""
    watching.feed(course([2.0, NAN]), symptom(), banner(), course(calm(9), first=2))
    assert cleared(watching.said) == []

    watching.feed(course(calm(5), first=11))

    assert sorted(cleared(watching.said)) == ["gpu_oom", "nonfinite_loss"]


def test_a_restart_that_is_nan_again_stays_open(watching):
    """The new attempt's finding replaces the old one."""
    watching.feed(course([2.0, NAN]), banner(), course([2.0] + [NAN] * 30, first=1))

    assert kinds(watching.said) == ["nonfinite_loss", "nonfinite_loss"]
    assert cleared(watching.said) == []


def test_a_failure_of_the_next_attempt_is_news_again(watching):
    """The same line, after a restart."""
    watching.feed(course([2.0, 2.1]), symptom(), symptom(), banner(), course([2.0, 2.1]), symptom())

    assert [(one.kind, one.attempt) for one in findings(watching.said)] == [("gpu_oom", 0), ("gpu_oom", 1)]


def test_a_run_without_steps_or_ranks_is_judged_too():
    """Ordinal lines of an unknown script."""
    watching = Watching(Judge())

    watching.feed([sample(None, loss, origin=Origin()) for loss in (2.0, 2.1, NAN)])

    assert kinds(watching.said) == ["nonfinite_loss"]


def test_one_point_printed_twice_counts_once(watching):
    """Console logger and file logger in one log."""
    watching.feed([seen for point in course([2.0, 3.5, 3.6]) for seen in (point, point)])

    assert len(jumps(watching.said)) == 1


def raised(seconds, *, number=0, name="python_exception", step=20):
    """A traceback's last line, read at that moment."""
    told = symptom(name, category=Category.RANK_CRASH, origin=rank(number), type="ValueError", step=str(step))
    return replace(told, seen_at=seconds, evidence=replace(told.evidence, line=int(seconds)))


def trained(first, last, *, number=0, begin=0.0, every=10.0):
    """Steps of a rank, read while they were printed."""
    return [
        replace(sample(step, 2.0, origin=rank(number)), seen_at=begin + (step - first) * every)
        for step in range(first, last)
    ]


@pytest.mark.parametrize(
    ("name", "number", "every", "is_over"),
    [
        ("python_exception", 0, 10.0, True),
        ("uncaught_exception", 0, 10.0, True),
        ("python_exception", 0, 0.01, False),
        ("python_exception", 1, 10.0, False),
        ("cuda_oom", 0, 10.0, False),
    ],
    ids=["it went on", "uncaught, it said", "a buffer is printed", "another rank goes on", "that ends a process"],
)
def test_what_a_process_caught_is_over_once_it_goes_on(watching, name, number, every, is_over):
    """Steps of the same process for half a minute: it is no longer down, and nobody has to look."""
    watching.feed(trained(1, 21), raised(200.0, name=name))

    watching.feed(trained(21, 60, number=number, begin=201.0, every=every))

    assert cleared(watching.said) == (["rank_crash"] if is_over else [])


def test_the_next_exception_of_a_process_that_went_on_is_told(watching):
    """The first one was caught; this one may not be."""
    watching.feed(trained(1, 21), raised(200.0), trained(21, 60, begin=201.0))

    watching.feed(raised(700.0, step=59))

    assert [one.kind for one in findings(watching.said)] == ["rank_crash", "rank_crash"]


def test_a_launcher_that_saw_it_die_is_not_contradicted(watching):
    """Steps that other processes print do not wake the dead."""
    watching.feed(trained(1, 21), raised(200.0))
    watching.feed(symptom("elastic_worker_failed", category=Category.RANK_CRASH, origin=rank(0), exit_code="1"))

    watching.feed(trained(21, 60, begin=201.0))

    assert cleared(watching.said) == []
