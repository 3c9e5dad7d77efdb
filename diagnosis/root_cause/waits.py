"""Who waited for whom: the watchdog's lines, read per process group over all ranks."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median

from diagnosis.case import Case, CaseFile
from diagnosis.log_facts import LogFacts, Sighting
from diagnosis.observations import Evidence
from diagnosis.root_cause.cluster import Cluster
from diagnosis.root_cause.lead import Hint, few, said
from diagnosis.root_cause.lines import is_of_earlier_attempt
from diagnosis.root_cause.passed import SURVIVED_STEPS

TIMEOUTS = ("nccl_watchdog_timeout", "gloo_timeout", "hccl_timeout", "npu_stream_timeout")
COUNTERS = ("nccl_work_counters", "nccl_dump_signal")
WAITING = (
    *TIMEOUTS,
    "hccl_connect_timeout",
    "nccl_work_counters",
    "nccl_watchdog_stuck",
    "nccl_aborted",
    "nccl_thread_terminated",
)
"""Rows that only a rank prints which itself waits in a collective."""
WATCHED = ("own_watchdog", "rank_monitor_timeout", "step_watchdog", "megascale_hang")
"""Rows of watchdogs that only see that a run stands."""
FALLING = ("gloo_peer_closed", "nccl_peer_closed", "nccl_async_error", "nccl_remote_error", "nccl_socket_error",
           "ib_completion", "nccl_error_raised", "nccl_error_kind", "hccl_call_failed")  # fmt: skip
"""Rows that a rank prints because another one went away."""
_PAIRWISE = frozenset({"SEND", "RECV", "COALESCED", "UNKNOWN"})
"""Operations between two ranks: neighbours differ lawfully."""
FEW = 1 / 3
_LISTED = re.compile(r"(?:^|[\s:])(\d{1,7}): \[")
_MISSING = {
    "barrier_missed": "did not come to the barrier",
    "horovod_missing": "did not submit what the others wait for",
}
"""Rows that list who is missing, and from what."""


@dataclass(frozen=True, slots=True)
class Wait:
    """One rank's timeout."""

    rank: int | None
    sequence: int | None
    operation: str
    size: str
    began: float | None
    """The line's time minus the time it ran."""
    given_up: float | None
    """The line's time."""
    evidence: Evidence
    node: str | None


@dataclass(slots=True)
class Waits:
    """Everything that says that ranks waited."""

    timeouts: list[Wait] = field(default_factory=list)
    counters: dict[str, dict[int, tuple[int, int, Evidence]]] = field(default_factory=dict)
    """Process group → rank → (last enqueued, last completed, line)."""
    waiting: dict[int, Evidence] = field(default_factory=dict)
    """Ranks that waited, each with a line that shows it."""
    falling: dict[int, Evidence] = field(default_factory=dict)
    """Ranks that only saw somebody else go."""
    falling_nameless: dict[str, Evidence] = field(default_factory=dict)
    """The same by file, where no rank stands in front."""
    first: Evidence | None = None
    watched: Evidence | None = None
    """What a watchdog of somebody else's said first."""

    @property
    def began(self) -> float | None:
        """When the first wait began."""
        return min((wait.began for wait in self.timeouts if wait.began is not None), default=None)

    @property
    def ended(self) -> float | None:
        """When the first wait was given up."""
        return min((wait.given_up for wait in self.timeouts if wait.given_up is not None), default=None)

    @property
    def joined(self) -> frozenset[int]:
        """Ranks that timed out in the very call in which most did: they came, so nobody waited for them."""
        told = {wait.rank: wait.sequence for wait in self.timeouts if wait.rank is not None}
        (common, count), *_ = Counter(told.values()).most_common(1) or [(None, 0)]
        return frozenset(rank for rank, sequence in told.items() if sequence == common) if count > 1 else frozenset()

    @property
    def is_established(self) -> bool:
        """True when somebody timed out."""
        return bool(self.timeouts) or bool(self.waiting)


