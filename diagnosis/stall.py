"""Whether a run makes progress: by new steps on one clock, with the run's own pace and its lawful pauses.

Progress is a line whose step is new, never just any line: heartbeats flow on during a hang. Five outcomes are
never merged: a process that lives without progress is stalled, one that is gone is down, a node that says
nothing is silent, an unknown dialect is unknown, a start that takes for ever is a start. That no step came says
something only where somebody looked: a stall needs a watcher that was heard after the next step was due.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from diagnosis.gpu_reading import IDLE_PERCENT
from diagnosis.observations import GpuSample, Phase, ProcessSample, RankProgress
from diagnosis.thresholds import Thresholds
from diagnosis.wording import duration, whole

LEARNT_AFTER = 10
"""Step intervals after which the run's own pace counts."""
NEWEST = 50
_GONE = frozenset({"zombie", "gone", "dead"})
_PAUSES = frozenset({Phase.EVALUATING, Phase.SAVING, Phase.LOADING, Phase.TOKENISING})


class Outcome(StrEnum):
    """How a run stands."""

    FINE = "fine"
    STALLED = "stalled"
    RUN_DOWN = "run_down"
    WATCHER_SILENT = "watcher_silent"
    PROGRESS_UNKNOWN = "progress_unknown"
    INITIALISING_TOO_LONG = "initialising_too_long"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Watched:
    """Everything that is known of a run at one moment; times are Unix seconds on one clock."""

    now: float
    ranks: Sequence[RankProgress]
    intervals: Sequence[float] = ()
    """Seconds between the newest steps of this attempt."""
    started_at: float | None = None
    """When this attempt was first seen."""
    gpus: Sequence[GpuSample] = ()
    processes: Sequence[ProcessSample] = ()
    observed_at: Mapping[str, float] | None = None
    """Node → last time its watcher really observed; empty: nobody watches it; None: not told."""
    longest_pauses: Mapping[Phase, float] | None = None
    """The longest evaluation, save, … that this run came back from."""
    has_known_dialect: bool = True
    has_ended: bool = False
    """The scheduler, or the run itself, said so."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a run stands, with the numbers behind it."""

    outcome: Outcome
    text: str
    """One sentence."""
    silent_seconds: float | None = None
    """Since the last progress."""
    allowed_seconds: float | None = None
    """How long it may last now."""
    step: int | None = None
    """The newest step of any rank."""
    phase: Phase = Phase.TRAINING
    silent_nodes: tuple[str, ...] = ()
    """Not heard for so long that somebody must be told."""
    is_unread: bool = False
    """A step is overdue, and for as long none of those was heard who would have read it."""
    is_half_way: bool = False
    """Quiet long enough to save evidence, not long enough to say anything."""

    @property
    def is_unseen(self) -> bool:
        """Whether a step is overdue, and nobody looked for one."""
        overdue = (self.silent_seconds or 0.0) > (self.allowed_seconds or math.inf)
        return self.outcome is Outcome.WATCHER_SILENT and overdue

    @property
    def is_going_on(self) -> bool:
        """Whether it trains, as far as can be seen; a watcher beside those who read its steps may be silent."""
        if self.outcome is Outcome.WATCHER_SILENT:
            return self.silent_seconds is not None and not self.is_unseen
        return self.outcome is Outcome.FINE

    @property
    def is_trouble(self) -> bool:
        """True for what a person must hear of."""
        return self.outcome not in {Outcome.FINE, Outcome.ENDED, Outcome.PROGRESS_UNKNOWN}


def own_threshold(intervals: Sequence[float], limits: Thresholds) -> float:
    """How long a run of this pace may go without a step; a fixed time until its pace is known."""
    known = [item for item in intervals[-NEWEST:] if item >= 0 and math.isfinite(item)]
    if len(known) < LEARNT_AFTER:
        return limits.stall_after
    middle = statistics.median(known)
    ordered = sorted(known)
    high = ordered[min(len(ordered) - 1, math.ceil(0.99 * len(ordered)) - 1)]
    wanted = max(limits.stall_median_factor * middle, limits.stall_p99_factor * high)
    # Never below the pace itself: a run that logs every 15 minutes is not stalled after 20.
    return max(min(max(wanted, limits.stall_min), limits.stall_max), 2.0 * high)


