"""Phases and environment facts, and the prefilter that finds their lines."""

import pytest

from diagnosis.formats import notices
from diagnosis.observations import Phase, PhaseMark
from tests.diagnosis.formats.reading import read


@pytest.mark.parametrize(
    ("line", "phase", "begins", "step"),
    [
        ("***** Running Evaluation *****", Phase.EVALUATING, True, None),
        ("> working on iteration: 30", Phase.EVALUATING, True, None),
        ("Completed eval step 9", Phase.EVALUATING, False, None),
        ("saving checkpoint at iteration    1000 to /data/ckpt", Phase.SAVING, True, 1000),
        ("Saving model checkpoint to /out/checkpoint-500", Phase.SAVING, True, 500),
        ("  successfully saved checkpoint at iteration    1000 to /data", Phase.SAVING, False, None),
        ("Checkpoint saved to /data/step0-unsharded", Phase.SAVING, False, None),
        (" > loading checkpoint from checkpoints/global_step44960 (rank 0)", Phase.LOADING, True, None),
        ("  successfully loaded checkpoint from /data at iteration 0", Phase.LOADING, False, None),
        ("Tokenizing dataset", Phase.TOKENISING, True, None),
        ("[after training is done] datetime: 2023-08-16 11:59:58 ", Phase.FINISHED, True, None),
        ("exiting program at iteration 500", Phase.FINISHED, True, None),
        ("exiting program after 1190.5 minutes", Phase.FINISHED, True, None),
        ("`Trainer.fit` stopped: `max_steps=100` reached.", Phase.FINISHED, True, None),
        ("INFO - Training completed", Phase.FINISHED, True, None),
    ],
)
def test_a_line_says_what_the_run_does(line, phase, begins, step):
    """With the step it belongs to, where the line tells it."""
    marks = [one for one in read(line + "\n") if isinstance(one, PhaseMark)]

    assert [(mark.phase, mark.begins) for mark in marks] == [(phase, begins)]
    if step is not None:
        assert marks[0].step == step


def test_every_rule_is_found_by_its_needles():
    """A needle that does not stand in a matching line would hide the rule."""
    missed = [line for line in SAMPLES if notices.may_tell(line) and not list(notices.told_by(line))]

    assert missed == []


SAMPLES = (
    "validation loss at iteration 200 | lm loss value: 7.4E+00 | lm loss PPL: 1.7E+03 | ",
    "step 250: train loss 1.5440, val loss 1.7220",
    "iter 1400: val loss 2.9000, val time: 8123.45 ms",
    "Val loss 0.227",
    "chosen: -31.9375, rejected: -33.96875, loss: 0.6650807857513428",
    "***** Evaluating perplexity, Epoch 15/16 *****",
    "saving the final model ...",
    "using world size: 16, data-parallel-size: 1",
    "driver version: 535.104.05",
    "Git commit: 0123abc",
)