def read_waits(case: Case, cluster: Cluster) -> Waits:
    """The watchdog's lines of the newest attempt."""
    waits = Waits()
    for file, log, sighting in _sightings(case):
        rank = cluster.rank_of(sighting, file)
        name = sighting.symptom.signature
        if name in TIMEOUTS:
            wait = _wait(sighting, rank, cluster.node_of(rank, file))
            waits.timeouts.append(wait)
            waits.first = waits.first or wait.evidence
        if name in WATCHED:
            waits.watched = waits.watched or sighting.symptom.evidence
        if name in COUNTERS and rank is not None:
            _count(waits, sighting, rank)
        if rank is not None and (name in WAITING or (name == "nccl_dump_signal" and _has_joined(sighting))):
            is_inner_fault = (
                name == "nccl_thread_terminated" and "atchdog caught" not in sighting.symptom.fields["inner"]
            )
            if not is_inner_fault:
                waits.waiting.setdefault(rank, sighting.symptom.evidence)
        if name in FALLING and rank is not None:
            waits.falling.setdefault(rank, sighting.symptom.evidence)
        elif name in FALLING and sighting.raised is not None:
            waits.falling_nameless.setdefault(file.path, sighting.symptom.evidence)
        del log
    return waits


def hints(waits: Waits, case: Case, cluster: Cluster) -> Iterator[Hint]:
    """What the watchdog's lines say of who is missing."""
    yield from _outright(case, cluster)
    yield from _behind(waits)
    yield from _odd_collective(waits)
    missing = _missing(waits, case, cluster) if not _is_cut(waits, case) else None
    if missing is not None:
        yield missing
    left = _left_first(case, cluster)
    if left is not None:
        yield left


def common_state(waits: Waits) -> str | None:
    """A sentence for the case that nothing tells the ranks apart: all joined, none finished."""
    for group, ranks in waits.counters.items():
        states = {(enqueued, completed) for enqueued, completed, _ in ranks.values()}
        if len(ranks) >= 2 and len(states) == 1:
            enqueued, completed = states.pop()
            evidence = next(iter(ranks.values()))[2]
            return said(
                evidence,
                f"all {len(ranks)} reporting ranks of group {group} enqueued {enqueued} and completed {completed} "
                "collectives: they all joined, and it never finished",
            )
    return None


def _sightings(case: Case) -> Iterator[tuple[CaseFile, LogFacts, Sighting]]:
    for file, log in case.logs():
        for sighting in log.sightings:
            if sighting.attempt == log.attempt and sighting.steps_after < SURVIVED_STEPS:
                yield file, log, sighting


def _has_joined(sighting: Sighting) -> bool:
    """It timed out itself, or obeys another's signal while a collective of its own is under way."""
    fields = sighting.symptom.fields
    is_under_way = "enqueued" in fields and int(fields["enqueued"]) > int(fields["completed"])
    return "own" in fields or is_under_way


def _wait(sighting: Sighting, rank: int | None, node: str | None) -> Wait:
    fields = sighting.symptom.fields
    ran = fields.get("ran_ms")
    began = (
        sighting.time - int(ran) / 1000
        if sighting.symptom.time is not None and sighting.time is not None and ran
        else None
    )
    return Wait(
        rank=rank,
        sequence=int(fields["seq"]) if "seq" in fields else None,
        operation=fields.get("op", ""),
        size=f"{fields.get('numel_in', '')}/{fields.get('numel_out', '')}",
        began=began,
        given_up=sighting.symptom.time,
        evidence=sighting.symptom.evidence,
        node=node,
    )


def _count(waits: Waits, sighting: Sighting, rank: int) -> None:
    fields = sighting.symptom.fields
    if "enqueued" not in fields:
        return
    group = fields.get("group", "") + (f" ({fields['group_name']})" if "group_name" in fields else "")
    enqueued, completed = int(fields["enqueued"]), int(fields["completed"])
    waits.counters.setdefault(group, {}).setdefault(rank, (enqueued, completed, sighting.symptom.evidence))