def allowed_silence(
    phase: Phase, intervals: Sequence[float], limits: Thresholds, longest: Mapping[Phase, float] | None = None
) -> float:
    """How long no step may come in this phase."""
    usual = own_threshold(intervals, limits)
    if phase is Phase.INITIALISING:
        return max(limits.stall_first_step, usual)
    if phase in _PAUSES:
        earlier = (longest or {}).get(phase, 0.0)
        return max(usual, limits.stall_phase, limits.stall_phase_factor * earlier)
    return usual


def judge_stall(seen: Watched, limits: Thresholds | None = None) -> Standing:
    """How a run stands; the caller waits for a second look before it calls anybody."""
    limits = limits or Thresholds()
    if seen.has_ended or _all_finished(seen.ranks):
        return Standing(Outcome.ENDED, "the run has ended", step=_newest_step(seen.ranks), phase=Phase.FINISHED)
    silent = _silent_nodes(seen, limits)
    if silent and len(silent) == len(seen.observed_at or {}):
        return Standing(Outcome.WATCHER_SILENT, _unheard(seen), silent_nodes=silent)
    if not seen.has_known_dialect and all(rank.step is None for rank in seen.ranks):
        return Standing(Outcome.PROGRESS_UNKNOWN, "its log is in no known form, so its progress is unknown")
    if seen.processes and all(process.state in _GONE for process in seen.processes):
        return _standing(
            Outcome.RUN_DOWN, "every process of the run is gone, and it did not say that it finished", seen
        )
    return _by_progress(seen, limits, silent)


def _by_progress(seen: Watched, limits: Thresholds, silent: tuple[str, ...]) -> Standing:
    progressed = max((rank.progressed_at for rank in seen.ranks if rank.progressed_at is not None), default=None)
    phase = _phase(seen.ranks)
    if progressed is None:
        return _before_first_step(seen, limits, phase, silent)
    quiet = seen.now - progressed
    allowed = allowed_silence(phase, seen.intervals, limits, seen.longest_pauses)
    if quiet <= allowed and not _users_rule(seen, limits, phase):
        early = max(limits.stall_evidence_share * allowed, limits.stall_evidence_min)
        text = f"step {whole(_newest_step(seen.ranks))}, the last one {duration(max(0.0, quiet))} ago"
        standing = _standing(Outcome.FINE, text, seen, quiet, allowed)
        if silent:
            text = f"{text}; {len(silent)} watcher(s) silent: {', '.join(silent[:4])}"
            return Standing(
                Outcome.WATCHER_SILENT, text, quiet, allowed, standing.step, phase, silent, is_half_way=quiet >= early
            )
        return Standing(Outcome.FINE, text, quiet, allowed, standing.step, phase, is_half_way=quiet >= early)
    step = _newest_step(seen.ranks)
    if quiet > allowed and not _was_looked_for(seen, progressed, allowed) and not _users_rule(seen, limits, phase):
        is_unread = bool(silent) and set(_readers(seen, progressed - allowed)) <= set(silent)
        text = _unheard(seen)
        return Standing(Outcome.WATCHER_SILENT, text, quiet, allowed, step, phase, silent, is_unread=is_unread)
    what = f" during {phase}" if phase in _PAUSES else ""
    text = f"no progress for {duration(quiet)}{what}; {duration(allowed)} are usual at most for this run"
    return Standing(Outcome.STALLED, text, quiet, allowed, step, phase, silent)


