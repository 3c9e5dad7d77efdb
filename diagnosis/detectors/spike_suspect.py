"""A small rise out of a loss that falls: a spike if it comes down again at once, else a harder stretch of data.

Nothing is said of it before that is known.
"""

from collections.abc import Sequence

from diagnosis.detectors.detector import QUIET
from diagnosis.detectors.spike_episode import Episode
from diagnosis.findings import Jump, Verdict
from diagnosis.observations import StepSample
from diagnosis.thresholds import Thresholds

MOST_POINTS = 12
"""A spike this small is over within so many points: fewer than a part of the falling window."""


class Suspect:
    """What may be a small spike."""

    def __init__(self, episode: Episode, mark: Jump, loss: float) -> None:
        self.is_over = False
        self.held: tuple[float, ...] = ()
        """Points that were no spike after all."""
        self._episode = episode
        self._said: list[Verdict] = [mark]
        self._points = [loss]
        self._is_sure = False

    def is_group(self, loss: float) -> bool:
        """A point that stays out of the window for now."""
        return not self.is_over and (not self._is_sure or self._episode.is_group(loss))

    def follow(self, seen: StepSample, loss: float, limits: Thresholds) -> Sequence[Verdict]:
        """The next point: back, much higher, or still up after too long."""
        said = self._episode.follow(seen, loss, limits)
        if self._is_sure:
            self.is_over = self._episode.is_over
            return said
        self._said += said
        self._points.append(loss)
        if self._episode.is_over or self._episode.height_of(loss) > limits.spike_warning_delta:
            self._is_sure, self.is_over = True, self._episode.is_over
            self._points, told = [], self._said
            return told
        if len(self._points) > MOST_POINTS:
            self.is_over = True
            self.held = tuple(self._points[:-1])
        return QUIET
