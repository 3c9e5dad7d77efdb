"""The table of `/stall`: who stands where; of many ranks those that differ, and all that are alike as one row."""

import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from diagnosis import wording
from diagnosis.gpu_reading import GpuReading
from diagnosis.minority import place_of
from diagnosis.observations import ProcessSample, RankProgress
from handlers.messages.phrase import Clause, Phrase, say
from handlers.standing import NodeView, Picture

HEAD = tuple(map(say, ("rank", "node", "last step", "last progress", "GPU", "process")))
MOST_ROWS = 24
"""So many ranks are shown one by one."""
SAME_SECONDS = 5.0
"""Progress this close together is the same progress."""
MOST_ALIKE = 3
"""More ranks that differ in the same way are one row too."""

Row = tuple[str | Phrase, ...]


@dataclass(frozen=True, slots=True)
class _Seen:
    """One rank with everything known of it."""

    rank: RankProgress
    gpu: GpuReading | None
    process: ProcessSample | None

    @property
    def tells(self) -> bool:
        """Whether anything but its name is known of it."""
        rank = self.rank
        return any(one is not None for one in (rank.step, rank.progressed_at, self.gpu, self.process))

    def kind(self, usual_at: float | None) -> tuple[str, ...]:
        """What it has in common with its like: step, progress, GPU and place, without numbers that always differ."""
        at = self.rank.progressed_at
        is_usual = at is not None and usual_at is not None and abs(at - usual_at) <= SAME_SECONDS
        return (
            str(self.rank.step),
            "" if is_usual else "–" if at is None or usual_at is None else wording.duration(abs(usual_at - at)),
            "" if self.gpu is None else self.gpu.problem or str(self.gpu.state),
            "" if self.process is None else place_of(self.process.state, self.process.wchan),
        )


def telling_rows(picture: Picture, now: float) -> list[tuple[str, ...]]:
    """The rows: each rank of a small run; of a big one what differs, and how many are alike."""
    return [tuple(cell if isinstance(cell, str) else cell.plain for cell in row) for row in _rows(picture, now)]


def _rows(picture: Picture, now: float) -> list[Row]:
    views = {view.node: view for view in picture.nodes}
    looked = (_look(rank, views.get(rank.origin.node or "")) for rank in picture.ranks)
    seen = [one for one in looked if one.tells]
    if len(seen) <= MOST_ROWS:
        return [_row(one, now) for one in seen]
    times = [one.rank.progressed_at for one in seen if one.rank.progressed_at is not None]
    usual_at = statistics.median_low(times) if times else None
    groups: dict[tuple[str, ...], list[_Seen]] = defaultdict(list)
    for one in seen:
        groups[one.kind(usual_at)].append(one)
    common, *odd = sorted(groups.values(), key=len, reverse=True)
    rows = [_group(common, now)]
    for group in sorted(odd, key=len):
        rows += [_row(one, now) for one in group] if len(group) <= MOST_ALIKE else [_group(group, now)]
    if len(rows) <= MOST_ROWS:
        return rows
    left = len(rows) - MOST_ROWS + 1
    return [*rows[: MOST_ROWS - 1], (say("and {n} rows more", n=f"{left:,}"), "", "", "", "", "")]


def _look(rank: RankProgress, node: NodeView | None) -> _Seen:
    if node is not None and node.is_silent:
        return _Seen(rank, None, None)  # what it said last of GPUs and processes is no look at them
    process = _process(node, rank)
    return _Seen(rank, _gpu(node, rank, process), process)


def _row(seen: _Seen, now: float) -> Row:
    origin = seen.rank.origin
    name = "–" if origin.rank is None else str(origin.rank)
    if origin.local_rank is not None and origin.local_rank != origin.rank:
        name += f" (local {origin.local_rank})"
    return (name, origin.node or "–", *_state(seen, now))


def _group(group: Sequence[_Seen], now: float) -> Row:
    """Many that are alike: their numbers are those of the first."""
    numbers = sorted(one.rank.origin.rank for one in group if one.rank.origin.rank is not None)
    name = say("{n} ranks", n=f"{len(group):,}")
    if numbers:
        name = say("{n} ranks, {first} to {last}", n=f"{len(group):,}", first=numbers[0], last=numbers[-1])
    nodes = {one.rank.origin.node for one in group if one.rank.origin.node}
    many = say("{n} nodes", n=f"{len(nodes):,}") if nodes else say("–")
    where = say("{node}", node=next(iter(nodes))) if len(nodes) == 1 else many
    return (name, where, *_state(group[0], now))


def _state(seen: _Seen, now: float) -> Row:
    rank = seen.rank
    age = None if rank.progressed_at is None else wording.duration(max(0.0, now - rank.progressed_at))
    return (
        "–" if rank.step is None else wording.whole(rank.step),
        "–" if age is None else say("{age} ago", age=age),
        _say_gpu(seen.gpu),
        say_process(seen.process),
    )


def _process(node: NodeView | None, rank: RankProgress) -> ProcessSample | None:
    if node is None:
        return None
    for process in node.processes:
        if process.rank is not None and process.rank == rank.origin.rank:
            return process
    local = [one for one in node.processes if one.local_rank is not None and one.local_rank == rank.origin.local_rank]
    if local:
        return local[0]
    return node.processes[0] if len(node.processes) == 1 else None


def _gpu(node: NodeView | None, rank: RankProgress, process: ProcessSample | None) -> GpuReading | None:
    if node is None or node.reading is None:
        return None
    wanted = process.gpu_indices if process and process.gpu_indices else (rank.origin.local_rank,)
    return next((gpu for gpu in node.reading.gpus if gpu.gpu_index in wanted), None)


def _say_gpu(gpu: GpuReading | None) -> str | Phrase:
    if gpu is None:
        return "–"
    if gpu.problem:
        return say("{problem}", problem=Clause(gpu.problem))
    util = "?" if gpu.utilization_percent is None else f"{gpu.utilization_percent:.0f} %"
    power = "" if gpu.power_watts is None else f", {gpu.power_watts:.0f} W"
    return f"{util}{power}"


def say_process(process: ProcessSample | None) -> Phrase:
    """What it does, and where in the kernel it waits."""
    if process is None:
        return say("–")
    state = Clause({"disk-sleep": "state D"}.get(process.state, process.state))
    # The compiler's suffixes of a kernel function tell nothing.
    place = process.wchan.split(".")[0] if process.wchan else ""
    return say("{state} ({place})", state=state, place=place) if place else say("{state}", state=state)
