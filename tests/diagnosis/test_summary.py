"""The facts of a loss series, as `inspect --json` gives them."""

import json
import random

import pytest

from diagnosis import summary as module
from diagnosis.judge import Judge
from diagnosis.observations import Origin
from diagnosis.summary import LossSummary, json_number
from tests.diagnosis.lines import INF, NAN, banner, course, rank, sample, skip


def told(*observations):
    """A summary of these, with a judge beside it as `inspect` has."""
    summary, judge = LossSummary(), Judge()
    for given in observations:
        for seen in given if isinstance(given, list) else [given]:
            summary.observe(seen)
            summary.note(judge.observe(seen))
    return summary


def test_a_series_is_told_in_the_order_of_the_log():
    """Points, first and last, and the first largest jump between finite neighbours."""
    loss = told(course([2.0, NAN, 3.5, 2.0, 0.5], first=10, every=10)).loss()

    assert loss == {
        "points": 5, "first_step": 10, "last_step": 50, "first": 2.0, "last": 0.5, "nonfinite": 1,
        "skipped_steps": 0, "step_kind": "printed",
        "largest_jump": {"step": 30, "from": 2.0, "to": 3.5, "delta": 1.5},
    }  # fmt: skip


def test_without_loss_points_the_rest_is_null():
    """Counts stay numbers."""
    loss = told([sample(1, None, None, 1e-5), sample(2)]).loss()

    assert (loss["points"], loss["nonfinite"], loss["skipped_steps"]) == (0, 0, 0)
    assert [loss[name] for name in ("first", "last", "first_step", "last_step", "largest_jump")] == [None] * 5


def test_nonfinite_numbers_are_words_in_json():
    """No bare NaN, which JSON does not know."""
    parts = told(course([NAN, INF, -INF], lr=NAN, grad_norm=INF)).as_dict()

    assert (parts["loss"]["first"], parts["loss"]["last"], parts["lr"]["last"]) == ("nan", "-inf", "nan")
    assert parts["grad_norm"] == {"points": 3, "max": None, "max_step": None}
    json.dumps(parts, allow_nan=False)
    assert json_number(INF) == "inf"


@pytest.mark.parametrize("lag", [0, 1, 5])
def test_ranks_that_print_the_same_count_once(lag):
    """Each rank in its own order, some steps before or behind the others."""
    chance = random.Random(7)
    lines = [
        (step + chance.uniform(0, lag), number, sample(step, 3.0 / step, 1.0 + step, 1e-4, origin=rank(number)))
        for step in range(1, 101)
        for number in range(8)
    ]
    lines = [seen for _, _, seen in sorted(lines, key=lambda line: (line[0], line[1]))]
    in_order = {number: sorted(s.step for s in lines if s.origin.rank == number) for number in range(8)}
    lines = [sample(step, 3.0 / step, 1.0 + step, 1e-4, origin=seen.origin)
             for seen in lines for step in [in_order[seen.origin.rank].pop(0)]]  # fmt: skip

    parts = told(lines).as_dict()

    assert parts["loss"]["points"] == parts["grad_norm"]["points"] == parts["lr"]["points"] == 100


def test_files_of_ranks_read_one_after_another_count_once():
    """With a resume in each: the same steps again are points again, but once for all ranks."""
    parts = told(*[
        [*course([3.0, 2.0, 1.0], origin=rank(number), file=f"rank{number}.log"),
         banner(origin=rank(number), file=f"rank{number}.log"),
         *course([2.1, 1.1], first=2, origin=rank(number), file=f"rank{number}.log")]
        for number in range(4)
    ]).as_dict()  # fmt: skip

    assert parts["loss"]["points"] == 5
    assert parts["loss"]["last_step"] == 3


def test_values_that_differ_between_ranks_are_points_of_their_own():
    """One rank's NaN is not hidden by the others' numbers."""
    lines = [
        sample(step, NAN if (step, number) == (3, 1) else 2.0, origin=rank(number))
        for step in range(1, 5)
        for number in (0, 1)
    ]

    loss = told(lines).loss()

    assert (loss["points"], loss["nonfinite"]) == (5, 1)


def test_ranks_without_a_name_that_print_the_same_count_once():
    """Eight processes write into one file without a prefix."""
    lines = [sample(step, 3.0 / step, origin=Origin()) for step in range(1, 20) for _ in range(8)]

    assert told(lines).points == 19


