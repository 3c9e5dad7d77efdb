"""Steps and times of a run: what completed last, and when a wait began."""

import re
from collections.abc import Iterable
from functools import cached_property

from diagnosis.case import Case, CaseFile
from diagnosis.log_facts import LogFacts, Passage, RankFacts, Sighting, Told
from diagnosis.observations import Evidence, Phase, PhaseMark

SLACK = 90.0
"""Seconds by which a phase may begin after the moment a watchdog counts back to."""

BUFFERED_STEPS = 3
"""Steps that a block-buffered stdout, or a bar, may print after the error that ended them."""

_STEP_WORD = re.compile(r"(?i)\b(?:global[_ ]?step|step|iteration|iter)s?[ _:=#]{0,3}(\d{1,10})\b")
_ALL_AT_WORK = (Phase.SAVING, Phase.EVALUATING, Phase.LOADING, Phase.TOKENISING)


class Timeline:
    """What the logs of a case say about steps, phases and times."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._logs = list(case.logs())

    @property
    def last(self) -> Told | None:
        """The newest step that any log tells."""
        told = [log.last_told for _, log in self._logs if log.last_told is not None]
        return max(told, key=lambda item: item.step, default=None)

    @property
    def newest_step(self) -> Told | None:
        """The step that was told last, by its time."""
        told = [log.last_told for _, log in self._logs if log.last_told is not None]
        return max(told, key=lambda item: item.time or 0.0, default=None)

    @property
    def has_steps(self) -> bool:
        """True once any step was told."""
        return any(log.first_told is not None for _, log in self._logs)

    @property
    def first_time(self) -> float | None:
        """When the first step was told."""
        told = [log.first_told.time for _, log in self._logs if log.first_told is not None]
        return min((time for time in told if time is not None), default=None)

    @cached_property
    def newest_beginning(self) -> float | None:
        """When the log that began last told its first step."""
        return max((time for _, time in self.first_times), default=None)

    @cached_property
    def first_times(self) -> list[tuple[LogFacts, float]]:
        """When each log told its first step, where it told the time."""
        told = [(log, log.first_told.time) for _, log in self._logs if log.first_told is not None]
        return [(log, time) for log, time in told if time is not None]

    @property
    def last_time(self) -> float | None:
        """The newest time in any log."""
        times = [time for _, log in self._logs for time in (log.last_time, log.heard_at) if time is not None]
        return max(times, default=None)

    @property
    def usual_pace(self) -> float | None:
        """Median seconds a step."""
        paces = [log.pace.usual for _, log in self._logs if log.pace.usual is not None]
        return min(paces, default=None)

    def went_on_without(self, log: LogFacts, when: float | None, steps: int) -> bool:
        """Every other log was started again and told so many steps since: what this one told then is over."""
        others = [other for other, _ in self.first_times if other is not log]
        return when is not None and bool(others) and all(_told_since(other, log, when, steps) for other in others)

    def step_before(self, sighting: Sighting | None, log: LogFacts | None) -> int | None:
        """The last step that completed before a line: its own file's, or the run's where the file tells none."""
        if sighting is not None and log is not None and sighting.step is not None:
            own = sighting.step
            others = [item.step for item in self._newest_of_attempt() if item.step >= own]
            is_end = sighting.attempt == log.attempt and sighting.steps_after <= BUFFERED_STEPS
            return max([own, *others]) if is_end else own
        return max((item.step for item in self._newest_of_attempt()), default=None)

    def first_bad(
        self, sighting: Sighting | None, log: LogFacts | None, evidence: Evidence | None = None
    ) -> int | None:
        """The first step that did not complete; for a save, an evaluation or a load the step it belongs to."""
        passage = self.passage_at(sighting, log)
        done = self.step_before(sighting, log)
        if passage is not None and passage.mark.phase in {Phase.SAVING, Phase.EVALUATING}:
            named = passage.mark.step if passage.mark.step is not None else passage.step
            return named if named is not None else done
        if done is not None:
            return done + 1
        return self._named_step(evidence)

    def passage_at(self, sighting: Sighting | None, log: LogFacts | None) -> Passage | None:
        """The phase that was open when a line was printed, if one was."""
        if sighting is None or log is None:
            return None
        before = [item for item in log.passages if item.order < sighting.order and item.attempt == sighting.attempt]
        return _open_one(before, log, sighting.order)

    def open_phase(self, when: float | None, ranks: Iterable[int] = ()) -> tuple[CaseFile, Passage] | None:
        """The save, evaluation, load or tokenising that had begun by a moment and had not ended, newest first."""
        wanted = set(ranks)
        found: list[tuple[float, int, CaseFile, Passage]] = []
        for file, log in self._logs:
            usable = [
                item
                for item in log.passages
                if item.attempt == log.attempt and (when is None or item.time is None or item.time <= when + SLACK)
            ]
            passage = _open_one(usable, log, None)
            if passage is None or passage.mark.phase not in _ALL_AT_WORK:
                continue
            rank = passage.mark.origin.rank if passage.mark.origin.rank is not None else file.rank
            if wanted and rank is not None and rank not in wanted:
                continue
            found.append((passage.time or 0.0, passage.order, file, passage))
        found.sort(key=lambda item: item[:2])
        return (found[-1][2], found[-1][3]) if found else None

    def is_finished(self) -> bool:
        """True when all ranks that told steps also said that training is over.

        Where only rank 0 said so, as many scripts do, it counts for all who came as far.
        """
        telling = [facts for _, facts in self._telling()]
        if telling:
            return all(facts.finished is not None for facts in telling) or (self._speaks_for_all() and self.is_over)
        return any(rank.finished is not None for _, log in self._logs for rank in log.ranks.values())

    @cached_property
    def is_over(self) -> bool:
        """No line of those who said that training is over shows that steps were left."""
        done = [facts.last for _, facts in self._telling() if facts.finished is not None and facts.last is not None]
        return bool(done) and not any(_has_more(told) for told in done)

    def _speaks_for_all(self) -> bool:
        """Only rank 0 said that training is over, and every rank told its last step."""
        told = {rank: facts for rank, facts in self._telling() if rank is not None and facts.last is not None}
        done = {rank for rank, facts in told.items() if facts.finished is not None}
        first = told[0].last if 0 in told else None
        return (
            done == {0}
            and first is not None
            and all(facts.last is not None and facts.last.step >= first.step for facts in told.values())
            and (_total(first) is not None or not self._awaits_data())
        )

    def _awaits_data(self) -> bool:
        """A rank timed out in a call that carries more than the sign that somebody has come: in the midst of a step."""
        return any(
            int(item.symptom.fields.get("numel_in") or 0) > 1
            for _, log in self._logs
            for item in log.all_of("nccl_watchdog_timeout")
            if item.attempt == log.attempt
        )

    def _telling(self) -> list[tuple[int | None, RankFacts]]:
        """Every rank that told steps, as one file tells it."""
        return [
            (rank if rank is not None else file.rank, facts)
            for file, log in self._logs
            for rank, facts in log.ranks.items()
            if facts.steps
        ]

    def early_finishers(self) -> dict[int, PhaseMark]:
        """Ranks that said they are done while others, which printed as much, did not."""
        done: dict[int, PhaseMark] = {}
        going: set[int] = set()
        for file, log in self._logs:
            for rank, facts in log.ranks.items():
                number = rank if rank is not None else file.rank
                if number is None or not facts.steps:
                    continue
                if facts.finished is not None:
                    done[number] = facts.finished
                else:
                    going.add(number)
        going -= done.keys()
        if self._speaks_for_all() and self.is_over:
            return {}
        return done if going and len(done) <= len(going) else {}

    def _newest_of_attempt(self) -> list[Told]:
        return [log.last_told for _, log in self._logs if log.last_told is not None]

    def step_in(self, evidence: Evidence) -> int | None:
        """The step that a line names in words."""
        found = _STEP_WORD.search(evidence.text)
        return int(found[1]) if found is not None else None

    def _named_step(self, evidence: Evidence | None) -> int | None:
        """A step that only the telling line, or the last lines of its rank, name."""
        if evidence is not None and (named := self.step_in(evidence)) is not None:
            return named
        newest: list[int] = []
        for _, log in self._logs:
            for rank in log.ranks.values():
                for line in reversed(rank.newest):
                    found = _STEP_WORD.search(line.text)
                    if found is not None:
                        newest.append(int(found[1]))
                        break
        return max(newest, default=None)


def _has_more(told: Told) -> bool:
    """Whether the line itself tells that there were to be more steps."""
    total = _total(told)
    return total is not None and total > told.step * 1.02 + 1


def _total(told: Told) -> int | None:
    """`step 300/9000`: how many there were to be."""
    found = re.search(rf"(?<!\d){told.step:,}\s{{0,3}}/\s{{0,8}}([\d,]{{1,15}})\b", told.evidence.text) or re.search(
        rf"(?<!\d){told.step}\s{{0,3}}/\s{{0,8}}(\d{{1,15}})\b", told.evidence.text
    )
    return int(found[1].replace(",", "") or 0) if found is not None else None


def _told_since(other: LogFacts, log: LogFacts, when: float, steps: int) -> bool:
    last, pace = other.last_told, other.pace.usual
    if last is None or last.time is None or pace is None or last.attempt != other.attempt:
        return False
    return other.attempt > log.attempt and last.time - when > steps * pace


def _last_of(passage: Passage, log: LogFacts) -> Told | None:
    """The newest step that the rank of a phase told itself; in a log of many ranks the others' may come later."""
    own = log.ranks.get(passage.mark.origin.rank) if passage.mark.origin.rank is not None else None
    return own.last if own is not None and own.last is not None else log.last_told


def _open_one(passages: list[Passage], log: LogFacts, until: int | None) -> Passage | None:
    """The newest phase that began, has not ended, and was not followed by a step."""
    if not passages:
        return None
    newest = passages[-1]
    if not newest.mark.begins or newest.mark.phase is Phase.FINISHED:
        return None
    after = _last_of(newest, log)
    is_over = after is not None and after.attempt == newest.attempt and newest.order < after.order
    if is_over and after is not None and (until is None or after.order < until):
        return None
    return newest
