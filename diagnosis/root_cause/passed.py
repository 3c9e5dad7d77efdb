"""Errors that started nothing: survived, of an earlier run or attempt, after the end, or only about somebody else."""

import re
from calendar import isleap
from datetime import UTC, datetime

from diagnosis.case import Case
from diagnosis.log_facts import Sighting
from diagnosis.observations import Category, Phase, Role
from diagnosis.root_cause.candidates import Candidate
from diagnosis.root_cause.caught import was_caught
from diagnosis.root_cause.lines import is_in_a_text
from diagnosis.root_cause.timeline import Timeline

SURVIVED_STEPS = 5
"""Training that told this many new steps after an error has survived it."""
_DAY = 86_400.0
STALE_SECONDS = _DAY
GRACE_SECONDS = 900.0
"""Schedulers warn no longer than this before they end a job."""
DATED = 1e9
"""A time below has no year."""
TEARDOWN_TYPES = (
    "BrokenPipeError", "ConnectionResetError", "ConnectionRefusedError", "EOFError", "ConnectionAbortedError",
    "DistNetworkError", "DistStoreError", "DistBackendError", "ChildFailedError", "SignalException",
    "RendezvousConnectionError", "CancelledError", "BrokenProcessPool", "RemoteDisconnected",
)  # fmt: skip
"""Exceptions that only say that somebody else is gone."""
_EXCEPTION = re.compile(r"(?:Error|Exception)\b")
_CALM = re.compile(r"\b(?:WARN(?:ING)?|INFO|DEBUG|[Ww]arning)\b")
_OF_LAUNCHERS = frozenset({"wrapper_killed"})
"""Rows whose line a launcher's own traceback ends with."""
_OF_CHILDREN = frozenset({"segfault"})
"""Rows that a launcher's traceback ends with where they tell how its child died."""
_RAISED = frozenset({"python_exception", "uncaught_exception"})
"""Rows that tell what a program raised, whatever its type."""
_ENDS_A_PROCESS = frozenset({Category.GPU_OOM, Category.RANK_CRASH})
_HARD = frozenset({Category.GPU_HARDWARE, Category.DISK_FULL, Category.CHECKPOINT_FAILURE, Category.GPU_OOM,
                   Category.HOST_OOM, Category.STORAGE_STALL, Category.NODE_LOST})  # fmt: skip


def between(time: float, later: float) -> float | None:
    """Seconds from one to the other; where only one stamp bears a year, within a year; None where one has no date."""
    if min(time, later) < _DAY:
        return None
    if time < DATED < later:
        moment = datetime.fromtimestamp(later, UTC)
        later -= datetime(moment.year, 1, 1, tzinfo=UTC).timestamp()
        later -= _DAY if isleap(moment.year) and moment.month > 2 else 0.0
    return later - time


def is_end_of_grace(signal: Sighting, end: Sighting) -> bool:
    """Whether a process ended because it had been asked to, and not long after it had only been asked to save."""
    if signal.order >= end.order or signal.attempt != end.attempt:
        return False
    if end.steps_before - signal.steps_before < SURVIVED_STEPS:
        return True
    return signal.time is not None and end.time is not None and end.time - signal.time <= GRACE_SECONDS


def failed_alone(case: Case) -> frozenset[int | None]:
    """Ranks that a launcher saw end with an error of their own; None stands for any of them."""
    told = {
        entry.rank
        for _, log in case.read_by_line()
        for entry in log.elastic
        if entry.attempt == log.attempt and entry.exit_code == 1
    }
    return frozenset({*told, None}) if told else frozenset()


def is_noise(found: Candidate, timeline: Timeline, failed: frozenset[int | None]) -> bool:
    """Whether it started nothing; `failed`: ranks that a launcher saw end with an error of their own."""
    sighting = found.sighting
    if _is_survived(found, timeline, failed):
        return True
    if sighting.attempt < found.log.attempt and found.log.last_told is not None:
        return True  # a later attempt of the same log went on
    if found.file.kind == "kernel_log" and _is_stale(sighting.symptom.time, timeline.first_time):
        return True
    if _went_on_to_the_end(found):
        return True
    if is_in_a_text(sighting) or timeline.went_on_without(found.log, found.time, SURVIVED_STEPS):
        return True
    raised = sighting.raised
    if found.name in _OF_LAUNCHERS or (found.name in _OF_CHILDREN and raised is not None and raised.is_launcher):
        return timeline.is_finished()
    if raised is not None and raised.is_ignored:
        return True
    if raised is not None and (raised.is_launcher or (raised.is_chained and _follows_better(found))):
        return True
    if found.name in _RAISED:
        if not found.file.ends_whole and (sighting.symptom.evidence.line or 0) >= found.file.lines:
            return True  # cut: what it would have said is not known
        kind = (sighting.symptom.fields.get("type") or sighting.symptom.fields.get("type2") or "").rsplit(".", 1)[-1]
        if kind in TEARDOWN_TYPES or (raised is not None and raised.is_communication):
            return True
    return timeline.is_finished() and found.category not in _HARD


def _is_survived(found: Candidate, timeline: Timeline, failed: frozenset[int | None]) -> bool:
    """The run went on after it."""
    sighting = found.sighting
    if sighting.steps_after >= SURVIVED_STEPS and found.file.kind != "kernel_log":
        return True
    if sighting.steps_after and _is_only_mentioned(found):
        return True
    if sighting.steps_after and found.rank not in failed and was_caught(sighting, found.file, found.log):
        return True
    # Whoever could not be started then has started.
    return found.category is Category.INIT_TIMEOUT and found.file.kind == "scheduler" and timeline.has_steps


def _is_only_mentioned(found: Candidate) -> bool:
    """In a line that is no exception: settings before the first step, or a warning, and steps came after it."""
    text = found.sighting.symptom.evidence.text
    is_calm = not found.sighting.steps_before or _CALM.search(text) is not None
    is_raised = found.sighting.raised is not None or _EXCEPTION.search(text) is not None
    return found.category is Category.GPU_OOM and is_calm and not is_raised


def _went_on_to_the_end(found: Candidate) -> bool:
    """The same process said later that its training is over: it survived the words, or only printed them."""
    sighting = found.sighting
    facts = found.log.ranks.get(sighting.symptom.origin.rank)
    return (
        found.file.kind != "kernel_log"
        and sighting.symptom.category in _ENDS_A_PROCESS
        and facts is not None
        and any(
            passage.mark.phase is Phase.FINISHED and passage.attempt == sighting.attempt
            for passage in facts.marks
            if passage.order > sighting.order
        )
    )


def _is_stale(time: float | None, first: float | None) -> bool:
    """A kernel's line from more than a day before the first step, where both tell a date with its year."""
    return time is not None and first is not None and DATED < time < first - STALE_SECONDS


def _follows_better(found: Candidate) -> bool:
    """The first exception of a chain is in the file too."""
    own = found.sighting
    return any(
        other is not own and other.order < own.order and other.symptom.origin.rank == own.symptom.origin.rank
        and other.symptom.role is Role.ROOT and other.attempt == own.attempt
        for other in found.log.sightings
    )  # fmt: skip
