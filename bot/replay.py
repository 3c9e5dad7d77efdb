"""Plays logs through the detectors as if they were live: what would have been posted, when, by which rule.

The findings go through the same tracker of incidents as the bot's, on the log's own clock; a gap between two
steps that is longer than the run's pace allows is a stall, as the monitor would have judged it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.blindness import reasons
from bot.following import Following
from bot.inspect import as_plain
from bot.log_lines import Reading
from bot.reading import read_case
from diagnosis.findings import Cleared, Finding, Jump, Severity, Verdict
from diagnosis.formats.settings import ReadSettings
from diagnosis.incidents import Announcement, Noted, Opened, Reason, Resolved, Tracker, Updated
from diagnosis.observations import Observation, Origin, Phase, PhaseMark, StepSample
from diagnosis.root_cause import unread
from diagnosis.root_cause.answer import printed_time
from diagnosis.stall import NEWEST, allowed_silence
from diagnosis.thresholds import Thresholds
from diagnosis.wording import duration, whole

NO_DATE = "no date"
_AFTER = 3600.0
"""Seconds after the last line at which the bot looks once more: whatever waits for company is said by then."""


@dataclass(frozen=True, slots=True)
class Posted:
    """One thing that would have stood in Slack, or would have been kept quiet."""

    what: str
    """`opens a thread`, `reply`, `edit`, `over`, `quiet`."""
    time: float | None
    finding: Finding | None
    """What led to it; None where only time passed."""
    text: str
    is_page: bool = False
    """It calls people: a thread is opened, critical or not."""

    def as_dict(self) -> dict[str, Any]:
        """For programs."""
        finding = self.finding
        evidence = finding.evidence[0] if finding is not None and finding.evidence else None
        return {
            "what": self.what,
            "time": printed_time(self.time),
            "step": finding.step if finding is not None else None,
            "kind": finding.kind if finding is not None else None,
            "severity": str(finding.severity) if finding is not None else None,
            "rank": finding.origin.rank if finding is not None else None,
            "attempt": finding.attempt if finding is not None else None,
            "text": self.text,
            "rule": finding.rule if finding is not None else "",
            "evidence": {"file": evidence.file, "line": evidence.line, "text": evidence.text} if evidence else None,
        }


@dataclass(slots=True)
class Replayed:
    """Everything that would have been said of these logs."""

    posted: list[Posted] = field(default_factory=list)
    marks: Counter[str] = field(default_factory=Counter)
    """Day → marks on the chart that nobody is told of."""
    points: int = 0
    days: set[str] = field(default_factory=set)
    """Every day in which the run trained."""
    blind: tuple[str, ...] = ()
    """Why these files tell nothing, good or bad; empty: they do."""
    unread: tuple[str, ...] = ()
    """What of these files was not read."""

    @property
    def pages(self) -> list[Posted]:
        """What would have called people."""
        return [one for one in self.posted if one.is_page]

    def by_day(self) -> dict[str, Mapping[str, int]]:
        """Day of the log → how many of each."""
        days = self.days | set(self.marks) | {day_of(one.time) for one in self.posted}
        return {
            day: {
                "threads": sum(one.is_page for one in self._of(day)),
                "critical": sum(one.is_page and _is_critical(one) for one in self._of(day)),
                "replies": sum(one.what == "reply" for one in self._of(day)),
                "quiet": sum(one.what == "quiet" for one in self._of(day)),
                "marks": self.marks[day],
            }
            for day in sorted(days)
        }

    def as_json(self) -> dict[str, Any]:
        """For programs (schema 1)."""
        plain: dict[str, Any] = as_plain(
            {
                "schema": 1,
                "points": self.points,
                "cannot_tell": list(self.blind),
                "unread": list(self.unread),
                "posted": [one.as_dict() for one in self.posted],
                "days": self.by_day(),
            }
        )
        return plain

    def _of(self, day: str) -> Iterator[Posted]:
        return (one for one in self.posted if day_of(one.time) == day)


def day_of(time: float | None) -> str:
    """`2024-05-13`; a log without dates has no days."""
    said = printed_time(time) or ""
    return said[:10] if len(said) > len("23:59:59") else NO_DATE


def replay(
    paths: Iterable[Path],
    thresholds: Thresholds | None = None,
    *,
    progress: Callable[[int], None] | None = None,
    settings: ReadSettings | None = None,
) -> Replayed:
    """Read the logs as one run, and say what the bot would have said."""
    recording = _Recording(thresholds or Thresholds())
    roots = list(paths)
    case = read_case(roots, Reading(recording.take, None, progress, settings or ReadSettings()))
    done = Replayed(points=recording.points, days=recording.days)
    tracker = Tracker()
    now = 0.0
    for number, (time, verdict) in enumerate(sorted(recording.verdicts, key=lambda item: item[0])):
        shown = time if recording.is_timed else None
        if isinstance(verdict, Jump):
            done.marks[day_of(shown)] += 1
            continue
        now = max(now, time)
        done.posted += _posted(tracker.tick(now), None, shown)
        done.posted += _posted(tracker.receive(f"{number}/{verdict.kind}", verdict, now), verdict, shown)
    done.posted += _posted(tracker.tick(now + _AFTER), None, now if recording.is_timed else None)
    done.blind = reasons(case, roots, has_steps=bool(recording.steps or done.posted))
    done.unread = tuple(unread(case))
    return done


@dataclass(slots=True)
class _Recording:
    """Hears a run and keeps every verdict with the moment at which it was reached."""

    limits: Thresholds
    verdicts: list[tuple[float, Verdict]] = field(default_factory=list)
    points: int = 0
    steps: int = 0
    days: set[str] = field(default_factory=set)
    is_timed: bool = False
    """The log has a clock; if not, a step counts as a second."""
    _following: Following = field(init=False)
    _gaps: "_Gaps" = field(init=False)
    _now: float = 0.0

    def __post_init__(self) -> None:
        self._following = Following(self.limits, hear=self._hear)
        self._gaps = _Gaps(self.limits)

    def take(self, seen: Observation) -> None:
        time = getattr(seen, "time", None)
        if time is not None and time == time:  # noqa: PLR0124 - NaN: no time
            self._now, self.is_timed = float(time), True
        elif isinstance(seen, StepSample) and not self.is_timed:
            self._now += 1.0
        attempt = self._following.judge.attempt
        if isinstance(seen, PhaseMark):
            self._gaps.phase(seen)
        elif isinstance(seen, StepSample):
            self.points += seen.loss is not None
            self.steps += 1
            if seen.time is not None:
                self.days.add(day_of(seen.time))
            self.verdicts += self._gaps.step(seen, attempt)
        self._following.take(seen)

    def _hear(self, seen: Observation, verdicts: Sequence[Verdict]) -> None:
        del seen
        self.verdicts += [(self._now, verdict) for verdict in verdicts]


@dataclass(slots=True)
class _Gaps:
    """Steps that came later than the run's own pace allows."""

    limits: Thresholds
    _attempt: int = -1
    _newest: int | None = None
    _at: float | None = None
    _phase: Phase = Phase.TRAINING
    _stride: int = 0
    """The fewest steps between two lines of this attempt."""
    _intervals: list[float] = field(default_factory=list)
    _longest: dict[Phase, float] = field(default_factory=dict)

    def phase(self, mark: PhaseMark) -> None:
        self._phase = mark.phase if mark.begins else Phase.TRAINING

    def step(self, seen: StepSample, attempt: int) -> Iterator[tuple[float, Verdict]]:
        if attempt != self._attempt:
            self._attempt, self._newest, self._at, self._intervals = attempt, None, None, []
            self._phase, self._stride = Phase.TRAINING, 0
        if seen.step is None or seen.time is None or (self._newest is not None and seen.step <= self._newest):
            return
        before, at, self._newest, self._at = self._newest, self._at, seen.step, seen.time
        if at is None or before is None or not seen.time > at:
            return
        steps = seen.step - before
        self._stride = min(steps, self._stride or steps)
        # Lines that are missing are not steps that did not come.
        gap = (seen.time - at) * self._stride / steps
        allowed = allowed_silence(self._phase, self._intervals, self.limits, self._longest)
        if gap > allowed:
            yield from self._stall(seen, before, at, gap, allowed)
        elif self._phase is not Phase.TRAINING:
            self._longest[self._phase] = max(gap, self._longest.get(self._phase, 0.0))
        else:
            self._intervals = [*self._intervals[1 - NEWEST :], gap]
        self._phase = Phase.TRAINING

    def _stall(
        self, seen: StepSample, before: int, at: float, gap: float, allowed: float
    ) -> Iterator[tuple[float, Verdict]]:
        what = f" during {self._phase}" if self._phase is not Phase.TRAINING else ""
        text = f"stalled at step {whole(before)}{what}, no progress for {duration(allowed)}"
        rule = f"stalled, {duration(allowed)} allowed; it lasted {duration(gap)}"
        origin = Origin(seen.origin.run)
        yield (
            at + allowed,
            Finding(
                "stalled", Severity.CRITICAL, origin, text, (seen.evidence,), before, before, at + allowed, rule=rule
            ),
        )
        yield at + gap, Cleared("stalled", origin, f"progress again, at step {whole(seen.step)}", seen.step, seen.time)


def _posted(
    said: Sequence[Announcement | Noted], cause: Finding | Cleared | None, at: float | None
) -> Iterator[Posted]:
    finding = cause if isinstance(cause, Finding) else None
    for one in said:
        if isinstance(one, Opened):
            head = one.incident.head
            yield Posted("opens a thread", at, head, head.text, is_page=True)
        elif isinstance(one, Resolved):
            yield Posted("over", at, finding, one.text)
        elif isinstance(one, Updated):
            text = finding.text if finding is not None else cause.text if cause is not None else str(one.reason)
            yield Posted("reply" if one.speaks else "edit", at, finding, text)
        elif isinstance(one, Noted) and one.reason is Reason.NOTE and finding is not None:
            yield Posted("quiet", at, finding, finding.text)


def _is_critical(one: Posted) -> bool:
    return one.finding is not None and one.finding.severity is Severity.CRITICAL
