"""What stacks, process states and flight-recorder dumps show of the ranks at one moment, or at two."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from diagnosis.case import Case, CaseFile
from diagnosis.exhibits import Dump, ProcessState, Stack
from diagnosis.exhibits.stacks import Doing, Frame
from diagnosis.minority import find_minority, place_of
from diagnosis.observations import Category, Evidence
from diagnosis.root_cause.cluster import Cluster
from diagnosis.root_cause.lead import Hint, few, said

FEW = 1 / 3
LOADER = "pt_data_worker"

_CATEGORY_OF = {
    Doing.LOADING: Category.DATALOADER_STALL,
    Doing.SAVING: Category.CHECKPOINT_FAILURE,
    Doing.READING: Category.STORAGE_STALL,
}


@dataclass(frozen=True, slots=True)
class _Seen:
    """One rank's stack, and where it stands."""

    rank: int
    stack: Stack
    file: CaseFile


def stack_hints(case: Case, cluster: Cluster) -> Iterator[Hint]:
    """Most ranks wait in a collective; those that stand elsewhere are what they wait for."""
    seen = _newest_stacks(case, cluster)
    if len(seen) < 2:
        return
    groups: dict[Doing, list[_Seen]] = defaultdict(list)
    for item in seen.values():
        groups[item.stack.doing].append(item)
    waiting = groups.pop(Doing.WAITING, [])
    groups.pop(Doing.UNKNOWN, None)
    odd = [item for items in groups.values() for item in items]
    if not waiting or not odd or len(odd) > max(1, len(seen) * FEW):
        yield from _odd_shape(seen, bool(waiting))
        return
    first = min(odd, key=lambda item: (item.stack.doing is Doing.ELSEWHERE, item.rank))
    ranks = tuple(sorted(item.rank for item in odd))
    frame = _telling_frame(first.stack)
    evidence = _evidence(first.file, frame)
    text = f"{few(ranks)} {first.stack.doing} at {frame}, while {len(waiting)} others wait in a collective"
    yield Hint(ranks, 8, said(evidence, text), evidence, first.file.node, _category(first, case))


def is_everybody_elsewhere(case: Case, cluster: Cluster) -> Hint | None:
    """All ranks stand in their loader, in a save, in a file: not one rank's fault."""
    seen = list(_newest_stacks(case, cluster).values())
    counts = Counter(item.stack.doing for item in seen)
    if len(seen) < 2 or not counts:
        return None
    doing, count = counts.most_common(1)[0]
    if doing not in _CATEGORY_OF or count * 3 < len(seen) * 2:
        return None
    first = next(item for item in seen if item.stack.doing is doing)
    evidence = _evidence(first.file, _telling_frame(first.stack))
    return Hint(
        (), 7, said(evidence, f"{count} of {len(seen)} ranks {_plural(doing)}"), evidence, None, _CATEGORY_OF[doing]
    )


def process_hints(case: Case, cluster: Cluster) -> Iterator[Hint]:
    """Stopped, dead, or waiting in the kernel for a file, a disk or the driver, where others do not."""
    states: dict[int, tuple[ProcessState, CaseFile]] = {}
    for file in case.of_kind("process_state"):
        found: dict[int, list[ProcessState]] = defaultdict(list)
        for process in file.processes:
            rank = process.rank if process.rank is not None else _rank_of_pid(process, file, cluster)
            if rank is not None:
                found[rank].append(process)
        states |= {rank: (_with_loaders(processes), file) for rank, processes in found.items()}
    if not states:
        return
    for what, test, weight, category in (
        ("was stopped by a signal", lambda item: item.is_stopped, 9, Category.COLLECTIVE_HANG),
        ("is dead", lambda item: item.is_gone, 9, Category.RANK_CRASH),
        (
            "waits in the GPU driver",
            lambda item: item.waits_for_gpu and item.is_uninterruptible,
            8,
            Category.GPU_HARDWARE,
        ),
        ("waits for a file lock that somebody else holds", lambda item: item.waits_for_lock, 8, Category.STORAGE_STALL),
        ("waits in the kernel for storage", lambda item: item.waits_for_storage, 8, Category.STORAGE_STALL),
        ("is in state D", lambda item: item.is_uninterruptible, 7, Category.STORAGE_STALL),
        ("waits for a child that waits for storage", _has_stuck_child, 8, Category.DATALOADER_STALL),
    ):
        odd = sorted(rank for rank, (process, _) in states.items() if test(process))
        if odd and len(odd) <= max(1, len(states) * FEW):
            process, file = states[odd[0]]
            shown = _stuck_child(process) if what.startswith("waits for a child") else process
            evidence = Evidence(file.path, shown.line, shown.text)
            where = f" ({shown.wchan})" if shown.wchan else ""
            text = f"{few(tuple(odd))} {what}{where}"
            yield Hint(tuple(odd), weight, said(evidence, text), evidence, file.node, category)
            return


