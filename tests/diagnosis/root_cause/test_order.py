"""What stands above in a file came first, whatever a buffer did to the steps."""

from pathlib import Path

import pytest

from bot.inspect import inspect
from diagnosis.findings import Finding, Severity
from diagnosis.live_case import case_of
from diagnosis.node_facts import LogAccount, NodeFacts
from diagnosis.observations import Category, Evidence, Origin, Role, StepSample, Symptom
from diagnosis.root_cause import diagnose
from tests.diagnosis.root_cause.build import clock, plain, traceback

GOOD = "".join(f"step {step}/1000 loss {3 - step / 100:.2f} lr 1e-4\n" for step in range(1, 42))
CRASH = "RuntimeError: CUDA error: an illegal memory access was encountered\n"
NOW = 1_700_000_000.0
BAD = "step 42/1000 loss nan lr 1e-4\n"


def test_a_crash_above_the_nan_came_first(tmp_path: Path):
    """The NaN is told as what was printed after it."""
    (tmp_path / "train.log").write_text(GOOD + CRASH + BAD)

    said = inspect([tmp_path]).diagnosis

    assert said.category is Category.RANK_CRASH
    assert said.first_bad_step == 42
    assert said.evidence is not None
    assert said.evidence.line == 42
    assert "printed after it: loss is NaN" in " ".join(said.because)
    assert "came later" not in " ".join(said.because)


def test_a_nan_above_the_crash_came_first(tmp_path: Path):
    """Then the crash is what came later."""
    (tmp_path / "train.log").write_text(GOOD + BAD + CRASH)

    said = inspect([tmp_path]).diagnosis

    assert said.category is Category.NAN_INF
    assert any("what ended the run came later: RuntimeError" in reason for reason in said.because)


@pytest.mark.parametrize("crash_first", [True, False])
def test_a_living_run_is_told_in_the_same_order(crash_first):
    """What its nodes tell has the same lines."""
    origin, crash_line, nan_line = Origin("run42", "n1", 0, 0), (42 if crash_first else 43), (43 if crash_first else 42)
    steps = [
        StepSample(origin, step, "printed", 2.0, Evidence("train.log", step, f"step {step} loss 2.0"))
        for step in range(1, 42)
    ]
    nan = Evidence("train.log", nan_line, BAD)
    bad = StepSample(origin, 42, "printed", float("nan"), nan)
    crash = Symptom(
        origin, "cuda_illegal_access", Role.ROOT, Category.RANK_CRASH, Evidence("train.log", crash_line, CRASH)
    )
    finding = Finding("nonfinite_loss", Severity.CRITICAL, origin, "loss is NaN since step 42", (nan,), step=42)
    told = (*steps, *([crash, bad] if crash_first else [bad, crash]))
    facts = NodeFacts(
        "n1", time=NOW, logs=(LogAccount("train.log", told, {}, ranks=(0,), lines=43),), findings=(finding,)
    )

    said = diagnose(case_of([facts], looked_at=NOW))

    assert said.category is (Category.RANK_CRASH if crash_first else Category.NAN_INF)
    assert any("came later" in reason for reason in said.because) is not crash_first


def test_what_is_left_of_an_earlier_run_explains_nothing_of_this_one(tmp_path: Path):
    """Its log ended more than a day before the other one began."""
    (tmp_path / "now.log").write_text(plain(1, 100))
    (tmp_path / "then.log").write_text(
        "2025-01-01 00:00:00,000 INFO step 1/9 loss 2.0\n2025-01-01 00:00:10,000 INFO step 2/9 loss 2.0\n"
        "[rank1]: torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
    )

    said = inspect([tmp_path]).diagnosis

    assert (str(said.category), said.culprit_rank) == ("none", None)


def test_a_stamp_above_a_traceback_tells_when_it_was(tmp_path: Path):
    """Its own lines bear no time, and the line above it is no step: the earlier rank is the first."""
    for rank, second, error in ((0, 90, "RuntimeError: cannot gather metrics"), (2, 45, "TypeError: no number")):
        (tmp_path / f"rank{rank}.log").write_text(
            plain(1, 20, rank=rank)
            + f"{clock(second)},100 ERROR [rank{rank}] the step failed\n"
            + traceback(error, prefix=f"[rank{rank}]: ")
        )

    said = inspect([tmp_path]).diagnosis

    assert said.culprit_rank == 2, said.because
