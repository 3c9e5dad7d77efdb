"""Advice: every kind of loss finding has some, and a log without a loss gets the lines to add."""

import ast

import pytest

from diagnosis.detectors.telling_line import KIND_OF
from diagnosis.loss_advice import ADVICE, advice_for, checklist, how_to_print_loss

LOSS_KINDS = (
    "nonfinite_loss", "nonfinite_grad_norm", "nonfinite_eval", "loss_vanished", "loss_zero", "nan_counter",
    "overflow_streak", "loss_scale_floor", "loss_spike", "sustained_spike", "divergence", "grad_norm_lead",
    "plateau", "slowdown",
)  # fmt: skip


@pytest.mark.parametrize("kind", LOSS_KINDS)
def test_every_kind_about_the_loss_has_advice(kind):
    """Whole sentences, without an exclamation."""
    sentences = advice_for(kind)

    assert sentences
    assert all(sentence.endswith(".") and "!" not in sentence for sentence in sentences)


def test_the_advice_for_nan_is_what_people_were_promised():
    """Stop soon, save checkpoint and log first, check learning rate, empty values, long sequences."""
    text = " ".join(advice_for("nonfinite_loss"))

    for word in ("Stop soon", "checkpoint", "log segment", "learning rate", "empty values", "abnormal length"):
        assert word in text


def test_an_unknown_kind_gets_none():
    """Failures have their own page."""
    assert advice_for("gpu_oom") == ()
    assert set(ADVICE) - set(LOSS_KINDS) <= set(KIND_OF.values())


@pytest.mark.parametrize(
    ("dialect", "steps", "words", "line"),
    [
        ("progress bar", 100, "only a progress bar", "logging_steps=10"),
        ("huggingface", 0, "no step and no training loss", "disable_tqdm=True"),
        ("deepspeed timer", 691, "steps but no training loss", "engine.global_steps"),
        ("megatron", 4, "last rank", "--log-interval 1"),
        (None, 0, "no step and no training loss", "loss=%.4f"),
        ("somebody's own", 12, "steps but no training loss", "grad_norm=%.3f"),
    ],
)
def test_a_log_without_a_loss_is_told_what_to_add(dialect, steps, words, line):
    """For the framework that was seen, or plainly."""
    answer = how_to_print_loss(dialect, run="run7", steps_seen=steps)

    assert answer.why.startswith("run7 prints ")
    assert words in answer.why
    assert line in answer.lines
    assert "RANK" in answer.also


def test_python_lines_can_be_pasted():
    """What is offered as code is code."""
    for dialect in (None, "deepspeed"):
        ast.parse(how_to_print_loss(dialect).lines)


def test_the_checklist_fills_in_what_was_read_and_says_what_was_not():
    """Before a restart."""
    checks = {check.what: check for check in checklist({"batch_size": "1,024", "torch": "2.4.1", "driver": "550.54"})}

    assert checks["global batch size"].value == "1,024"
    assert checks["versions"].value == "torch 2.4.1, driver 550.54"
    assert checks["gradient accumulation"].value is None
    assert all(check.advice for check in checks.values())
