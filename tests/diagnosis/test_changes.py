"""What changed around a step: few lines, the rarest first, each with its evidence."""

import pytest

from diagnosis.changes import Changes
from diagnosis.judge import Judge
from diagnosis.observations import Category, Phase, PhaseMark, Role
from tests.diagnosis.lines import (
    NAN,
    RANK0,
    banner,
    calm,
    course,
    evidence,
    rank,
    sample,
    saving,
    skip,
    symptom,
)


class Run:
    """A judge and the changes beside it, as `inspect` has them."""

    def __init__(self):
        self.judge = Judge()
        self.changes = Changes(self.judge.attempts)

    def feed(self, *observations):
        for given in observations:
            for seen in given if isinstance(given, list) else [given]:
                said = self.judge.observe(seen)
                self.changes.observe(seen)
                self.changes.note(said)
        return self

    def around(self, step, attempt=0):
        return [(change.what, change.before, change.after) for change in self.changes.around(step, attempt=attempt)]


@pytest.fixture
def run():
    return Run()


def test_a_learning_rate_that_jumped_is_first(run):
    """The run whose rate was set to 1e18 at step 40, with the line that shows it."""
    run.feed(course(calm(39), lr=1e-3), [sample(40, 2.3, 1.0, 1e18), sample(41, NAN, NAN, 1e18)])

    (change,) = run.changes.around(41)
    assert (change.step, change.text) == (40, "learning rate: 1.0e-3 → 1.0e18 at step 40")
    assert change.as_dict() == {
        "step": 40, "what": "learning rate", "from": "1.0e-3", "to": "1.0e18",
        "evidence": {"file": "train.log", "line": 41, "text": "step=40 loss=2.3 grad_norm=1.0 lr=1e+18"},
    }  # fmt: skip


def test_a_grad_norm_that_rose_before_is_told_as_a_course(run):
    """Also when the log has gone on for long since."""
    run.feed(
        course(calm(100), grad_norm=0.3),
        [sample(100 + place, 2.3, norm) for place, norm in ((1, 0.9), (2, 4.7), (3, 96.0))],
    )
    run.feed(sample(104, NAN, NAN), course(calm(500), first=105, grad_norm=0.3))

    assert run.around(104) == [("grad norm", "0.3", "0.3 → 0.9 → 4.7 → 96 (320-fold)")]


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ({"batch_size": 1024.0}, {"batch_size": 2048.0}, ("batch size", "1,024", "2,048")),
        ({"loss_scale": 65536.0}, {"loss_scale": 8192.0}, ("loss scale", "65,536", "8,192")),
        ({"sequence_length": 2048.0}, {"sequence_length": 8192.0}, ("sequence length", "2,048", "8,192")),
        ({"epoch": 0.99}, {"epoch": 1.0}, ("epoch", "0", "1")),
    ],
)
def test_a_field_that_moved_is_told(run, before, after, told):
    """From and to, once."""
    run.feed([sample(step, 2.3, **(before if step < 90 else after)) for step in range(1, 100)], sample(100, NAN))

    assert told in run.around(100)


