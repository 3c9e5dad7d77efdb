"""Normal, watch or wrong, by the numbers alone."""

import math

import pytest

from diagnosis.series import Mark, RunSeries
from handlers.health import Health, look_at


def run(losses, *, norms=None, marks=()):
    made = RunSeries("run42", marks=tuple(marks))
    for step, loss in enumerate(losses, 1):
        made.loss.add(step, loss)
        made.grad_norm.add(step, (norms or {}).get(step, 0.9))
        made.lr.add(step, 1e-4)
    return made


FALLING = [3.0 - step / 500 for step in range(500)]


def test_a_falling_loss_is_normal():
    """And the level before is told."""
    look = look_at(run(FALLING))

    assert look.health is Health.NORMAL
    assert look.last_step == 500
    assert look.earlier_loss > look.last_loss


def test_nan_at_the_end_is_wrong_since_its_first_step():
    """The unbroken end counts, with the last good step before it."""
    look = look_at(run([*FALLING, math.nan, math.nan, math.inf]))

    assert (look.health, look.since_step, look.why) == (Health.WRONG, 501, "loss is NaN")
    assert look.last_good_step == 500


@pytest.mark.parametrize("bad_losses", [0, 31])
def test_the_last_good_step_has_a_finite_grad_norm_too(bad_losses):
    """As the thread and the report say it."""
    losses = [*FALLING[:119], *[math.nan] * bad_losses]
    norms = dict.fromkeys(range(119, len(losses) + 1), math.nan)

    look = look_at(run(losses, norms=norms))
    assert (look.health, look.last_good_step, look.last_good_loss) == (Health.WRONG, 118, FALLING[117])


def test_a_nan_that_passed_is_worth_watching():
    """A skipped step is no catastrophe, and not nothing."""
    marks = [Mark("nonfinite", 480.0, value=math.nan)]

    look = look_at(run([*FALLING[:479], math.nan, *FALLING[480:]], marks=marks))

    assert (look.health, look.since_step) == (Health.WATCH, 480)


def test_a_bad_grad_norm_under_a_fine_loss_is_wrong():
    """A filter hides the loss; the grad norm tells."""
    look = look_at(run(FALLING, norms={499: math.nan, 500: math.nan}))

    assert (look.health, look.since_step, look.why) == (Health.WRONG, 499, "grad norm is not finite")


def test_a_climbing_loss_is_worth_watching():
    """The newest level stands clearly above the one before."""
    look = look_at(run([2.0] * 400 + [2.0 + step / 50 for step in range(60)]))

    assert look.health is Health.WATCH
    assert look.why == "the loss climbs"


@pytest.mark.parametrize(("step", "health"), [(495.0, Health.WATCH), (100.0, Health.NORMAL)])
def test_only_new_marks_are_worth_a_word(step, health):
    """A spike of last week is on the chart, not in the sentence."""
    assert look_at(run(FALLING, marks=[Mark("spike", step)])).health is health


@pytest.mark.parametrize("losses", [[], [2.0], [math.nan], [2.0, math.nan], [math.inf, 2.0]])
def test_a_young_run_breaks_nothing(losses):
    """The first points have no past."""
    assert look_at(run(losses)).health in Health


def test_the_normal_range_is_where_nearly_all_points_lay():
    """The bad end is no part of it, and a spike does not widen it to itself."""
    losses = [2.0 + 0.1 * (step % 5) for step in range(201)]

    assert look_at(run(losses)).band == pytest.approx((2.0, 2.4), abs=0.05)
    assert look_at(run([*losses, math.nan, math.nan])).band == pytest.approx((2.0, 2.4), abs=0.05)
    losses[170:176] = [9.0] * 6
    assert look_at(run(losses)).band[1] < 3.0
    assert look_at(run([2.0] * 5)).band is None


def test_a_mark_is_told_in_its_own_words():
    """Without the step, which stands beside it, and never `loss loss spike`."""
    losses = [2.0] * 300
    told = look_at(run(losses, marks=[Mark("loss_spike", 295.0, text="loss spikes from 2.0 to 5.1 at step 295")]))
    bare = look_at(run(losses, marks=[Mark("loss_spike", 295.0)]))

    assert told.why == "loss spikes from 2.0 to 5.1"
    assert bare.why == "loss spike"


def test_the_normal_range_follows_the_trend():
    """A loss that falls fast is normal at where it is now, not at where it was 50 points ago."""
    low, high = look_at(run([10.0 - 0.1 * step + 0.01 * (step % 3) for step in range(80)])).band

    assert 1.9 < low <= high < 2.2


@pytest.mark.parametrize(
    "losses",
    [
        [2.2 + 3.6 * math.exp(-step / 8) + 0.02 * (step % 3) for step in range(23)],
        [2.2 + 3.6 * math.exp(-step / 8) + 0.02 * (step % 3) for step in range(200)],
        [2.2 + 0.02 * (step % 3) + (2.9 * math.exp(-(step - 100) / 9) if step >= 100 else 0.0) for step in range(155)],
    ],
    ids=["steep fall", "fall that ended", "came down from a spike"],
)
def test_a_loss_that_looks_normal_is_in_its_normal_range(losses):
    """A straight trend through a bent past leads past the newest points; where it does, no range is told."""
    looks = [(one, look_at(run(losses[: at + 1]))) for at, one in enumerate(losses) if at >= 20]
    normal = [(one, look.band) for one, look in looks if look.health is Health.NORMAL]
    told = [(one, *band) for one, band in normal if band is not None]

    assert all(low <= one <= high for one, low, high in told)
    assert len(told) > 0.8 * len(normal)