def test_a_resume_counts_its_repeated_steps():
    """The same values once more after a restart are new points."""
    assert told(course([3.0, 2.0, 1.0]), banner(), course([2.0, 1.0], first=2)).points == 5


def test_lines_without_steps_all_count():
    """Ordinal points may repeat a value lawfully."""
    assert told([sample(None, 2.0, origin=Origin()) for _ in range(5)]).points == 5


def test_skips_are_events_or_the_counter_never_both():
    """Printed events win; every rank prints the same ones; a counter sums its intervals."""
    events = [skip(step, origin=rank(number)) for step in (1, 2, 3) for number in range(8)]
    counters = [sample(step, 2.0, skipped_steps=float(count)) for step, count in ((10, 8), (20, 1), (30, 0))]

    assert told(events).skipped_steps == 3
    assert told(counters).skipped_steps == 9
    assert told(events, counters).skipped_steps == 3


def test_the_largest_grad_norm_has_its_step():
    """The first of equals, finite ones only."""
    parts = told([sample(1, 2.0, 5.0), sample(2, 2.0, 960.0), sample(3, 2.0, NAN), sample(4, 2.0, 960.0)]).grad_norm()

    assert parts == {"points": 4, "max": 960.0, "max_step": 2}


def test_jumps_are_those_the_judge_marked():
    """Step, from, to and rule."""
    assert told(course([2.0, 3.5])).jumps() == [{"step": 2, "from": 2.0, "to": 3.5, "rule": "jump"}]


def test_memory_is_bounded(monkeypatch):
    """A long log keeps no more points than it may, and still counts them all."""
    monkeypatch.setattr(module, "KEPT_POINTS", 1000)
    monkeypatch.setattr(module, "KEPT_JUMPS", 10)

    summary = told(course([2.0 * (step % 2) for step in range(5000)]))

    assert summary.points == 5000
    assert len(summary._steps) <= 1000
    assert len(summary.jumps()) == 10


@pytest.mark.parametrize(("one", "other"), [(3.198841, 3.19884), (3.245003, 3.245), (1.42286, 1.4229)])
def test_a_point_printed_with_fewer_digits_is_the_same(one, other):
    """A last rank with Megatron's own line, and another logger on every rank."""
    told_both = told(sample(5, one, origin=rank(3)), sample(5, other, origin=rank(3)), sample(5, other, origin=rank(0)))

    assert told_both.points == 1


@pytest.mark.parametrize(("one", "other"), [(3.1988, 3.1989), (3.198841, 3.198899), (2.3, 2.34)])
def test_ranks_whose_losses_differ_are_told_apart(one, other):
    """A difference that rounding does not explain."""
    assert told(sample(5, one, origin=rank(0)), sample(5, other, origin=rank(1))).points == 2


def test_a_change_lies_within_one_rank():
    """From the end of one rank's file to the beginning of the next there is none."""
    first = course([5.0, 4.0, 3.0, 2.5], origin=rank(0))
    second = course([5.5, 4.6, 3.7, 2.9], origin=rank(1))
    jump = told(first, second).loss()["largest_jump"]

    assert (jump["from"], jump["to"], jump["step"]) == (5.0, 4.0, 2)


def test_a_change_lies_within_one_attempt():
    """Where the steps go back, or a launcher begins anew, the loss before is no neighbour."""
    again = [*course([5.0, 4.5, 2.0, 1.9], first=1), *course([5.6, 4.8], first=1)]
    assert told(again).loss()["largest_jump"]["step"] == 3

    marked = [*course([2.0, 1.9]), banner(), *course([5.6, 4.8], first=3)]
    assert told(marked).loss()["largest_jump"] == {"step": 4, "from": 5.6, "to": 4.8, "delta": pytest.approx(0.8)}


def test_points_that_another_rank_told_too_are_neighbours_of_its_own():
    """A rank whose loss leaves the others' is compared with what it said itself."""
    first = course([3.0, 2.9, 2.8], origin=rank(0))
    second = course([3.0, 2.9, 7.0], origin=rank(1))
    jump = told(first, second).loss()["largest_jump"]

    assert (jump["from"], jump["to"], jump["step"]) == (2.9, 7.0, 3)
