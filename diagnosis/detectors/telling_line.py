"""A line that names the trouble itself: CUDA out of memory, a watchdog timeout, a full disk.

Each cause is one finding; more ranks that print it join under the same kind, so the incident gathers them.
What other ranks print in consequence is said more quietly, and what only explains is left to the
root-cause search.
"""

from collections.abc import Sequence
from typing import ClassVar

from diagnosis.detectors.detector import QUIET, Scope, Seen
from diagnosis.detectors.line_words import (
    KILLED,
    OF_ANY_CONTAINER,
    OFTEN_MEANT,
    is_consequence,
    is_unproven_kill,
    told_by,
    where_of,
    words_of,
)
from diagnosis.findings import Finding, Severity, Verdict
from diagnosis.observations import Category, Evidence, Role, Symptom
from diagnosis.signatures import ROWS
from diagnosis.thresholds import Thresholds
from diagnosis.tracebacks import TracebackReader, is_source

KIND_OF: dict[Category, str] = {
    Category.GPU_OOM: "gpu_oom",
    Category.HOST_OOM: "host_oom",
    Category.NAN_INF: "nonfinite_reported",
    Category.LOSS_SPIKE: "loss_spike_reported",
    Category.COLLECTIVE_HANG: "collective_timeout",
    Category.NETWORK_FAULT: "network_fault",
    Category.GPU_HARDWARE: "gpu_hardware",
    Category.DATALOADER_CRASH: "dataloader_crash",
    Category.DATALOADER_STALL: "dataloader_stall",
    Category.STORAGE_STALL: "storage_stall",
    Category.DISK_FULL: "disk_full",
    Category.CHECKPOINT_FAILURE: "checkpoint_failure",
    Category.RANK_CRASH: "rank_crash",
    Category.PREEMPTED: "preempted",
    Category.NODE_LOST: "node_lost_reported",
    Category.INIT_TIMEOUT: "init_timeout",
    Category.SLOWDOWN: "slowdown_reported",
}
_MEANT = {Role.ROOT: " that names a cause", Role.CASCADE: " that follows from a failure"}
QUIETER = frozenset({Category.PREEMPTED, Category.SLOWDOWN, Category.LOSS_SPIKE})
"""Causes that are news but no emergency."""
ENDINGS = frozenset({"agent_got_signal", "slurm_cancelled"})
"""Rows after which a kill is somebody's wish."""
FORCED = "elastic_forced_exit"
"""The launcher itself kills this pid."""
KEPT_KEYS = 4096
"""How many (row, rank) pairs are remembered; a run with more has said enough."""


class TellingLine:
    """Symptoms that cause or prove a failure, and more quietly those that follow from one."""

    kind: ClassVar[str] = "telling_line"
    watches: ClassVar[tuple[type, ...]] = (Symptom,)
    scope: ClassVar[Scope] = "run"
    __slots__ = ("_forced", "_is_ending", "_newest", "_seen", "_tracebacks")

    def __init__(self, thresholds: Thresholds) -> None:  # noqa: ARG002 - the common shape of detectors
        self._seen: set[tuple[str, str | None, int | None]] = set()
        self._newest: tuple[str, int | None, Evidence] | None = None
        self._is_ending = False
        self._forced: set[str] = set()
        self._tracebacks = TracebackReader()

    def observe(self, seen: Seen) -> Sequence[Verdict]:
        """One finding for each row, node and rank."""
        if not isinstance(seen, Symptom):
            return QUIET
        raised = self._tracebacks.observe(seen)
        if raised is not None and raised.is_ignored:
            return QUIET
        if self._tracebacks.is_open(seen.origin.rank) and is_source(seen):
            # A line of code that a traceback quotes was printed by nobody.
            return QUIET
        self._note_ending(seen)
        severity = Severity.INFO if self._is_wanted(seen) else severity_of(seen)
        key = (seen.signature, seen.origin.node, seen.origin.rank)
        if severity is None or key in self._seen or len(self._seen) >= KEPT_KEYS:
            return QUIET
        self._seen.add(key)
        kind = KILLED if is_unproven_kill(seen) else KIND_OF[seen.category]
        before, self._newest = self._newest, (kind, seen.origin.rank, seen.evidence)
        if before == self._newest:
            # Two rows know the same line.
            return QUIET
        follows = is_consequence(seen) or self._is_wanted(seen)
        return (
            Finding(
                kind,
                severity,
                seen.origin,
                _sentence(seen),
                (seen.evidence,),
                _step(seen),
                None,
                seen.time,
                seen.seen_at,
                f"a known line in the log ({seen.signature}){_MEANT.get(seen.role, '')}",
                _details(seen, follows=follows),
            ),
        )

    def forget(self, finding: Finding) -> None:
        """It was caught: another one of the same process may not be."""
        self._seen.discard((finding.details.get("signature", ""), finding.origin.node, finding.origin.rank))

    def _note_ending(self, seen: Symptom) -> None:
        if seen.signature in ENDINGS:
            self._is_ending = True
        elif seen.signature == FORCED and len(self._forced) < KEPT_KEYS:
            self._forced.add(seen.fields.get("pid", ""))

    def _is_wanted(self, seen: Symptom) -> bool:
        """A kill after the job was told to end, or by its own launcher."""
        return is_unproven_kill(seen) and (self._is_ending or seen.fields.get("pid") in self._forced)


def severity_of(symptom: Symptom) -> Severity | None:
    """Critical for a cause, quieter for a consequence; None: no finding at all."""
    if symptom.category not in KIND_OF:
        return None
    if symptom.role in (Role.ROOT, Role.CONFIRM):
        is_quiet = symptom.category in QUIETER or symptom.signature in OF_ANY_CONTAINER
        return Severity.WARNING if is_quiet else Severity.CRITICAL
    if symptom.role is Role.CASCADE:
        # The watchdog's line is often the only one a hang ever prints.
        return Severity.WARNING if symptom.category is Category.COLLECTIVE_HANG else Severity.INFO
    return None


def _sentence(seen: Symptom) -> str:
    told = told_by(seen)
    if told and told.lower() in words_of(seen).lower():
        told = ""
    follows = "in consequence of another failure, " if is_consequence(seen) and seen.category not in QUIETER else ""
    return f"{follows}{words_of(seen)}{where_of(seen)}" + (f": {told}" if told else "")


def _details(seen: Symptom, *, follows: bool) -> dict[str, str]:
    """What the line names; `tier` says how much it weighs as a cause, `follows` that it is none."""
    details = {"signature": seen.signature, **seen.fields}
    row = ROWS.get(seen.signature)
    if row is not None:
        details["tier"] = str(int(row.tier))
    if follows:
        details["follows"] = "yes"
    if is_unproven_kill(seen) and not follows:
        details["more"] = OFTEN_MEANT
    return details


def _step(seen: Symptom) -> int | None:
    text = seen.fields.get("step", "")
    return int(text) if text.isdecimal() and len(text) < 16 else None
