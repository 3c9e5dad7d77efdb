"""The points of a chart as a log tells them: one rank speaks for all that print the same, each where they differ."""

from diagnosis.observations import Origin, StepSample
from diagnosis.thinning import RunThinner


class Curve:
    """Loss, grad norm and learning rate, thinned while they are read."""

    def __init__(self) -> None:
        self.thinner = RunThinner("log")
        self.lead: tuple[str | None, int | None] | None = None
        """Node and rank of the process whose points are drawn."""
        self.place = 0
        """Points so far."""

    def draws(self, origin: Origin, *, is_news: bool) -> bool:
        """True for the rank that spoke first, and for points that no rank has told before."""
        key = (origin.node, origin.rank)
        self.lead = self.lead or key
        return key == self.lead or is_news

    def take(self, seen: StepSample, *, is_news: bool = False) -> None:
        """Take in a step line; `is_news` where its loss is a point that no other rank has told."""
        if seen.loss is None and seen.grad_norm is None:
            return
        if not self.draws(seen.origin, is_news=is_news and seen.step is not None):
            return
        self.place += 1
        step = seen.step if seen.step is not None else self.place
        self.thinner.add(step, loss=seen.loss, grad_norm=seen.grad_norm, lr=seen.lr, time=seen.time)