def _outright(case: Case, cluster: Cluster) -> Iterator[Hint]:
    """The desync debugger's own words, and fingerprints that disagree."""
    prints: list[tuple[int, str, Evidence]] = []
    standing: dict[int, Evidence] = {}
    for _, _, sighting in _sightings(case):
        fields = sighting.symptom.fields
        evidence = sighting.symptom.evidence
        if sighting.symptom.signature in {"desync_lagging_ranks", "desync_unfinished"}:
            ranks = tuple(sorted({int(part) for part in fields["ranks"].replace(",", " ").split()}))
            if ranks and "finished" not in fields and len(ranks) <= max(4, cluster.size * FEW):
                yield Hint(ranks, 9, said(evidence, f"torch itself names {few(ranks)} as lagging"), evidence)
            elif ranks and "missed" in fields and len(ranks) <= max(4, cluster.size * FEW):
                yield Hint(
                    ranks, 9, said(evidence, f"torch says that {few(ranks)} did not join the next collective"), evidence
                )
        elif sighting.symptom.signature in _MISSING:
            told = fields.get("ranks") or fields.get("rank") or _own_rank(sighting)
            ranks = tuple(sorted({int(part) for part in told.replace(",", " ").split()}))
            if ranks and len(ranks) <= max(4, cluster.size * FEW):
                yield Hint(ranks, 9, said(evidence, f"{few(ranks)} {_MISSING[sighting.symptom.signature]}"), evidence)
        elif sighting.symptom.signature == "own_watchdog" and "stands" in fields:
            standing.setdefault(int(fields["stands"]), evidence)
        elif sighting.symptom.signature == "collective_fingerprints_differ":
            prints.append((int(fields["rank"]), fields["fingerprint"], evidence))
            if "other_rank" in fields:
                prints.append((int(fields["other_rank"]), fields["other_fingerprint"], evidence))
        elif sighting.symptom.signature == "nccl_mismatch" and "around" in fields:
            rank = int(fields["around"])
            yield Hint((rank,), 5, said(evidence, f"NCCL found mismatched calls around rank {rank}"), evidence)
    if len(standing) == 1:
        (rank, evidence), *_ = standing.items()
        yield Hint((rank,), 6, said(evidence, f"a watchdog says of rank {rank} alone that it stands"), evidence)
    yield from _minority(
        [(rank, text, evidence) for rank, text, evidence in dict.fromkeys(prints)], "runs another collective", 8
    )


def _own_rank(sighting: Sighting) -> str:
    """A number in front of the line that an envelope may have taken for its speaker's."""
    found = _LISTED.search(sighting.symptom.evidence.text)
    return found[1] if found is not None else ""


def _behind(waits: Waits) -> Iterator[Hint]:
    """In one process group, the ranks that never enqueued the collective in which the others wait.

    Fewer calls alone prove nothing: ranks run ahead of their GPU by as many as they like.
    """
    for group, ranks in waits.counters.items():
        if len(ranks) < 2:
            continue
        most = max(enqueued for enqueued, _, _ in ranks.values())
        least = min(enqueued for enqueued, _, _ in ranks.values())
        late = tuple(sorted(rank for rank, (enqueued, _, _) in ranks.items() if enqueued == least))
        done = min((completed for rank, (_, completed, _) in ranks.items() if rank not in late), default=0)
        if any(ranks[rank][1] < least for rank in late):
            continue  # the others finished the call in which it waits without it: a group of its own, of the same name
        if (
            least < most
            and least <= max(done, 0)
            and len(late) <= max(1, len(ranks) * FEW + 1)
            and len(late) < len(ranks)
        ):
            evidence = ranks[late[0]][2]
            text = f"{few(late)} enqueued only {least} collectives in group {group}, others {most}"
            yield Hint(late, 8, said(evidence, text), evidence)


def _odd_collective(waits: Waits) -> Iterator[Hint]:
    """Same number in the same group, another operation or size: the minority is the suspect.

    Where no line tells the groups, only a single odd rank counts: a group of its own would have two members.
    """
    groups = {rank: group for group, ranks in waits.counters.items() for rank in ranks}
    told: dict[tuple[str | None, int], list[tuple[int, str, Evidence]]] = defaultdict(list)
    for wait in waits.timeouts:
        if wait.rank is not None and wait.sequence is not None and wait.operation not in _PAIRWISE:
            entry = (wait.rank, f"{wait.operation} {wait.size}", wait.evidence)
            told[groups.get(wait.rank), wait.sequence].append(entry)
    for (group, sequence), entries in told.items():
        for hint in _minority(entries, f"waits in another collective at number {sequence}", 7):
            if group is not None or len(hint.ranks) == 1:
                yield hint


