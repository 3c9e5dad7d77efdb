"""A case out of what the nodes of a living run tell, for the same diagnosis that reads files.

Every node has its own clock, and every log its own zone. Here all times become Unix seconds on the registry's clock:
the zone is told by when the lines came in, the clock's offset by the watcher that measured it.
"""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from diagnosis.case import Case, CaseFile
from diagnosis.exhibits import CgroupReport, GpuTable, ProcessState, read_ras, read_stacks
from diagnosis.exhibits.gpu_table import Reading
from diagnosis.exhibits.processes import Look
from diagnosis.log_facts import LogFacts, LogLine
from diagnosis.minority import MIN_LOOKS, place_of
from diagnosis.node_facts import LogAccount, NodeFacts
from diagnosis.observations import GpuSample, Observation, ProcessSample

ZONE_SECONDS = 900.0
"""Time zones differ by quarters of an hour."""
ZONE_RESIDUE_SECONDS = 120.0
"""A line is read this soon after it was printed, or its own time says nothing about the zone."""

WIDEST_ZONES = 26 * 3600.0
"""No two zones of the world are further apart."""

_FINAL = frozenset({"stopped", "tracing-stop", "zombie", "gone", "dead"})
"""States that do not pass by themselves."""


def case_of(told: Iterable[NodeFacts], *, looked_at: float, is_stalled: bool = False) -> Case:
    """The case of a living run; `looked_at` is on the registry's clock."""
    case = Case(looked_at=looked_at, is_stalled=is_stalled)
    nodes = sorted(told, key=lambda facts: facts.node)
    for facts, account in _distinct(nodes):
        case.files.append(_log_file(account, facts))
    for facts in nodes:
        case.files += _exhibits(facts)
        case.findings += facts.findings
        case.cleared += [kind for kind in facts.cleared if kind not in case.cleared]
        case.unread += [f"{facts.node}: {problem}" for problem in facts.problems]
        dropped = sum(account.dropped for account in facts.logs)
        if dropped:
            case.unread.append(f"{facts.node}: {dropped:,} more telling lines than its watcher keeps")
    return case


def _distinct(nodes: Sequence[NodeFacts]) -> list[tuple[NodeFacts, LogAccount]]:
    """Every log once: a shared one is told by many watchers, and two local ones may bear one name."""
    by_name: dict[str, list[tuple[NodeFacts, LogAccount]]] = defaultdict(list)
    for facts in nodes:
        for account in facts.logs:
            by_name[account.file].append((facts, account))
    found: list[tuple[NodeFacts, LogAccount]] = []
    for name, tellers in by_name.items():
        kept: list[tuple[NodeFacts, LogAccount]] = []
        for facts, account in tellers:
            if not any(_is_same_file(account, other) for _, other in kept):
                kept.append((facts, account))
        if len(kept) > 1:
            kept = [(facts, _renamed(account, f"{facts.node}:{name}")) for facts, account in kept]
        found += kept
    return found


def _is_same_file(one: LogAccount, other: LogAccount) -> bool:
    """Two watchers read the same file when a line of the same number reads the same."""
    lines = {(line.line, line.text) for lines in one.newest.values() for line in lines if line.line is not None}
    return any((line.line, line.text) in lines for found in other.newest.values() for line in found)


def _renamed(account: LogAccount, name: str) -> LogAccount:
    return replace(
        account,
        file=name,
        observations=tuple(
            replace(seen, evidence=replace(seen.evidence, file=name)) if isinstance(seen, LogLine) else seen
            for seen in account.observations
        ),
        newest={rank: tuple(replace(line, file=name) for line in lines) for rank, lines in account.newest.items()},
    )


def _log_file(account: LogAccount, facts: NodeFacts) -> CaseFile:
    clock = _Clock(account.observations, facts.clock_offset_seconds)
    log = LogFacts()
    for seen in account.observations:
        if isinstance(seen, LogLine):
            log.observe(replace(seen, time=clock.read(seen)))
    log.observed_ranks |= set(account.ranks)
    newest = {int(rank) if rank.isdecimal() else None: lines for rank, lines in account.newest.items()}
    log.finish(newest)
    tail = max(newest.values(), key=lambda lines: max((line.line or 0 for line in lines), default=0), default=())
    return CaseFile(
        path=account.file,
        kind="training_log",
        node=account.node or facts.node,
        ranks=account.ranks,
        rank=account.rank,
        dialect=account.dialect,
        envelope=account.envelope,
        lines=account.lines,
        tracebacks=account.tracebacks,
        log=log,
        tail=tuple(line.text for line in tail),
        is_of_another_day=clock.is_of_another_day,
    )


class _Clock:
    """Turns a log's printed times into Unix seconds on the registry's clock."""

    def __init__(self, observations: Sequence[Observation], offset: float) -> None:
        self._offset = offset
        ahead = [
            seen.time - seen.seen_at
            for seen in observations
            if isinstance(seen, LogLine) and seen.time is not None and seen.seen_at is not None
        ]
        self._zone: float | None = 0.0
        self.is_of_another_day = bool(ahead) and abs(statistics.median(ahead)) > WIDEST_ZONES
        """So far apart are no two clocks: it is a copy of what was written long ago, maybe on another machine."""
        if ahead:
            usual = statistics.median(ahead)
            zone = round(usual / ZONE_SECONDS) * ZONE_SECONDS
            self._zone = zone if abs(usual - zone) <= ZONE_RESIDUE_SECONDS else None

    def read(self, seen: LogLine) -> float | None:
        """When it was printed; where the log's own time cannot be placed, when it was read."""
        if seen.time is not None and self._zone is not None:
            return seen.time - self._zone - self._offset
        return None if seen.time is None or seen.seen_at is None else seen.seen_at - self._offset


