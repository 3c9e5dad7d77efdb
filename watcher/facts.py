"""What this node knows of a run, gathered for the whole run's diagnosis: few kilobytes, every text masked."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from diagnosis.findings import Finding
from diagnosis.formats.reader import LogReader
from diagnosis.formats.source_name import origin_of
from diagnosis.node_facts import LogAccount, NodeFacts
from diagnosis.observations import (
    AttemptMark,
    Evidence,
    GpuSample,
    Observation,
    OptimizerSkip,
    PhaseMark,
    StepSample,
    Symptom,
)
from diagnosis.redaction import mask
from watcher import process_tree
from watcher.gpu_holders import holders_of
from watcher.gpus import Gpus
from watcher.masking import masked, masked_evidence
from watcher.nccl_ras import ask as ask_ras
from watcher.run_watch import RunWatch
from watcher.stacks import dump_stacks

if TYPE_CHECKING:
    from watcher.agent import Agent

EARLY_SECONDS, EARLY_READINGS = 900.0, 60
LATE_SECONDS, LATE_READINGS = 120.0, 40
"""GPU readings that are told: a few of the last quarter of an hour, more of its end."""
NEWEST_LINES = 24
"""Last lines of a rank that are told."""
LOOKS_BEFORE_SECONDS = 1.0
"""A look this soon after the last step may still be one at training."""


def gather(agent: "Agent", run: RunWatch, *, stands: bool = False) -> Callable[[], NodeFacts]:
    """Take what there is, at once; the work of masking it is left to the function returned, for another thread.

    `stands`: whoever asks knows that the run makes no progress; then stacks are taken too, where they are allowed.
    """
    checked = run.reading.checked
    logs = [_Log(reader, run, checked) for reader in run.reading.readers()]
    progressed_at = run.reporting.progress.facts.get("last_progress")
    since = 0.0 if progressed_at is None else progressed_at + run.clock.ahead_seconds + LOOKS_BEFORE_SECONDS
    offset = run.clock.ahead_seconds
    findings, cleared = run.chronicles.findings, run.chronicles.cleared
    kernel = tuple(replace(seen, origin=replace(seen.origin, run=run.run.name)) for seen in agent.kernel_lines)
    reads_kernel_log = agent.kernel_log.problem is None
    own_gpus = agent.host.gpus_of(run.run.name, agent.gpus.newest)
    gpus = tuple(
        sample
        for sample in _gpu_samples(agent.gpus, agent.settings.node)
        if own_gpus is None or sample.gpu_index in own_gpus
    )
    newest = agent.gpus.newest
    own = frozenset(process.pid for process in agent.host.of_run(run.run.name))
    of_others = frozenset(process.pid for process in agent.host.processes) - own
    processes = agent.host.looks_of(run.run.name, since)
    groups = agent.host.groups_of(run.run.name)
    problems = (*agent.host.problems_of(run.run.name), *agent.problems())
    takes_stacks = stands and run.run.stacks and progressed_at is not None
    living = tuple(one for one in agent.host.of_run(run.run.name) if one.state not in {"gone", "zombie"})
    # One node asks for the whole job, and only of a run that trained before it stood.
    asks_ras = stands and run.run.ras and progressed_at is not None and any(one.rank == 0 for one in living)

    def build() -> NodeFacts:
        stacks, missing = dump_stacks(living) if takes_stacks else ((), "")
        answers, unasked = ask_ras([one.pid for one in living]) if asks_ras else ((), "")
        return NodeFacts(
            node=agent.settings.node,
            time=time.time(),
            clock_offset_seconds=offset,
            logs=tuple(log.account() for log in logs),
            findings=tuple(said for finding in findings if isinstance(said := masked(finding), Finding)),
            cleared=cleared,
            kernel=tuple(_masked_symptom(seen) for seen in kernel),
            reads_kernel_log=reads_kernel_log,
            gpus=gpus,
            processes=processes,
            has_kernel_pids=process_tree.counts_as_kernel(),
            memory_groups=groups,
            stacks=stacks,
            ras=answers,
            holders=tuple(
                replace(one, name=mask(one.name).text)
                for one in holders_of(agent.settings.node, newest, own, of_others)
            ),
            problems=tuple(mask(problem).text for problem in (*problems, missing, unasked) if problem),
        )

    return build


class _Log:
    """One log at the moment it was asked of."""

    def __init__(self, reader: LogReader, run: RunWatch, checked: Callable[[Evidence], Evidence]) -> None:
        chronicle = run.chronicles.of(reader.file)
        named = origin_of(reader.file)
        self._checked = checked
        self._observations = chronicle.observations()
        self._newest = dict(run.quiet.newest(reader))
        self._account = LogAccount(
            file=reader.file,
            rank=named.rank if named.rank is not None else run.run.rank,
            ranks=tuple(sorted(reader.ranks)),
            node=reader.node,
            dialect=reader.dialect,
            envelope=reader.envelope,
            lines=reader.lines,
            tracebacks=reader.tracebacks,
            dropped=chronicle.dropped,
        )

    def account(self) -> LogAccount:
        """Everything of it, masked."""
        return replace(
            self._account,
            observations=tuple(self._masked(seen) for seen in self._observations),
            newest=dict(self._masked_lines(self._newest)),
        )

    def _masked_lines(
        self, newest: Mapping[int | None, tuple[Evidence, ...]]
    ) -> Iterator[tuple[str, tuple[Evidence, ...]]]:
        for rank, lines in newest.items():
            told = tuple(masked_evidence(self._checked(line)) for line in lines[-NEWEST_LINES:])
            yield ("" if rank is None else str(rank)), told

    def _masked(self, seen: Observation) -> Observation:
        if isinstance(seen, Symptom):
            return replace(_masked_symptom(seen), evidence=masked_evidence(self._checked(seen.evidence)))
        if isinstance(seen, StepSample):
            # Its numbers are in the series; here only how far it was, and when.
            return replace(seen, evidence=masked_evidence(self._checked(seen.evidence)), fields=_pace(seen))
        if isinstance(seen, OptimizerSkip | PhaseMark | AttemptMark):
            return replace(seen, evidence=masked_evidence(self._checked(seen.evidence)))
        return seen


def _pace(seen: StepSample) -> Mapping[str, float]:
    return {name: seen.fields[name] for name in ("step_seconds",) if name in seen.fields}


def _masked_symptom(seen: Symptom) -> Symptom:
    fields = {name: mask(value).text for name, value in seen.fields.items()}
    return replace(seen, evidence=masked_evidence(seen.evidence), fields=fields)


def _gpu_samples(gpus: Gpus, node: str) -> Iterator[GpuSample]:
    newest = {sample.gpu_index: sample for sample in gpus.newest}
    late = list(gpus.ring.recent(node, LATE_SECONDS, LATE_READINGS))
    begins = min((sample.time for sample in late), default=0.0)
    early: Iterable[GpuSample] = gpus.ring.recent(node, EARLY_SECONDS, EARLY_READINGS)
    yield from (sample for sample in early if sample.time < begins)
    yield from (sample for sample in late if (last := newest.get(sample.gpu_index)) is None or sample.time < last.time)
    yield from newest.values()
