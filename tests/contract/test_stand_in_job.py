"""The stand-in for a training job prints what the real one printed: what is read from it holds for both."""

import subprocess
import sys
from pathlib import Path

import pytest

from diagnosis.formats.reader import LogReader
from diagnosis.observations import Origin, PhaseMark, StepSample, Symptom

ROOT = Path(__file__).parents[2]
REAL = ROOT / "bot" / "demo" / "samples" / "lost_rank.log"


def stand_in(*fault):
    """Four ranks, one of them killed where no other fault is asked for."""
    wanted = fault or ("--fault", "sigkill:1:8")
    command = [sys.executable, "-m", "bot.demo.job", *wanted, "--step-seconds", "0.02"]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=False, timeout=60).stdout


@pytest.fixture(scope="module", params=["stand-in", "real"])
def read(request):
    """The reader, and what it saw."""
    reader = LogReader("job.log", Origin("run42", "node002"))
    data = stand_in() if request.param == "stand-in" else REAL.read_bytes()
    return reader, [*reader.feed(data, 1.0), *reader.close()]


def test_it_is_told_in_torchruns_envelope(read):
    """Local ranks come from the launcher's tag, global ones from the job's own."""
    reader, _ = read

    assert reader.envelope.split(" + ")[0] == "torchrun tee"
    assert reader.time_style == "local"
    assert reader.ranks == {0, 1, 2, 3}


def test_every_step_line_bears_the_same_numbers(read):
    """Loss, grad norm and learning rate, each with the rank that printed it."""
    _, seen = read
    steps = [one for one in seen if isinstance(one, StepSample)]

    assert steps
    assert all(None not in (one.step, one.loss, one.grad_norm, one.lr, one.origin.rank, one.time) for one in steps)


def test_the_launcher_tells_who_was_killed(read):
    """By local rank, pid and exit code."""
    _, seen = read
    (failed,) = [one for one in seen if isinstance(one, Symptom) and one.signature == "elastic_worker_failed"]

    assert failed.fields["exit_code"] == "-9"
    assert failed.fields["local_rank"] == "1"


def test_all_ranks_train_by_one_schedule():
    """A learning rate that jumps jumps on all of them at the same step: no chart of theirs zigzags."""
    reader = LogReader("job.log", Origin("run42", "node002"))
    told = stand_in("--fault", "nan:0:5", "--steps", "9")
    steps = [one for one in [*reader.feed(told, 1.0), *reader.close()] if isinstance(one, StepSample)]

    rates = {step: {one.lr for one in steps if one.step == step} for step in range(1, 10)}

    assert rates == {step: {1e18 if step >= 5 else 1e-3} for step in rates}


def test_nothing_in_it_looks_like_a_pause(read):
    """A job that only trains marks no phase."""
    _, seen = read

    assert not [one for one in seen if isinstance(one, PhaseMark) and one.begins]