def minority_hints(case: Case, cluster: Cluster) -> Iterator[Hint]:
    """Looked at several times, most ranks wait in one place of the kernel, and a few are always elsewhere."""
    looks: dict[int, tuple[list[str], ProcessState, CaseFile]] = {}
    for file in case.of_kind("process_state"):
        for process in file.processes:
            rank = process.rank if process.rank is not None else _rank_of_pid(process, file, cluster)
            if rank is not None and process.looks and process.name != LOADER:
                places = [place_of(look.state, look.wchan) for look in process.looks]
                looks[rank] = (places, process, file)
    found = find_minority({rank: places for rank, (places, _, _) in looks.items()})
    if found is not None:
        _, process, file = looks[found.ranks[0]]
        evidence = Evidence(file.path, process.line, process.text)
        yield Hint(found.ranks, 7, said(evidence, found.sentence()), evidence, file.node, looks=found.looks)


def recorder_hints(case: Case) -> Iterator[Hint]:
    """Flight-recorder dumps: who is behind, who cannot answer, and whether anything moved between two dumps."""
    snapshots = _snapshots(case)
    if not snapshots:
        return
    newest = snapshots[-1]
    behind = _behind(newest)
    for group, (late, most, least) in behind.items():
        dump = newest[late[0]]
        evidence = Evidence(dump.path, None, _record_text(dump, group))
        moved = _has_moved(snapshots, group)
        if moved:
            continue
        again = " in both dumps" if len(snapshots) > 1 else ""
        text = f"{few(late)} stands at collective {least} of group {group or '0'}{again}, others at {most}"
        yield Hint(late, 9 if len(snapshots) > 1 else 7, said(evidence, text), evidence)


def recorder_moved(case: Case) -> bool:
    """True when the collectives went on between two dumps: slow at most, not hung."""
    snapshots = _snapshots(case)
    groups = {group for snapshot in snapshots for dump in snapshot.values() for group in dump.groups}
    return any(_has_moved(snapshots, group) for group in groups)


def newest_record(case: Case) -> float | None:
    """When the newest recorded collective was enqueued, Unix seconds."""
    times = [file.dump.newest_ns for file in case.files if file.dump is not None and file.dump.newest_ns is not None]
    return max(times) / 1e9 if times else None


def _newest_stacks(case: Case, cluster: Cluster) -> dict[int, _Seen]:
    """The last stack of every rank, of a rank's own process."""
    seen: dict[int, _Seen] = {}
    for file in case.of_kind("stacks"):
        for stack in file.stacks:
            rank = stack.rank if stack.rank is not None else cluster.by_pid(stack.pid, file.node)
            if rank is None and stack.local_rank is not None:
                rank = cluster.by_gpu(stack.local_rank, cluster.node_of_file(file))
            if rank is not None and not stack.is_child and stack.frames and stack.doing is not Doing.UNKNOWN:
                seen[rank] = _Seen(rank, stack, file)
    return seen


def _odd_shape(seen: dict[int, _Seen], has_waiting: bool) -> Iterator[Hint]:
    """All wait, but one stands in another place of the code than all others."""
    shapes = Counter(item.stack.shape for item in seen.values())
    if len(seen) < 3 or len(shapes) != 2 or not has_waiting:
        return
    (_, most), (rare, count) = shapes.most_common(2)
    if count > max(1, len(seen) * FEW) or most <= count:
        return
    odd = sorted(rank for rank, item in seen.items() if item.stack.shape == rare)
    first = seen[odd[0]]
    evidence = _evidence(first.file, _telling_frame(first.stack))
    text = f"{few(tuple(odd))} stands at {_telling_frame(first.stack)}, the {most} others elsewhere"
    yield Hint(tuple(odd), 6, said(evidence, text), evidence, first.file.node)