def test_what_happens_all_the_time_tells_little(run):
    """A scale that moves every few lines stands behind a batch size that moved once."""
    run.feed([
        sample(step, 2.3, loss_scale=1024.0 * (1 + step // 5 % 2), batch_size=8.0 if step < 380 else 16.0)
        for step in range(1, 400)
    ])  # fmt: skip

    assert [what for what, _, _ in run.around(400)] == ["batch size", "loss scale"]


def test_at_most_five_and_only_near_ones(run):
    """What changed 300 steps before is no news."""
    run.feed([sample(step, 2.3, batch_size=8.0 if step < 50 else 16.0) for step in range(1, 400)])

    assert run.around(400) == []

    run.feed(
        [
            sample(400 + place, 2.3, 1.0, lr, loss_scale=scale, batch_size=size, sequence_length=length, epoch=epoch)
            for place, (lr, scale, size, length, epoch) in enumerate(
                [(1e-4, 8.0, 16.0, 1024.0, 0.0), (1e-2, 2.0, 32.0, 4096.0, 1.0)]
            )
        ],
        skip(402), sample(402, 2.3), saving(402), sample(403, NAN),
    )  # fmt: skip
    assert len(run.around(403)) == 5


@pytest.mark.parametrize("order", [(59, 60, 61), (60, 59, 61), (59, 61, 60), (60, 59, 59, 61, 60)])
def test_lines_of_ranks_that_stand_out_of_order_move_no_change(run, order):
    """Without tags they look like one process; a rate that goes back and comes again is none."""
    run.feed([sample(step, 2.3, lr=1e-4) for step in range(1, 59)])
    run.feed([sample(step, 2.3, lr=1e-4 if step < 60 else 1e-2) for step in order], sample(62, NAN, lr=1e-2))

    (change,) = run.changes.around(62)
    assert (change.what, change.before, change.after) == ("learning rate", "1.0e-4", "1.0e-2")
    assert change.step == next(step for step in order if step >= 60)


def test_after_one_misprinted_step_changes_are_still_seen(run):
    """Two lines that ran together tell a step that never was; all steps after it are behind it."""
    steps = [*range(1, 30), 999_999, *range(30, 60)]
    run.feed([sample(step, 2.3, lr=1e-4) for step in steps], [sample(60, 2.3, lr=1e-2)], sample(61, NAN, lr=1e-2))

    assert [(change.what, change.step) for change in run.changes.around(61)] == [("learning rate", 60)]


def test_a_new_attempt_and_its_environment_come_first(run):
    """Started again with another torch three steps before."""
    run.feed(banner(torch="2.3.0", world_size="8"), course(calm(100)))
    run.feed(banner(torch="2.4.1", world_size="8"), course(calm(3), first=101), sample(104, NAN))

    assert run.around(104, attempt=1) == [("new attempt", None, "banner"), ("torch", "2.3.0", "2.4.1")]
    assert run.around(50) == []


def test_a_checkpoint_before_it_is_named_with_its_end(run):
    """keep-last-2 and a save an hour."""
    run.feed(banner(save_total_limit="2"))
    for step in range(1, 31):
        run.feed(sample(step, 2.3, time=step * 360.0))
        if step % 10 == 0:
            run.feed(saving(step, time=step * 360.0))
    run.feed(sample(31, NAN, time=31 * 360.0))

    (change,) = run.changes.around(31)
    assert change.text == "checkpoint: step 30 is the newest before it, keep-last-2 deletes it in about 1 h 54 min"


def test_a_hardware_line_before_it_is_told(run):
    """A throttled GPU may be the cause; a traceback is the consequence."""
    run.feed(course(calm(100)), symptom("gpu_throttled", role=Role.CONTEXT, category=Category.SLOWDOWN))
    run.feed(symptom("traceback", role=Role.CONTEXT, category=Category.RANK_CRASH), sample(101, NAN))

    assert run.around(101) == [("warning line", None, "the training itself reports that it is slow")]


def test_speed_that_fell_is_told(run):
    """Tokens per second in the five points before."""
    run.feed([sample(step, 2.3, tokens_per_second=1000.0 if step < 96 else 400.0) for step in range(1, 101)])
    run.feed(sample(101, NAN, tokens_per_second=400.0))

    assert run.around(101) == [("speed", "1,000", "400")]


def test_the_schedule_that_turned_is_told(run):
    """The end of the warm-up is where many runs break."""
    rates = [1e-6 * step for step in range(1, 300)] + [2.99e-4 - 1e-6 * step for step in range(1, 20)]
    run.feed([sample(step, 2.3, None, lr) for step, lr in enumerate(rates, start=1)])

    assert ("learning-rate schedule", "warm-up", "decay from 2.99e-4") in run.around(310)


def test_other_ranks_lines_are_no_changes(run):
    """Eight ranks with their own learning rates of two groups."""
    run.feed([
        sample(step, 2.3, 1.0, 1e-4 if number else 1e-2, origin=rank(number))
        for step in range(1, 50)
        for number in range(8)
    ])  # fmt: skip

    assert run.around(49) == []


def test_an_evaluation_is_told_least(run):
    """It is nearly always innocent."""
    run.feed(
        course(calm(50)), PhaseMark(RANK0, Phase.EVALUATING, True, evidence(9)), skip(51), course(calm(5), first=52)
    )

    assert [what for what, _, _ in run.around(56)] == ["skipped steps", "evaluation"]


def test_alone_it_counts_attempts_itself():
    """Without a judge beside it."""
    changes = Changes()
    for seen in [*course(calm(20)), banner(), *course(calm(20), first=5)]:
        changes.observe(seen)

    assert [change.what for change in changes.around(10, attempt=1)] == ["new attempt"]
