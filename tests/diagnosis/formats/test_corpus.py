"""Thirty real logs: the reader's observations give the numbers that two independent parsers gave."""

import csv
import json
import math

import pytest

from diagnosis.summary import LossSummary
from tests.diagnosis.formats.reading import CORPUS, losses, reader_of, skips

KINDS_WITH_STEPS = ("printed", "implied", "samples")
EXPECTED = CORPUS / "expected.csv"
ROWS = list(csv.DictReader(EXPECTED.open())) if EXPECTED.exists() else []

pytestmark = pytest.mark.skipif(
    not ROWS, reason=f"the corpus is not beside the repository ({CORPUS.name}/expected.csv)"
)


def same(got, wanted):
    """Equal to six digits; an empty cell wants nothing."""
    if wanted == "":
        return got is None
    if got is None:
        return False
    got, wanted = float(got), float(wanted)
    return got == wanted or (math.isnan(got) and math.isnan(wanted)) or math.isclose(got, wanted, rel_tol=1e-6)


@pytest.mark.parametrize("row", ROWS, ids=[row["file"] for row in ROWS])
@pytest.mark.parametrize("chunk", [1 << 17, 997])
def test_a_real_log_gives_its_true_numbers(row, chunk):
    """Points, first, last, non-finite, largest jump, skips, grad norms, tracebacks."""
    reader, seen = reader_of((CORPUS / row["file"]).read_bytes(), chunk=chunk)
    summary = LossSummary()
    for one in seen:
        summary.observe(one)
    loss, jump = summary.loss(), summary.loss()["largest_jump"] or {}
    pairs = {
        "points": (loss["points"], row["n_train_loss_points"]),
        "nonfinite": (loss["nonfinite"], row["n_nan_losses"]),
        "skipped": (loss["skipped_steps"], row["n_skipped_steps"]),
        "grad_points": (summary.grad_norm()["points"], row["n_grad_norm_points"]),
        "tracebacks": (reader.tracebacks, row["n_tracebacks"]),
    }
    if row["n_train_loss_points"] != "0":
        pairs |= {
            "first": (loss["first"], row["first_loss"]),
            "last": (loss["last"], row["last_loss"]),
            "jump": (jump.get("delta"), row["max_abs_delta_loss"]),
        }
    if row["step_kind"] in KINDS_WITH_STEPS:
        pairs |= {
            "first_step": (loss["first_step"], row["first_step"]),
            "last_step": (loss["last_step"], row["last_step"]),
            "jump_step": (jump.get("step"), row["step_at_max_abs_delta"]),
        }
        assert loss["step_kind"] == row["step_kind"]

    assert {name: pair for name, pair in pairs.items() if not same(*pair)} == {}
    assert reader.unread.count <= 2, reader.unread.samples


def crlf(line):
    """Windows line ends."""
    return line.rstrip(b"\r") + b"\r"


WRAPPINGS = {
    "crlf": crlf,
    "rank tag": lambda line: b"[rank0]: " + line,
    "torchrun tee": lambda line: b"[default3]:" + line,
    "srun label": lambda line: b"  0: " + line,
    "container time": lambda line: b"2024-05-01T12:00:00.123456789Z " + line,
    "cri": lambda line: b"2024-05-01T12:00:00.123456789Z stdout F " + line,
    "docker json": lambda line: json.dumps(
        {"log": line.decode("utf-8", "replace") + "\n", "stream": "stdout", "time": "2024-05-01T12:00:00.1Z"}
    ).encode(),
    "colours": lambda line: b"\x1b[32m" + line + b"\x1b[0m",
    "ray": lambda line: b"\x1b[36m(main_task pid=28294)\x1b[0m " + line,
}


@pytest.mark.parametrize("wrapping", WRAPPINGS)
@pytest.mark.parametrize("row", ROWS[::3], ids=[row["file"] for row in ROWS[::3]])
def test_a_wrapped_log_gives_the_same_numbers(row, wrapping):
    """Whoever put something around the lines."""
    lines = (CORPUS / row["file"]).read_bytes().split(b"\n")
    plain, wrapped = reader_of(b"\n".join(lines))[1], reader_of(b"\n".join(map(WRAPPINGS[wrapping], lines)))[1]

    assert repr(losses(wrapped)) == repr(losses(plain))
    assert len(skips(wrapped)) == len(skips(plain))
