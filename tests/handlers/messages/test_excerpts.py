"""Of a long log line the part that tells is shown."""

from hypothesis import given
from hypothesis import strategies as st

from diagnosis.findings import Finding, Severity
from diagnosis.observations import Origin
from handlers.messages.excerpts import LONGEST, excerpt, telling

MEGATRON = (
    "[default7]: iteration    31219/  115311 | consumed samples:     47778736 | consumed tokens:  97850851328 | elapsed "
    "time per iteration (s): 106.11 | learning rate: 5.279E-05 | global batch size:  2048 | lm loss: 5.095951E+00 | "
    "grad norm: 957.666 | num zeros: 0.0 | number of skipped iterations:   0 | number of nan iterations:   0 | "
    "samples per second: 19.300 | TFLOPs: 147.06 |"
)


def found(kind="loss_spike", **details):
    return Finding(kind, Severity.CRITICAL, Origin("run42"), "x", details=details)


def test_the_loss_of_a_long_line_is_in_sight():
    """Its beginning, for the step, and the numbers that matter."""
    shown = excerpt(MEGATRON, telling(found()))

    assert shown.startswith("[default7]: iteration    31219/  115311")
    assert "lm loss: 5.095951E+00 | grad norm: 957.666" in shown
    assert len(shown) <= LONGEST


def test_the_words_a_row_knows_are_in_sight():
    """However much stands before them."""
    line = "2026-11-29 03:12:07 [rank3] " + "context " * 80 + "torch.OutOfMemoryError: CUDA out of memory. Tried 2 GiB"

    shown = excerpt(line, telling(found("gpu_oom", signature="cuda_oom")))

    assert "CUDA out of memory" in shown


def test_a_short_line_stays_as_it_was_printed():
    """Letter for letter."""
    assert excerpt("step=61 loss=nan", telling(found())) == "step=61 loss=nan"


@given(st.text(max_size=3000))
def test_no_line_is_longer_than_allowed(line):
    """Whatever it holds."""
    assert len(excerpt(line, telling(found()))) <= LONGEST
