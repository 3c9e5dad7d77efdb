"""Reads one line as a step: the dialects first, the general reader where no dialect is spoken."""

from collections.abc import Iterable
from dataclasses import replace

from diagnosis.formats import notices
from diagnosis.formats.dialects import FORMATS, GENERAL
from diagnosis.formats.headings import Headings
from diagnosis.formats.line import Line
from diagnosis.formats.line_format import Finder, Found, Token, values_of, with_rest
from diagnosis.formats.memory import Memory
from diagnosis.formats.noticing import Noticer
from diagnosis.formats.sampling import Sampler
from diagnosis.formats.shapes import Shapes
from diagnosis.formats.sums import Sums
from diagnosis.formats.tags import rank_in

_MOST_FINDERS = 4


class StepFinder:
    """Finds the step on lines that no learned shape reads, and learns the shape of each kind it finds."""

    def __init__(self, memory: Memory, shapes: Shapes, sampler: Sampler, noticer: Noticer) -> None:
        self._memory = memory
        self._shapes = shapes
        self._sampler = sampler
        self._noticer = noticer
        self._sums = Sums()
        self._headings = Headings()
        self._finders: list[Finder] = []
        self._has_dialect = False
        self._tells_steps = False

    @property
    def held(self) -> Line | None:
        """A line that may be a point or none, as the next ones show."""
        return self._sums.held

    def release(self) -> None:
        """Nothing more comes. An evaluation's estimate alone is no curve."""
        self._take_sums(one for one in self._sums.release() if not notices.is_no_step(one[0].text))

    def hear_heading(self, text: str) -> None:
        """A short line may say that the losses below it are an evaluation's."""
        if self._headings.hear(text):
            self._shapes.forget_ordinal()
        if self._headings.tells_epoch(text):
            for counter in self._memory.counters():
                counter.open_epoch(self._headings.epoch or 0)

    def read_own(self, line: Line) -> bool:
        """Take the step that a person's own pattern sees in the line; False when there is none."""
        own = self._memory.settings.pattern
        found = own.find(line.text) if own is not None else None
        if own is None or found is None:
            return False
        self._understand(own, with_rest(found, line.text), line)
        return True

    def read(self, line: Line) -> bool:
        """Take the step that the line tells; False when it tells none."""
        text = line.text
        for finder in (*self._finders, *FORMATS):
            if finder.hint in text:
                found = finder.find(text)
                if found is not None:
                    self._understand(finder, with_rest(found, text), line)
                    return True
        if self._speaks_a_dialect():
            return self._calls_back(line)
        found = GENERAL.find(text)
        if found is None:
            return False
        if self._headings.epoch is not None:
            found = _of_epoch(found)
        stream = self._memory.stream_of(line.stream)
        is_mean = self._tells_steps or stream.bars.holds_loss
        if found.kind == "ordinal" and not notices.is_no_step(text) and (is_mean or self._headings.claims_loss()):
            # Beside losses that carry their step, one without is the mean of an epoch; or it is an evaluation's.
            stream.remember(line.printed)
            self._noticer.notice(line)
            return True
        if found.sums_up:
            return self._weigh(line, found)
        if notices.is_no_step(text):
            return False
        self._tells_steps = self._tells_steps or (found.kind == "printed" and _has_loss(found))
        self._understand(GENERAL, found, line)
        return True

    def _calls_back(self, line: Line) -> bool:
        """A callback's line behind a dict of the Trainer, which tells the same step with its number."""
        stream = self._memory.stream_of(line.stream)
        found = GENERAL.find(line.text) if stream.told is not None else None
        if found is None or found.kind != "printed" or found.sums_up:
            return False
        values = values_of(line.text, found)
        if not {"loss", "step"} <= values.keys() or not self._sampler.call_back(stream, values):
            return False
        stream.remember(line.printed, line.number)
        return True

    def _weigh(self, line: Line, found: Found) -> bool:
        """A line that may sum up an epoch; False when it surely does."""
        if notices.is_known(line.text):
            return False
        points = self._sums.weigh(line, found)
        self._take_sums(points or (), line)
        if points is None or (not points and notices.is_no_step(line.text)):
            self._memory.stream_of(line.stream).remember(line.printed, line.number)
            self._noticer.notice(line)
        return True

    def _take_sums(self, points: Iterable[tuple[Line, Found]], newest: Line | None = None) -> None:
        for line, found in points:
            evaluates = notices.is_no_step(line.text)  # it was noticed as one when it came
            self._understand(GENERAL, found, line, learns=not evaluates, says_more=line is newest or not evaluates)

    def _speaks_a_dialect(self) -> bool:
        """A log whose losses a known dialect reads is not read by guesses as well."""
        return self._has_dialect or any(
            name != GENERAL.name and any(steps.losses for steps in counters)
            for name, counters in self._memory.dialects.items()
        )

    def _understand(
        self, finder: Finder, found: Found, line: Line, *, learns: bool = True, says_more: bool = True
    ) -> None:
        text = line.text
        if found.tokens:
            values = values_of(text, found)
            time = self._time_token(line, found)
            rank = found.rank or rank_in(text)
            if rank is not None:
                line.origin = self._memory.with_rank(line.origin, text[rank.start : rank.end])
            self._has_dialect = self._has_dialect or (finder is not GENERAL and "loss" in values)
            if "loss" in values and not found.sums_up:
                self._sums.tell_plainly(text, found)
            if finder is not GENERAL and finder not in self._finders:
                self._finders = [finder, *self._finders[: _MOST_FINDERS - 1]]
            learns = learns and not (found.kind == "ordinal" and self._headings.has_evaluated)
            if learns and not _overlap(found.tokens, time, rank):
                self._shapes.learn(finder.name, found, text, time, rank)
            self._sampler.take(line, values, finder.name, found)
        if says_more:
            self._noticer.notice(line)

    def _time_token(self, line: Line, found: Found) -> Token | None:
        if found.time is not None:
            line.time = self._memory.clock.read(line.text[found.time.start : found.time.end])
            return found.time
        if line.time is not None:
            return None
        stamp = self._memory.clock.find(line.text)
        if stamp is None:
            return None
        start, end, line.time = stamp
        return Token("time", start, end)


def _has_loss(found: Found) -> bool:
    return any(token.name == "loss" for token in found.tokens)


def _of_epoch(found: Found) -> Found:
    """The same without an end of the run: below an epoch's heading `3/10` tells how long the epoch is."""
    return replace(found, tokens=tuple(token for token in found.tokens if token.name != "total_steps"))


def _overlap(tokens: tuple[Token, ...], *texts: Token | None) -> bool:
    return any(
        token.start < text.end and text.start < token.end for text in texts if text is not None for token in tokens
    )