def _before_first_step(seen: Watched, limits: Thresholds, phase: Phase, silent: tuple[str, ...]) -> Standing:
    allowed = allowed_silence(Phase.INITIALISING, (), limits)
    heard = min((rank.heard_at for rank in seen.ranks if rank.heard_at is not None), default=None)
    begin = seen.started_at if seen.started_at is not None else heard
    if begin is None:
        return Standing(Outcome.FINE, "nothing has been heard of it yet", phase=phase, silent_nodes=silent)
    waited = seen.now - begin
    if waited <= allowed:
        return Standing(
            Outcome.FINE, f"starting for {duration(max(0.0, waited))}", waited, allowed, None, phase, silent
        )
    if not _was_looked_for(seen, begin, allowed):
        return Standing(Outcome.WATCHER_SILENT, _unheard(seen), waited, allowed, None, phase, silent)
    text = f"no first step for {duration(waited)}; {duration(allowed)} are allowed"
    return Standing(Outcome.INITIALISING_TOO_LONG, text, waited, allowed, None, phase, silent)


def _users_rule(seen: Watched, limits: Thresholds, phase: Phase) -> bool:
    """Nothing at all was printed for `stall_after`, and every GPU idles: a stall outside lawful pauses."""
    heard = max((rank.heard_at for rank in seen.ranks if rank.heard_at is not None), default=None)
    if phase in _PAUSES or phase is Phase.INITIALISING or heard is None or seen.now - heard <= limits.stall_after:
        return False
    utils = [gpu.utilization_percent for gpu in seen.gpus if gpu.utilization_percent is not None]
    return bool(utils) and max(utils) <= IDLE_PERCENT


def _was_looked_for(seen: Watched, progressed: float, allowed: float) -> bool:
    """Whether a watcher that reads this run's steps was heard after the next one was due."""
    if seen.observed_at is None:
        return True
    heard = [seen.observed_at[node] for node in _readers(seen, progressed - allowed)]
    return max(heard, default=-math.inf) > progressed + allowed


def _readers(seen: Watched, since: float = -math.inf) -> list[str]:
    """Nodes whose watchers read steps, or its lines before the first one; others where these name no watched node."""
    told = {rank.origin.node for rank in seen.ranks if rank.progressed_at is not None and rank.progressed_at >= since}
    if all(rank.progressed_at is None for rank in seen.ranks):
        told = {rank.origin.node for rank in seen.ranks if rank.heard_at is not None}
    watched = sorted(seen.observed_at or {})
    return [node for node in watched if node in told] or watched


def _unheard(seen: Watched) -> str:
    """Who would have to be heard: `the watcher on n1, which reads its steps, was last heard 20 s ago`."""
    if not seen.observed_at:
        return "no watcher of it is heard any more"
    readers = _readers(seen)
    ago = duration(max(0.0, seen.now - max(seen.observed_at[node] for node in readers)))
    if len(readers) == 1:
        return f"the watcher on {readers[0]}, which reads its steps, was last heard {ago} ago"
    return f"of the {len(readers)} watchers that read its steps none was heard for {ago}"


def _silent_nodes(seen: Watched, limits: Thresholds) -> tuple[str, ...]:
    if seen.observed_at is None:
        return ()
    late = limits.watcher_silent_after
    return tuple(sorted(node for node, time in seen.observed_at.items() if seen.now - time > late))


def _all_finished(ranks: Sequence[RankProgress]) -> bool:
    return bool(ranks) and all(rank.phase is Phase.FINISHED for rank in ranks)


def _phase(ranks: Sequence[RankProgress]) -> Phase:
    """The phase of the run: a pause of any rank holds all of them up."""
    phases = [rank.phase for rank in ranks if rank.phase is not Phase.FINISHED]
    for pause in (Phase.SAVING, Phase.EVALUATING, Phase.LOADING, Phase.TOKENISING):
        if pause in phases:
            return pause
    if phases and all(phase is Phase.INITIALISING for phase in phases):
        return Phase.INITIALISING
    return Phase.TRAINING


def _newest_step(ranks: Sequence[RankProgress]) -> int | None:
    return max((rank.step for rank in ranks if rank.step is not None), default=None)


def _standing(
    outcome: Outcome, text: str, seen: Watched, quiet: float | None = None, allowed: float | None = None
) -> Standing:
    return Standing(outcome, text, quiet, allowed, _newest_step(seen.ranks), _phase(seen.ranks))
