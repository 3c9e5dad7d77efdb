"""A finding takes along what stood around it, because the log goes on."""

from dataclasses import replace

import pytest

from diagnosis.changes import Changes
from diagnosis.circumstances import with_circumstances
from diagnosis.findings import Finding, Severity
from diagnosis.judge import Judge
from diagnosis.observations import Category, Role
from tests.diagnosis.lines import NAN, RANK0, banner, calm, course, evidence, rank, sample, saving, symptom


class Run:
    """A judge and the changes beside it, as a watcher has them."""

    def __init__(self):
        self.judge = Judge()
        self.changes = Changes(self.judge.attempts)

    def feed(self, *observations):
        found = []
        for given in observations:
            for seen in given if isinstance(given, list) else [given]:
                said = self.judge.observe(seen)
                self.changes.observe(seen)
                found += [with_circumstances(one, self.changes) for one in said if isinstance(one, Finding)]
        return found


@pytest.fixture
def run():
    return Run()


def test_a_nan_knows_that_the_learning_rate_moved_with_it(run):
    """Also when the same line shows both."""
    (found,) = run.feed(course(calm(60), lr=1e-3), sample(61, NAN, NAN, 1e18))

    assert found.changes == ("learning rate: 1.0e-3 → 1.0e18 at step 61 (train.log:62)",)


def test_the_checkpoint_before_it_is_named_with_its_end(run):
    """keep-last-2, a save an hour: the end is told in words."""
    run.feed(banner(save_total_limit="2"))
    for step in range(1, 31):
        run.feed(sample(step, 2.3, time=step * 360.0))
        if step % 10 == 0:
            run.feed(saving(step, time=step * 360.0))

    (found,) = run.feed(sample(31, NAN, time=31 * 360.0))

    assert found.details["checkpoint"] == "30"
    assert found.details["checkpoint_end"] == "keep-last-2 deletes it in about 1 h 54 min at this pace"
    assert not any(line.startswith("checkpoint") for line in found.changes)


def test_a_person_may_say_how_many_checkpoints_are_kept(run):
    """Where the log does not."""
    for step in (10, 20, 30):
        run.feed(sample(step, 2.3, time=step * 60.0), saving(step, time=step * 60.0))
    crash = Finding("gpu_oom", Severity.CRITICAL, RANK0, "a GPU ran out of memory")

    found = with_circumstances(crash, run.changes, kept=3)

    assert found.details["last_step"] == "30"
    assert found.details["checkpoint"] == "30"
    assert found.details["checkpoint_end"].startswith("keep-last-3 deletes it in about 30 min")


def test_a_spike_tells_its_grad_norm_up_to_the_peak(run):
    """It is found some steps after its first one: what was printed meanwhile belongs to it."""
    run.feed(course(calm(100), grad_norm=0.2))
    run.feed([
        sample(step, loss, norm)
        for step, loss, norm in ((101, 2.31, 0.95), (102, 2.6, 2.4), (103, 4.6, 145.0), (104, 5.1, 958.0))
    ])  # fmt: skip
    spike = Finding("loss_spike", Severity.WARNING, RANK0, "loss spikes from 2.3 to 5.1", step=102)

    found = with_circumstances(spike, run.changes)

    assert found.changes == ("grad norm: 0.2 → 0.95 → 2.4 → 145 → 958 (4,790-fold) at step 101 (train.log:102)",)


def test_a_restart_far_behind_is_no_change_around_the_step(run):
    """A new attempt 5,000 steps ago explains nothing; three steps ago it may."""
    run.feed(banner(driver="535.1"), course(calm(50)), banner(driver="550.2"), course(calm(3), first=51))
    (soon,) = run.feed(sample(54, NAN))
    assert soon.changes == ("new attempt: banner (train.log:1)", "driver: 535.1 → 550.2 at step 51 (train.log:1)")

    run.feed(course(calm(5000), first=55))
    (late,) = run.feed(sample(5055, NAN))

    assert late.changes == ()


def test_what_is_only_worth_a_note_stays_as_it_is(run):
    """Nothing is computed for information."""
    note = Finding("plateau", Severity.INFO, RANK0, "the loss no longer improves")

    assert with_circumstances(note, run.changes) is note


def test_a_finding_is_not_its_own_cause(run):
    """The line of a full disk is no change around the full disk; an Xid of the kernel's log before it is one."""
    run.feed(course(calm(100)), symptom("xid", role=Role.ROOT, category=Category.GPU_HARDWARE, file="kernel.log"))
    run.feed(sample(101, 2.3), symptom("disk_full", role=Role.ROOT, category=Category.DISK_FULL))
    full = Finding(
        "disk_full", Severity.CRITICAL, RANK0, "a disk is full", (evidence(7, "disk_full"),),
        details={"signature": "disk_full"},
    )  # fmt: skip

    found = with_circumstances(full, run.changes)

    assert [line.partition(" at step")[0] for line in found.changes] == ["warning line: a GPU reports a fault"]


def test_what_moves_the_loss_crashes_no_process(run):
    """A longer sequence may be why the memory ran out; a learning rate is not."""
    run.feed([sample(step, 2.3, lr=1e-4, sequence_length=2048.0) for step in range(1, 50)])
    run.feed(sample(50, 2.3, lr=1e-3, sequence_length=8192.0))
    oom = Finding("gpu_oom", Severity.CRITICAL, RANK0, "x", (evidence(51, "x"),), details={"signature": "cuda_oom"})

    found = with_circumstances(oom, run.changes)

    assert [line.partition(":")[0] for line in found.changes] == ["sequence length"]
    stopped = replace(oom, kind="preempted")
    assert with_circumstances(stopped, run.changes).changes == ()


def test_the_rank_that_finds_it_first_tells_the_rate_too(run):
    """The followed rank has not printed its line yet; the finding's own lines show the leap."""
    run.feed(*[[sample(step, 2.3, lr=1e-3), sample(step, 2.3, lr=1e-3, origin=rank(3))] for step in range(1, 60)])
    run.feed(sample(60, 2.3, lr=1e-3), sample(60, 2.3, lr=1e18, origin=rank(3)))

    (found,) = run.feed(sample(61, NAN, NAN, 1e18, origin=rank(3)))

    assert found.changes == ("learning rate: 1.0e-3 → 1.0e18 at step 60 (train.log:61)",)
    assert "lr_line" not in found.details
