"""The observations of a living run that a diagnosis needs, in order and bounded at any length.

`inspect` reads a whole log; a watcher has read it already and must not keep it. What it keeps are the telling lines,
the phases, where attempts begin, and the newest steps: from them the same diagnosis is made later.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from diagnosis.formats.stretch import Later, Stretch, real
from diagnosis.observations import (
    AttemptMark,
    Observation,
    OptimizerSkip,
    Origin,
    PhaseMark,
    Role,
    StepSample,
    Symptom,
)

NEWEST_STEPS = 64
"""Steps kept of each file beside the last one of every rank: enough to know the pace."""
NEWEST_MARKS = 64
KEPT_OF_A_KIND = 6
"""Sightings kept of each (row, rank); a diagnosis takes no more."""
KEPT_OF_TRACEBACKS = 240
"""Lines of tracebacks kept of each rank."""
MOST_SYMPTOMS = 4_000
"""Of one file; half of it is for causes alone, so that a storm of consequences does not push them out."""
SURVIVED_STEPS = 512
"""A telling line this many steps ago is of no interest: training went on."""

_TRACEBACKS = frozenset({"traceback", "traceback_frame", "traceback_chained"})
_CAUSES = (Role.ROOT, Role.CONFIRM)


@dataclass(slots=True)
class _Attempt:
    """What is kept of one attempt as one file tells it."""

    steps: deque[tuple[int, StepSample | Later]] = field(default_factory=lambda: deque(maxlen=NEWEST_STEPS))
    first: tuple[int, StepSample] | None = None
    last: dict[Origin, tuple[int, StepSample]] = field(default_factory=dict)
    marks: deque[tuple[int, Observation]] = field(default_factory=lambda: deque(maxlen=NEWEST_MARKS))
    symptoms: list[tuple[int, Symptom, int]] = field(default_factory=list)
    """Place, line, and how many new steps there had been."""
    counts: dict[tuple[str, int | None], int] = field(default_factory=dict)
    consequences: int = 0
    new_steps: int = 0
    newest: int | None = None
    """The highest step."""


class Chronicle:
    """One file's observations as they come, and as they may be told again."""

    def __init__(self) -> None:
        self.dropped = 0
        """Telling lines of the newest attempt for which there was no room."""
        self._now = _Attempt()
        self._place = 0

    def pass_by(self, stretch: Stretch, at: int, stop: int) -> None:
        """Take some points of a stretch."""
        now, origin = self._now, stretch.origin
        if now.symptoms or now.first is None or origin not in now.last:
            for seen in stretch.both(at, stop):
                self.observe(seen)
            return
        newest = -1 if now.newest is None else now.newest
        count = stretch.count_of_both(at, stop)
        now.new_steps += stretch.new_steps(newest, at, stop)
        now.newest = max(newest, stretch.steps[stop - 1])
        self._place += count
        kept = min(NEWEST_STEPS, count)
        places = range(self._place - kept + 1, self._place + 1)
        now.steps.extend(zip(places, stretch.newest_of_both(kept, at, stop), strict=True))
        now.last[origin] = (self._place, stretch.sample(stop - 1))

    def observe(self, seen: Observation) -> None:
        """Take the next observation."""
        self._place += 1
        if isinstance(seen, StepSample):
            self._take_step(seen)
        elif isinstance(seen, Symptom):
            self._take_symptom(seen)
        elif isinstance(seen, AttemptMark):
            if self._now.new_steps or self._now.symptoms:
                self._now, self.dropped = _Attempt(), 0
            self._now.marks.append((self._place, seen))
        elif isinstance(seen, PhaseMark | OptimizerSkip):
            self._now.marks.append((self._place, seen))

    @property
    def has_trouble(self) -> bool:
        """True once the newest attempt holds a telling line."""
        return bool(self._now.symptoms)

    def observations(self, *, of_a_kind: int = KEPT_OF_A_KIND) -> list[Observation]:
        """What is kept of the newest attempt, in the order in which it came; of each telling row so many a rank."""
        now = self._now
        kept: dict[int, Observation] = dict(now.marks)
        kept |= {place: real(seen) for place, seen in now.steps}
        kept |= dict(now.last.values())
        if now.first is not None:
            kept[now.first[0]] = now.first[1]
        kept |= dict(_some(((place, seen) for place, seen, _ in now.symptoms), of_a_kind))
        return [kept[place] for place in sorted(kept)]

    def _take_step(self, seen: StepSample) -> None:
        now = self._now
        entry: tuple[int, StepSample] = (self._place, seen)
        now.first = now.first or entry
        now.last[seen.origin] = entry
        now.steps.append(entry)
        if seen.step is not None and (now.newest is None or seen.step > now.newest):
            now.newest = seen.step
            now.new_steps += 1
            if now.symptoms and now.new_steps % SURVIVED_STEPS == 0:
                self._forget_survived()

    def _take_symptom(self, seen: Symptom) -> None:
        if seen.role is Role.BENIGN:
            return
        now = self._now
        is_traceback = seen.signature in _TRACEBACKS
        key = ("traceback" if is_traceback else seen.signature, seen.origin.rank)
        count = now.counts.get(key, 0)
        if count >= (KEPT_OF_TRACEBACKS if is_traceback else KEPT_OF_A_KIND):
            return
        is_cause = is_traceback or seen.role in _CAUSES
        if len(now.symptoms) >= MOST_SYMPTOMS or (not is_cause and now.consequences >= MOST_SYMPTOMS // 2):
            self.dropped += 1
            return
        now.counts[key] = count + 1
        now.consequences += not is_cause
        now.symptoms.append((self._place, seen, now.new_steps))

    def _forget_survived(self) -> None:
        now = self._now
        now.symptoms = [item for item in now.symptoms if now.new_steps - item[2] < SURVIVED_STEPS]
        now.counts.clear()
        now.consequences = 0
        for _, seen, _ in now.symptoms:
            is_traceback = seen.signature in _TRACEBACKS
            key = ("traceback" if is_traceback else seen.signature, seen.origin.rank)
            now.counts[key] = now.counts.get(key, 0) + 1
            now.consequences += not (is_traceback or seen.role in _CAUSES)


def _some(symptoms: Iterable[tuple[int, Symptom]], of_a_kind: int) -> Iterator[tuple[int, Symptom]]:
    counts: dict[tuple[str, int | None], int] = {}
    for place, seen in symptoms:
        key = (seen.signature, seen.origin.rank)
        counts[key] = counts.get(key, 0) + 1
        if seen.signature in _TRACEBACKS or counts[key] <= of_a_kind:
            yield place, seen
