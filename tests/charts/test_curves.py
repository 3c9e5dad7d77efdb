"""A curve is drawn where there are points, and nowhere else."""

import numpy as np
import pytest

from charts.columns import columns_of
from charts.curves import curves_of
from charts.look import Ink
from charts.thinning import condensed
from diagnosis.series import Series


def series(steps):
    """A loss at each of these steps."""
    loss = Series("loss")
    loss.extend((float(step), 2.0 + step % 7 / 10, None) for step in steps)
    return columns_of(loss)


@pytest.mark.parametrize("count", [20, 4000])
def test_missing_steps_are_bridged_by_a_pale_dashed_line(count):
    """A log of which the middle was cut out: nobody takes the line over it for a loss that was logged."""
    columns = series([*range(count), *range(3 * count, 4 * count)])

    bridge, *rest = curves_of(condensed(columns), Ink.LOSS)

    assert (bridge.is_pale, bridge.is_dashed) == (True, True)
    assert bridge.x[0] == pytest.approx(count, rel=0.05)
    assert bridge.x[1] == pytest.approx(3 * count, rel=0.05)
    drawn = rest[-1]
    both = ~np.isnan(drawn.y[1:]) & ~np.isnan(drawn.y[:-1])
    assert np.diff(drawn.x)[both].max() < count


@pytest.mark.parametrize(
    "steps",
    [range(50), [*range(20), *range(10, 40)], [1 << power for power in range(12)], [0, 500, 1000, 1500], [7]],
    ids=["dense", "resumed", "ever rarer", "few", "one"],
)
def test_an_uneven_log_is_one_line(steps):
    """What was logged rarely is not missing, as long as no stretch of the axis is empty out of all proportion."""
    curves = curves_of(condensed(series(steps)), Ink.LOSS)

    assert not any(curve.is_dashed for curve in curves)