def _exhibits(facts: NodeFacts) -> list[CaseFile]:
    files = []
    if facts.kernel or facts.reads_kernel_log:
        files.append(_kernel_file(facts))
    if facts.gpus:
        path = f"GPU readings of {facts.node}"
        files.append(CaseFile(path, "gpu_samples", node=facts.node, gpus=(_gpu_table(facts),)))
    if facts.processes:
        states = tuple(_process_state(looks, facts) for looks in _by_process(facts.processes).values())
        seen = CaseFile(f"processes of {facts.node}", "process_state", node=facts.node, processes=states)
        seen.has_kernel_pids = facts.has_kernel_pids
        files.append(seen)
    for number, answer in enumerate(facts.ras, 1):
        path = f"answer {number} of NCCL RAS on {facts.node}"
        files.append(CaseFile(path, "nccl_ras", node=facts.node, ras=read_ras(answer.text)))
    for group in facts.memory_groups:
        text = f"{group.path}: oom_kill {group.kills}"
        report = CgroupReport(group.kills, group.limit_bytes, None, text)
        files.append(CaseFile(f"memory of {facts.node}", "cgroup", node=facts.node, cgroup=report))
    files += [_stack_file(facts, dump.pid, dump.rank, dump.text, is_child=dump.is_child) for dump in facts.stacks]
    return files


def _kernel_file(facts: NodeFacts) -> CaseFile:
    log = LogFacts()
    for seen in facts.kernel:
        when = None if seen.time is None else seen.time - facts.clock_offset_seconds
        log.observe(replace(seen, time=when))
    log.finish({})
    return CaseFile(f"kernel log of {facts.node}", "kernel_log", node=facts.node, log=log)


def _gpu_table(facts: NodeFacts) -> GpuTable:
    rows: dict[int, list[Reading]] = defaultdict(list)
    for sample in facts.gpus:
        corrected = replace(sample, time=sample.time - facts.clock_offset_seconds)
        rows[sample.gpu_index].append(Reading(corrected, None, gpu_line(sample)))
    return GpuTable(facts.node, {index: tuple(found) for index, found in sorted(rows.items())})


def gpu_line(sample: GpuSample) -> str:
    """One reading as a line: `03:12:07 GPU 5: 0 %, 96 W of 700 W, 61.2 GiB`."""
    when = datetime.fromtimestamp(sample.time, UTC).strftime("%H:%M:%S")
    told = [sample.problem or ""]
    if sample.utilization_percent is not None:
        told.append(f"{sample.utilization_percent:.0f} %")
    if sample.power_watts is not None:
        limit = f" of {sample.power_limit_watts:.0f} W" if sample.power_limit_watts is not None else ""
        told.append(f"{sample.power_watts:.0f} W{limit}")
    if sample.memory_used_bytes is not None:
        told.append(f"{sample.memory_used_bytes / (1 << 30):.1f} GiB")
    said = ", ".join(part for part in told if part) or "no reading"
    return f"{when} GPU {sample.gpu_index}: {said}"


def _by_process(samples: Sequence[ProcessSample]) -> Mapping[tuple[int, float | None], list[ProcessSample]]:
    looks: dict[tuple[int, float | None], list[ProcessSample]] = defaultdict(list)
    for sample in samples:
        looks[sample.pid, sample.started_at].append(sample)
    return looks


def _process_state(looks: Sequence[ProcessSample], facts: NodeFacts) -> ProcessState:
    last = _telling_look(looks)
    rank = f"rank {last.rank}, " if last.rank is not None else ""
    wchan = f" in {last.wchan}" if last.wchan else ""
    return ProcessState(
        line=None,
        text=f"{rank}pid {last.pid} ({last.name}): {last.state}{wchan}",
        pid=last.pid,
        rank=last.rank,
        name=last.name,
        state=last.state,
        wchan=last.wchan,
        cpu_seconds=last.cpu_seconds,
        looks=tuple(
            Look(sample.time - facts.clock_offset_seconds, sample.state, sample.wchan, sample.cpu_seconds)
            for sample in looks
        ),
    )


def _telling_look(looks: Sequence[ProcessSample]) -> ProcessSample:
    """The last look, unless most of several found the process elsewhere: one moment misleads."""
    last = looks[-1]
    if last.state in _FINAL or len(looks) < MIN_LOOKS:
        return last
    usual = Counter(place_of(look.state, look.wchan) for look in looks).most_common(1)[0][0]
    return next(look for look in reversed(looks) if place_of(look.state, look.wchan) == usual)


def _stack_file(facts: NodeFacts, pid: int, rank: int | None, text: str, *, is_child: bool) -> CaseFile:
    path = f"stack of pid {pid} on {facts.node}"
    stacks = tuple(read_stacks(text, path, rank))
    for stack in stacks:
        stack.is_child = stack.is_child or is_child or stack.pid != pid
    return CaseFile(path, "stacks", node=facts.node, stacks=stacks, ranks=() if rank is None else (rank,))
