"""What to do: at most three sentences, with the finding's own numbers."""

import re
from dataclasses import replace
from itertools import combinations

import pytest

from diagnosis.detectors.kinds import KINDS
from diagnosis.findings import Finding, Severity
from diagnosis.instructions import is_said_by
from diagnosis.next_steps import MOST, SAVE, next_steps
from diagnosis.observations import Origin
from diagnosis.resumed import SINCE_RESUME
from diagnosis.signatures import ROWS


def finding(kind, *, step=None, changes=(), **details):
    origin = Origin("run42", "node17", 3, 3)
    return Finding(kind, Severity.CRITICAL, origin, "x", step=step, details=details, changes=changes)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_has_one_to_three_whole_sentences(kind):
    """Nobody reads four at night; each is a sentence."""
    steps = next_steps(finding(kind))

    assert 1 <= len(steps) <= MOST
    assert all(step.endswith(".") for step in steps)
    # A program's or an option's name keeps its small letter.
    assert all(step[0].isupper() or not step.split()[0].strip(",:;").isalpha() for step in steps)
    assert len(set(steps)) == len(steps)


@pytest.mark.parametrize("row", sorted(ROWS))
def test_every_row_has_at_most_three(row):
    """Whatever the table says, and however long."""
    category = str(ROWS[row].category)
    assert 1 <= len(next_steps(finding(category, signature=row))) <= MOST


@pytest.mark.parametrize("row", sorted(ROWS))
def test_no_row_says_a_step_twice(row):
    """Neither in other words, nor once with a known checkpoint and once with the newest."""
    steps = next_steps(finding(str(ROWS[row].category), signature=row, checkpoint="400"))

    assert not [pair for pair in combinations(steps, 2) if is_said_by(*pair)]


@pytest.mark.parametrize("is_down", [False, True])
def test_one_bad_grad_norm_is_no_reason_to_stop(is_down):
    """Its step was probably skipped, so the weights are good; of one that goes on they may not be."""
    lasting = finding("nonfinite_grad_norm", step=150)
    passing = " ".join(next_steps(replace(lasting, severity=Severity.WARNING), is_down=is_down))

    assert "never come back" in " ".join(next_steps(lasting, is_down=is_down))
    assert "never come back" not in passing
    assert ("usually skips one such step" in passing) is not is_down


def test_a_known_checkpoint_comes_first_with_its_deadline():
    """What rotation is about to delete is saved before anything else."""
    first, *_ = next_steps(finding("nonfinite_loss", step=61, checkpoint="40", checkpoint_end="keep-last-3 …"))

    assert first.startswith("Copy the checkpoint of step 40 to a safe place, which rotation is about to delete.")


@pytest.mark.parametrize("checkpoint", [{}, {"checkpoint": "40"}])
@pytest.mark.parametrize("since", [{}, {"since": SINCE_RESUME}])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_nobody_is_told_to_stop_or_to_watch_what_is_down(kind, since, checkpoint):
    """A run that died needs a place to start again from, not an end."""
    for step in next_steps(finding(kind, step=61, **since, **checkpoint), is_down=True):
        assert not re.search(r"(?i)\bstop\b|\bwatch it\b|from now on", step), step


def test_a_run_that_is_down_starts_again_before_the_nan():
    """From the checkpoint that is known, else from one before the last good step."""
    bad = replace(finding("nonfinite_loss", step=61), last_good_step=60)

    assert next_steps(bad, is_down=True)[0].startswith("Start again from a checkpoint of step 60 or before:")
    assert next_steps(finding("nonfinite_loss", checkpoint="40"), is_down=True)[0].startswith(
        "Start again from the checkpoint of step 40:"
    )


def test_a_learning_rate_that_moved_is_the_thing_to_mend():
    """Old and new value."""
    steps = next_steps(finding("nonfinite_loss", step=61, lr_change="1.0e-3 → 1.0e18"), ranks=4, world_size=4)

    assert "Find out why the learning rate went from 1.0e-3 to 1.0e18, and mend that first." in steps


def test_one_rank_of_many_points_to_its_gpu():
    """The learning rate is the same everywhere."""
    steps = next_steps(finding("nonfinite_loss", step=61), ranks=1, world_size=8)

    assert "Only one rank shows it" in steps[1]


@pytest.mark.parametrize("rank", [None, 0, 7])
def test_the_only_rank_that_prints_is_not_blamed(rank):
    """Most runs print on the first rank or on the last; that nobody else shows a NaN means nothing then."""
    one = replace(finding("nonfinite_loss", step=61), origin=Origin("run42", "node17", rank))

    assert not any("Only one rank" in step for step in next_steps(one, ranks=1, world_size=8))


def test_what_the_line_is_known_for_is_not_said_twice():
    """Its own advice and that of its category may be the same."""
    steps = next_steps(finding("disk_full", signature="disk_full"))

    assert steps[0].startswith("Run `df -h`")
    assert sum("df -h" in step for step in steps) == 1


def test_the_search_for_a_cause_says_it_better():
    """What it found to do comes before what is always right."""
    told = next_steps(finding("collective_timeout", next="Drain node17.\nRun nccl-tests."))

    assert told == ("Drain node17.", "Run nccl-tests.", SAVE)


def test_a_time_limit_needs_no_detective():
    """The scheduler said who it was."""
    first, *_ = next_steps(finding("preempted", reason="TIME LIMIT", checkpoint="400"))

    assert first == "Start again from the checkpoint of step 400."


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ({"total": "80.00 GiB", "free": "1.00 GiB", "allocated": "76.00 GiB", "unallocated": "512.00 MiB"}, "itself"),
        (
            {"total": "80.00 GiB", "free": "1.00 GiB", "allocated": "55.00 GiB", "unallocated": "20.00 GiB"},
            "expandable",
        ),
        ({"total": "80.00 GiB", "free": "1.00 GiB", "allocated": "40.00 GiB", "unallocated": "1.00 GiB"}, "nvidia-smi"),
    ],
)
def test_an_out_of_memory_is_told_apart_by_its_own_numbers(sizes, told):
    """Too big, fragmented, or shared with somebody: three different things to do."""
    first, *_ = next_steps(finding("gpu_oom", **sizes))

    assert told in first


def test_a_lone_sigkill_asks_the_kernel_first():
    """Often the OOM killer, not proven."""
    first, *rest = next_steps(finding("killed", signature="elastic_worker_failed", exit_code="-9"))

    assert first.startswith("`dmesg -T | grep -i oom` on node17")
    assert rest[-1] == SAVE


def test_nobody_is_asked_to_press_what_cannot_be_done_without_a_watcher():
    """The one that would save the evidence is the one that is not heard."""
    steps = next_steps(finding("watcher_silent"))

    assert SAVE not in steps
    assert "its watcher runs" in steps[0]
