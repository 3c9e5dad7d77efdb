"""What answers of NCCL's RAS show: ranks that launched fewer collectives than the others, and processes it lost.

One answer proves little, for collectives outpace the question: only what stays the same in the next one counts.
"""

from collections.abc import Iterator

from diagnosis.case import Case, CaseFile
from diagnosis.exhibits.ras import RasGroup, RasMember
from diagnosis.observations import Category, Evidence
from diagnosis.root_cause.cluster import Cluster
from diagnosis.root_cause.lead import Hint, few, said

FEW = 1 / 3
_STANDS, _ONCE, _LOST = 8, 4, 9


def hints(case: Case, cluster: Cluster) -> Iterator[Hint]:
    """Who lags behind in a communicator, and who does not answer at all."""
    files = [file for file in case.of_kind("nccl_ras") if file.ras is not None and file.ras.is_answer]
    if not files:
        return
    newest, before = files[-1], files[:-1]
    report = newest.ras
    assert report is not None
    lost = _ranks(report.lost, cluster, is_world=False)
    if lost and len(lost) <= max(1, cluster.size * FEW):
        evidence = Evidence(newest.path, None, f"{few(lost)}: not reached by RAS")
        text = f"NCCL RAS does not reach the process of {few(lost)}"
        yield Hint(lost, _LOST, said(evidence, text), evidence, None, Category.RANK_CRASH)
    for group, others in report.lagging():
        total = group.size + sum(one.size for one in others)
        ranks = _ranks(group.members, cluster, is_world=total == cluster.size)
        if not ranks or len(ranks) < group.size or len(ranks) > max(1, total * FEW):
            continue
        again = [_same(group, file) for file in before]
        if again and not all(again):
            continue  # it moves
        evidence = Evidence(newest.path, group.line, f"{group.size} ranks at {group.state}")
        most = max(others, key=lambda one: one.size)
        still = ", as in the answer before" if again else ""
        text = f"NCCL RAS: {few(ranks)} launched up to {group.state}, {most.size} others up to {most.state}{still}"
        yield Hint(ranks, _STANDS if again else _ONCE, said(evidence, text), evidence)


def _same(group: RasGroup, file: CaseFile) -> bool:
    """Whether an earlier answer shows the same ranks at the same collective."""
    assert file.ras is not None
    return any(one.communicator == group.communicator and one.state == group.state and one.members == group.members
               for one in file.ras.groups)  # fmt: skip


def _ranks(members: tuple[RasMember, ...], cluster: Cluster, *, is_world: bool) -> tuple[int, ...]:
    """Global ranks: by pid, or by their number where the communicator holds the whole run."""
    found = {rank for member in members if (rank := _rank(member, cluster, is_world=is_world)) is not None}
    return tuple(sorted(found))


def _rank(member: RasMember, cluster: Cluster, *, is_world: bool) -> int | None:
    by_node = cluster.by_pid(member.pid, member.node) if member.pid is not None else None
    by_pid = cluster.by_pid(member.pid) if by_node is None and member.pid is not None else by_node
    return member.rank if by_pid is None and is_world and member.rank >= 0 else by_pid
