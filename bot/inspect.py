"""Files in, answer out: the same answers for log files or a folder of evidence; no Redis, no Slack."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bot.blindness import reasons
from bot.following import Following
from bot.log_lines import Reading
from bot.reading import read_case
from diagnosis.case import Case
from diagnosis.change import Change
from diagnosis.findings import Finding, Severity
from diagnosis.formats.memory import Unread
from diagnosis.formats.settings import ReadSettings
from diagnosis.observations import Category, Evidence
from diagnosis.redaction import mask
from diagnosis.root_cause import UNKNOWN_END, UNKNOWN_SILENCE, Diagnosis, diagnose
from diagnosis.root_cause.answer import printed_time
from diagnosis.series import AttemptSpan, Mark, RunSeries
from diagnosis.summary import LossSummary
from diagnosis.thinning import RunThinner
from diagnosis.thresholds import Thresholds
from diagnosis.unjudged import early_leap


@dataclass(slots=True)
class Answer:
    """What `inspect` found."""

    case: Case
    diagnosis: Diagnosis
    summary: LossSummary
    attempts: tuple[AttemptSpan, ...] = ()
    tracebacks: int = 0
    findings: list[Finding] = field(default_factory=list)
    changes: tuple[Change, ...] = ()
    """What moved around the first bad step."""
    blind: tuple[str, ...] = ()
    """Why these files tell nothing, good or bad; empty: they do."""
    thinner: RunThinner = field(default_factory=lambda: RunThinner("log"))

    def series(self) -> RunSeries:
        """Loss, grad norm and learning rate for a chart: exact, or thinned with their extremes."""
        series = self.thinner.series()
        jumps = tuple(
            Mark("jump", jump["step"], value=_number(jump["to"]), before=_number(jump["from"]))
            for jump in self.summary.jumps()
        )
        series.marks = (*series.marks, *jumps)
        series.attempts = self.attempts
        return series

    @property
    def found_trouble(self) -> bool:
        """True when something is wrong, or nothing can be told: the command exits with 1."""
        return (
            bool(self.blind)
            or self.diagnosis.category is not Category.NONE
            or any(finding.severity is Severity.CRITICAL for finding in self.case.findings)
        )

    def as_dict(self) -> dict[str, Any]:
        """The answer of DESIGN 3.2, schema 1."""
        return {
            "schema": 1,
            "files": [
                {
                    "path": file.path,
                    "kind": file.kind,
                    "dialect": file.dialect,
                    "envelope": file.envelope,
                    "ranks": list(file.ranks),
                    "node": file.node,
                    "lines": file.lines,
                    **({"problem": file.problem} if file.problem else {}),
                    **_unread(file.unmatched),
                }
                for file in self.case.files
            ],
            **self.summary.as_dict(),
            "tracebacks": self.tracebacks,
            "attempts": [
                {
                    "first_step": span.first_step,
                    "last_step": span.last_step,
                    "started": printed_time(span.started),
                    "ended": printed_time(span.ended),
                    "end": span.end,
                }
                for span in self.attempts
            ],
            "findings": [_finding(finding) for finding in self.findings],
            "changes": [change.as_dict() for change in self.changes],
            "diagnosis": self.diagnosis.as_dict()
            | {"unknown": list(dict.fromkeys([*self.blind, *self.diagnosis.unknown]))},
        }

    def as_json(self) -> str:
        """The answer as JSON; non-finite numbers are words."""
        return json.dumps(as_plain(self.as_dict()), ensure_ascii=False, allow_nan=False)


def inspect(
    paths: Iterable[Path | str],
    thresholds: Thresholds | None = None,
    *,
    progress: Callable[[int], None] | None = None,
    settings: ReadSettings | None = None,
) -> Answer:
    """Read every file under the paths as evidence of one run, and say what it shows."""
    following = Following(thresholds)
    reading = Reading(following.take, following.twins, progress, settings or ReadSettings(), following.hear_again)
    roots = [Path(path) for path in paths]
    case = read_case(roots, reading)
    case.findings, case.cleared = following.findings, sorted(following.cleared)
    diagnosis = diagnose(case)
    leap = early_leap(following.summary.jumps(), following.judge.thresholds)
    if leap is not None and diagnosis.category is Category.NONE and not following.findings:
        diagnosis = replace(diagnosis, unknown=(*diagnosis.unknown, leap))
    is_quiet = diagnosis.category is Category.NONE and diagnosis.signature not in {UNKNOWN_END, UNKNOWN_SILENCE}
    has_steps = diagnosis.confidence != "low" or bool(following.summary.loss()["points"])
    return Answer(
        case=case,
        diagnosis=diagnosis,
        summary=following.summary,
        attempts=following.judge.attempts.spans(),
        tracebacks=sum(file.tracebacks for file in case.files),
        findings=following.findings,
        changes=_changes(following, diagnosis),
        blind=reasons(case, roots, has_steps=has_steps) if is_quiet else (),
        thinner=following.curve.thinner,
    )


def _changes(following: Following, diagnosis: Diagnosis) -> tuple[Change, ...]:
    """What moved around the first bad step; around nothing when nothing went wrong."""
    if diagnosis.category is Category.NONE and diagnosis.first_bad_step is None:
        return ()
    return following.changes.around(diagnosis.first_bad_step, attempt=following.judge.attempt)


def _unread(lines: Unread) -> dict[str, Any]:
    """Lines that looked like metrics and were not read, where there are any."""
    return {"unread": {"lines": lines.count, "sample": lines.samples[0]}} if lines.count else {}


def _number(value: float | str | None) -> float | None:
    return float(value) if value is not None else None


def _finding(finding: Finding) -> dict[str, Any]:
    evidence: Sequence[Evidence] = finding.evidence
    return {
        "kind": finding.kind,
        "severity": str(finding.severity),
        "step": finding.step,
        "time": printed_time(finding.time),
        "rank": finding.origin.rank,
        "node": finding.origin.node,
        "text": finding.text,
        "evidence": {"file": evidence[0].file, "line": evidence[0].line, "text": evidence[0].text}
        if evidence
        else None,
    }


def as_plain(value: Any) -> Any:
    """The same with non-finite numbers as words, as the contract wants them, and with secrets masked."""
    if isinstance(value, str):
        return mask(value).text
    if isinstance(value, float):
        if value != value:  # noqa: PLR0124 - NaN
            return "nan"
        return value if value - value == 0.0 else ("inf" if value > 0 else "-inf")
    if isinstance(value, dict):
        return {key: as_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain(item) for item in value]
    return value