def _minority(told: list[tuple[int, str, Evidence]], what: str, weight: int) -> Iterator[Hint]:
    by_rank = {rank: (text, evidence) for rank, text, evidence in told}
    counts = Counter(text for text, _ in by_rank.values())
    if len(counts) < 2 or len(by_rank) < 3:
        return
    (common, most), *rest = counts.most_common()
    odd = tuple(sorted(rank for rank, (text, _) in by_rank.items() if text != common))
    if most > sum(count for _, count in rest) and len(odd) <= max(1, len(by_rank) * FEW):
        text, evidence = by_rank[odd[0]]
        yield Hint(odd, weight, said(evidence, f"{few(odd)} {what}: {text} where {most} ranks have {common}"), evidence)


def _is_cut(waits: Waits, case: Case) -> bool:
    """A log of many ranks that ends within a line: the next lines may have been the missing rank's."""
    counts = Counter(evidence.file for evidence in waits.waiting.values())
    return any(not file.ends_whole and counts[file.path] > 1 for file in case.files)


def _would_be_here(rank: int, waits: Waits, case: Case) -> bool:
    """Whether a timeout of this rank would stand in these files: in its own log, or in one where others' stand.

    Where every rank has its own file, this one's may not have been copied: it has none, one that ends within a line,
    or fewer than the others (standard error apart). After a restart it may not have been started again.
    """
    told = {evidence.file for evidence in waits.waiting.values()}
    own = Counter(next(iter(file.ranks)) for file in case.files if len(file.ranks) == 1)
    usual = median(own[other] for other in waits.waiting) if waits.waiting else 0
    is_part = own[rank] < usual
    attempts = min((file.log.attempt for file in case.files if file.path in told and file.log is not None), default=0)
    for file in case.files:
        ranks = set(file.ranks) | ({file.rank} if file.rank is not None else set())
        if file.log is not None and rank in file.log.ranks and is_of_earlier_attempt(file.log.ranks[rank], file.log):
            return False
        is_older = file.log is not None and file.log.last_told is not None and file.log.attempt < attempts
        is_own = ranks == {rank} and file.ends_whole and not is_part and not is_older
        is_between = len(ranks) > 1 and min(ranks) < rank < max(ranks)
        if is_own or (file.path in told and (rank in ranks or is_between or (file.rank is None and len(told) == 1))):
            return True
    return False


def _missing(waits: Waits, case: Case, cluster: Cluster) -> Hint | None:
    """The rank that prints no timeout while nearly all others do was not waiting."""
    known = cluster.everybody
    waited = set(waits.waiting) & known if known else set(waits.waiting)
    silent = known - waited - set(waits.falling)
    if any(not _would_be_here(rank, waits, case) for rank in silent):
        return None
    if not waited or not silent or len(known) < 3 or not (waits.timeouts or waits.counters):
        return None
    if len(waited) < 2 and len(known) > 3:
        return None
    if len(silent) > max(1, len(known) * FEW) or len(waited | set(waits.falling)) * 2 <= len(known):
        return None
    evidence = waits.waiting[min(waited)]
    ranks = tuple(sorted(silent))
    text = f"{len(waited)} of {len(known)} ranks timed out in a collective; {few(ranks)} printed no timeout"
    return Hint(ranks, 5, said(evidence, text), evidence)


def _left_first(case: Case, cluster: Cluster) -> Hint | None:
    """NCCL's `Connection closed by localRank k`, before any timeout, names who left first on its node."""
    for file, log in case.logs():
        closed = log.all_of("nccl_local_rank_left")
        timeouts = log.all_of("nccl_watchdog_timeout")
        before = [item for item in closed if not timeouts or item.order < timeouts[0].order]
        if not before:
            continue
        local = {int(item.symptom.fields["left"]) for item in before}
        if len(local) == 1 and timeouts:
            number = local.pop()
            rank = cluster.by_local(number, file.path, file)
            evidence = before[0].symptom.evidence
            if rank is not None:
                return Hint(
                    (rank,),
                    6,
                    said(evidence, f"local rank {number} closed its connections before anybody timed out"),
                    evidence,
                )
    return None
