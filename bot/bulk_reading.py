"""Big logs for `inspect` and `replay`: read as columns, with the same answers as line by line."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from bot.curve import Curve
from bot.following import Following
from bot.log_lines import TAIL, Reading, note
from bot.second_reader import Account, SecondReader
from diagnosis.formats.again import Again
from diagnosis.formats.bulk.block import StepBlock
from diagnosis.formats.bulk.judging.absorbing import Absorber, Twin
from diagnosis.formats.bulk.judging.curves import SummaryTwin, draw
from diagnosis.formats.bulk.judging.facts import FactsTwin
from diagnosis.formats.bulk.judging.judge import JudgeTwin
from diagnosis.formats.bulk.judging.moves import ChangesTwin
from diagnosis.formats.bulk.judging.run import Run
from diagnosis.formats.bulk.reader import BulkReader, Item
from diagnosis.formats.bulk.weaving import Woven
from diagnosis.formats.reader import LogReader
from diagnosis.log_facts import LogFacts
from diagnosis.observations import Observation, Origin


class BulkLines:
    """Reads one training log in bulk."""

    def __init__(self, file: str, origin: Origin, facts: LogFacts, reading: Reading) -> None:
        self._bulk = BulkReader(file, origin, settings=reading.settings)
        self.reader: LogReader | Account = self._bulk
        self._facts = facts
        self._take = reading.take
        self._hear_again = reading.hear_again
        self._absorber = None
        if reading.twins is not None:
            self._absorber = Absorber([FactsTwin(facts), *reading.twins()], self._take_one)

    def feed(self, data: bytes) -> None:
        """The next bytes of the log."""
        self._give(self._bulk.read(data))

    def take(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Read all of these; gives them back."""
        for chunk in chunks:
            self.feed(chunk)
            yield chunk

    def go_on_in(self, file: str) -> None:
        """The log goes on in another file, as it does when it is rotated."""
        self._give(self._bulk.go_on_in(file))

    def close(self) -> None:
        """The end of the log."""
        self._give(self._bulk.finish())

    def _give(self, items: Sequence[Item]) -> None:
        for item in items:
            if isinstance(item, Again):
                self._take_again(item)
            elif not isinstance(item, StepBlock | Woven):
                self._take_one(item)
            elif self._absorber is not None:
                self._absorber.absorb(item)
            else:
                for sample in item.samples():
                    self._take_one(sample)

    def _take_one(self, seen: Observation) -> None:
        note(self._facts, seen)
        self._take(seen)

    def _take_again(self, again: Again) -> None:
        if self._hear_again is None:
            for seen in again.each():
                self._take_one(seen)
        else:
            self._facts.hear_again(again.symptoms, again.times)
            self._hear_again(again)


class LinesBeside(BulkLines):
    """Judges one training log while another process reads it."""

    def __init__(self, path: Path, file: str, origin: Origin, facts: LogFacts, reading: Reading) -> None:
        super().__init__(file, origin, facts, reading)
        self._path = path
        self._beside = SecondReader(path, file, origin, reading.settings)
        self._progress = reading.progress

    def take(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """The whole log, without these chunks of it; gives back its end."""
        del chunks
        for items, size in self._beside.read():
            self._give(items)
            if self._progress is not None:
                self._progress(size)
        assert self._beside.account is not None
        self.reader = self._beside.account
        with self._path.open("rb") as log:
            start = max(0, self.reader.size - TAIL)
            yield os.pread(log.fileno(), self.reader.size - start, start)

    def close(self) -> None:
        """All of it was given."""


class CurveTwin:
    """Moves a curve past points of the ranks that are drawn."""

    def __init__(self, curve: Curve, *, beside_summary: bool = False) -> None:
        self._of = curve
        self._beside_summary = beside_summary

    def calm(self, run: Run) -> int:
        """All of them, once somebody leads."""
        return len(run) if self._of.lead is not None else 0

    def take(self, run: Run, count: int) -> None:
        """Draw so many."""
        origin = run.block.origin
        has_points = run.loss is not None or run.norm is not None
        # Where a summary stands beside it, only runs that are news to that one come here.
        if has_points and self._of.draws(origin, is_news=self._beside_summary and run.loss is not None):
            self._of.place += count
            draw(self._of.thinner, run, count)


def twins_of(following: Following) -> list[Twin]:
    """Those who move everyone who follows a log past many points."""
    return [
        SummaryTwin(following.summary),
        ChangesTwin(following.changes),
        CurveTwin(following.curve, beside_summary=True),
        JudgeTwin(following.judge),
    ]