def _category(first: _Seen, case: Case) -> Category | None:
    """What the odd one does; a loader that waits for a file is explained by its children."""
    if first.stack.doing is Doing.LOADING:
        for file in case.of_kind("stacks"):
            for stack in file.stacks:
                if stack.is_child and stack.rank == first.rank and stack.doing is Doing.READING:
                    return Category.STORAGE_STALL
    return _CATEGORY_OF.get(first.stack.doing)


def _telling_frame(stack: Stack) -> Frame:
    """The frame to quote: the loader's wait, or else the innermost of the person's code."""
    for frame in stack.frames:
        if "_try_get_data" in frame.function:
            return frame
    own = [frame for frame in stack.frames if frame.at is not None and not _is_library(frame)]
    return own[0] if own else stack.frames[0]


def _is_library(frame: Frame) -> bool:
    return frame.file.startswith(("torch/", "threading.py", "queue.py", "multiprocessing/", "selectors.py", "socket.py",
                                  "deepspeed/", "contextlib.py", "concurrent/"))  # fmt: skip


def _evidence(file: CaseFile, frame: Frame) -> Evidence:
    return Evidence(file.path, frame.line, frame.text)


def _plural(doing: Doing) -> str:
    return str(doing).replace("waits", "wait").replace("saves", "save").replace("its", "their").replace("reads", "read")


def _rank_of_pid(process: ProcessState, file: CaseFile, cluster: Cluster) -> int | None:
    return cluster.by_pid(process.pid, file.node) if process.pid is not None else None


def _with_loaders(processes: list[ProcessState]) -> ProcessState:
    """A rank's own process, with its loader workers as children where they are listed beside it."""
    own = next((process for process in processes if process.name != LOADER), processes[0])
    loaders = tuple(process for process in processes if process is not own)
    return replace(own, children=(*own.children, *loaders)) if loaders else own


def _has_stuck_child(process: ProcessState) -> bool:
    return any(child.waits_for_storage or child.is_uninterruptible for child in process.children)


def _stuck_child(process: ProcessState) -> ProcessState:
    return next(child for child in process.children if child.waits_for_storage or child.is_uninterruptible)


def _snapshots(case: Case) -> list[dict[int, Dump]]:
    """Dumps by moment: the first of every rank, the second of every rank, and so on."""
    by_rank: dict[int, list[Dump]] = defaultdict(list)
    for file in case.files:
        if file.dump is not None and file.dump.rank is not None and file.dump.groups:
            by_rank[file.dump.rank].append(file.dump)
    depth = max((len(dumps) for dumps in by_rank.values()), default=0)
    return [{rank: dumps[place] for rank, dumps in by_rank.items() if len(dumps) > place} for place in range(depth)]


def _behind(snapshot: dict[int, Dump]) -> dict[str, tuple[tuple[int, ...], int, int]]:
    groups: dict[str, dict[int, int]] = defaultdict(dict)
    for rank, dump in snapshot.items():
        for name, group in dump.groups.items():
            groups[name][rank] = group.last_enqueued
    found: dict[str, tuple[tuple[int, ...], int, int]] = {}
    for name, ranks in groups.items():
        most, least = max(ranks.values()), min(ranks.values())
        late = tuple(sorted(rank for rank, number in ranks.items() if number == least))
        if least < most and len(late) <= max(1, len(ranks) * FEW):
            found[name] = (late, most, least)
    return found


def _has_moved(snapshots: Sequence[dict[int, Dump]], group: str) -> bool:
    if len(snapshots) < 2:
        return False
    for before, after in pairwise(snapshots):
        for rank, dump in after.items():
            old = before.get(rank)
            is_in_both = old is not None and group in old.groups and group in dump.groups
            if old is not None and is_in_both and dump.groups[group].last_enqueued > old.groups[group].last_enqueued:
                return True
    return False


def _record_text(dump: Dump, group: str) -> str:
    state = dump.groups[group]
    last = state.newest[-1]
    where = f" at {last.where}" if last.where else ""
    return f"last enqueued {state.last_enqueued}, last completed {state.last_completed}: {last.name}{where}"
