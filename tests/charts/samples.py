"""Series to draw, small enough to read in a test."""

from array import array
from collections.abc import Sequence

import numpy as np

from diagnosis.series import RunSeries, Series

STARTED = 1_715_640_000.0


def series_of(metric: str, steps: Sequence[float], values: Sequence[float], times: Sequence[float] = ()) -> Series:
    """An exact series."""
    series = Series(metric)
    series.steps = array("d", [float(step) for step in steps])
    series.values = array("d", [float(value) for value in values])
    series.times = array("d", [float(time) for time in times] or [float("nan")] * len(values))
    return series


def healthy(points: int = 2000, *, run: str = "run42", seed: int = 1) -> RunSeries:
    """A run with warm-up, a huge first loss and a slow decay."""
    random = np.random.default_rng(seed)
    steps = np.arange(points, dtype=float)
    share = steps / points
    loss = 2.1 + 1.2 * np.exp(-6 * share) + 8 * np.exp(-steps / (points * 0.004)) + random.normal(0, 0.03, points)
    norm = np.exp(random.normal(-0.3, 0.2, points)) * (1 + 8 * np.exp(-share / 0.01))
    rate = 3e-4 * np.minimum(1, share / 0.02) * (0.1 + 0.45 * (1 + np.cos(np.pi * share)))
    times = STARTED + 1.3 * steps
    return RunSeries(
        run,
        loss=series_of("loss", steps, loss, times),
        grad_norm=series_of("grad_norm", steps, norm, times),
        lr=series_of("lr", steps, rate, times),
    )
