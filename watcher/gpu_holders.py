"""Who holds the GPUs' memory, by the pids that the driver names and what /proc says of them."""

from collections.abc import Collection, Iterable

from diagnosis.node_facts import GpuHolder
from diagnosis.observations import GpuSample
from watcher import process_tree

MOST = 64


def holders_of(
    node: str, gpus: Iterable[GpuSample], own: Collection[int], others: Collection[int] = ()
) -> tuple[GpuHolder, ...]:
    """Every process on a GPU but the healthy ones of the node's runs; `own`: this run's, `others`: of other runs."""
    newest = list(gpus)
    on: dict[int, list[GpuSample]] = {}
    for gpu in newest:
        for pid in gpu.pids or ():
            on.setdefault(pid, []).append(gpu)
    found = []
    for pid, places in list(on.items())[:MOST]:
        seen = process_tree.read(pid)
        is_stuck = seen is not None and seen.state in {"Z", "D"}
        if pid in others and not is_stuck:
            continue
        parent = process_tree.read(seen.parent) if seen is not None and seen.parent > 1 else None
        found.append(
            GpuHolder(
                node=node,
                pid=pid,
                name=seen.name if seen is not None else "",
                state=seen.state if seen is not None else "",
                gpus=tuple(sorted(gpu.gpu_index for gpu in places)),
                bytes_there=sum(gpu.memory_used_bytes or 0 for gpu in places),
                parent=seen.parent if seen is not None else None,
                parent_name=parent.name if parent is not None else "",
                is_of_run=pid in own,
                shares=any(other in own for gpu in places for other in gpu.pids or () if other != pid),
            )
        )
    return tuple(found)
