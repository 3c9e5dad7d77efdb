"""What /loss says of trouble that is over: a run that looks normal again spiked sixty steps ago all the same."""

import math

import pytest

from diagnosis.series import Mark, RunSeries
from handlers.health import Health, look_at
from handlers.marked import marked_before
from handlers.messages.languages import speaking
from handlers.messages.loss import loss_answer
from registry import Run
from tests.bot.chinese import english_in


def run(*marks, points=500):
    made = RunSeries("run42", marks=marks)
    for step in range(1, points + 1):
        made.loss.add(step, 3.0 - step / 1000)
    return made


def jump(step, before=2.2, to=5.1, metric="loss"):
    return Mark("jump", step, value=to, before=before, metric=metric)


SPIKE = Mark("loss_spike", 439.0, text="loss spikes from 2.21 to 5.10 at step 442; it peaked")


@pytest.mark.parametrize(
    ("marks", "told", "more"),
    [
        ((SPIKE,), ("loss spikes from 2.21 to 5.10 at step 442",), 0),
        ((jump(438.0), SPIKE, jump(443.0, 5.1, 3.4)), ("loss spikes from 2.21 to 5.10 at step 442",), 0),
        ((jump(300.0), jump(301.0, 5.1, 2.3)), ("loss 2.20 → 5.10 at step 300",), 0),
        ((jump(50.0), jump(150.0), jump(250.0)), ("loss 2.20 → 5.10 at step 250", "loss 2.20 → 5.10 at step 150"), 1),
        ((Mark("nonfinite", 250.0, value=math.nan),), ("loss was not finite at step 250",), 0),
        ((Mark("loss_spike", 250.0),), ("loss spike at step 250",), 0),
    ],
)
def test_the_newest_troubles_are_named_with_their_steps(marks, told, more):
    """Marks near each other are one trouble, told by its finding where there is one; of more than two the newest."""
    series = run(*marks)

    found = marked_before(series, look_at(series))

    assert (found.told, found.more) == (told, more)


@pytest.mark.parametrize("marks", [(), (jump(300.0, metric="grad_norm"),), (Mark("grad_norm_lead", 300.0),)])
def test_nothing_is_said_where_the_loss_never_jumped(marks):
    """A gradient norm that rose is in the chart."""
    series = run(*marks)

    assert marked_before(series, look_at(series)) is None


def test_what_the_first_sentence_tells_is_not_told_again():
    """A spike in the newest part is why the run is to be watched; the one before it is named."""
    series = run(jump(100.0), Mark("loss_spike", 480.0, text="loss spikes from 2.0 to 5.1 at step 480"), jump(484.0))
    look = look_at(series)

    assert look.health is Health.WATCH
    assert marked_before(series, look).told == ("loss 2.20 → 5.10 at step 100",)


def test_the_answer_says_it_below_the_numbers():
    """In both languages."""
    series = run(jump(50.0), jump(150.0), SPIKE)
    look = look_at(series)
    words = str(loss_answer(Run("run42"), look, 0.0, marked=marked_before(series, look)).blocks)
    with speaking("zh"):
        chinese = loss_answer(Run("run42"), look, 0.0, marked=marked_before(series, look))

    assert (
        "Marked earlier: loss spikes from 2.21 to 5.10 at step 442; loss 2.20 → 5.10 at step 150 and 1 more." in words
    )
    assert not [block for block in chinese.blocks if english_in(str(block.get("text")))]
