"""What a log's path says about where it comes from: `rank3.log`, `train_node17_rank3.log`, `workerlog.3`."""

import re

from diagnosis.observations import Origin

_RANK = re.compile(r"(?:^|[^a-z])(?:global[_-]?)?rank[_-]?(\d+)(?!\d)", re.IGNORECASE)
_LOCAL_RANK = re.compile(r"(?:^|[^a-z])local[_-]?rank[_-]?(\d+)(?!\d)", re.IGNORECASE)
_WORKERLOG = re.compile(r"^workerlog\.(\d+)$|^std(?:out|err)[._-](\d+)(?:\.(?:log|txt|out|err))?$")
_NODE = re.compile(r"(?:^|[._-])((?:node|host|worker|pod|nid)[_-]?\d[\w]*?)(?=[._-]|$)", re.IGNORECASE)
_TORCHRUN = re.compile(r"(?:^|/)attempt_\d+/(\d+)/std(?:out|err)\.log$")
_SLURM_TASK = re.compile(r"[._-](?P<node>[a-z][\w-]*\d)[._-](?P<task>\d{1,5})\.(?:out|err|log)$", re.IGNORECASE)


def origin_of(path: str, run: str = "") -> Origin:
    """Rank, local rank and node as far as the path tells; a bare number tells nothing.

    The file's own name speaks first; of the folders only the last three, nearest first, may name a node
    or (as torchrun's log folder does) a local rank.
    """
    parts = [part for part in path.replace("\\", "/").split("/") if part]
    name = parts[-1] if parts else ""
    local_rank = _number(_LOCAL_RANK, name)
    rank = _number(_RANK, _LOCAL_RANK.sub("", name))
    if rank is None and local_rank is None:
        match = _WORKERLOG.match(name)
        if match is not None:
            local_rank = int(match[1] or match[2])
    if rank is None and local_rank is None:
        local_rank = _number(_TORCHRUN, path)
    if rank is None and local_rank is None and len(parts) > 1:
        rank = _number(re.compile(r"^rank[_-]?(\d+)$", re.IGNORECASE), parts[-2])
    node = next((found for part in reversed(parts[-4:]) if (found := _node(part)) is not None), None)
    return Origin(run=run, node=node, rank=rank, local_rank=local_rank)


def _node(part: str) -> str | None:
    match = _NODE.search(part)
    if match is not None:
        return match[1]
    task = _SLURM_TASK.search(part)
    return task["node"] if task is not None and "rank" not in task["node"].lower() else None


def _number(pattern: "re.Pattern[str]", text: str) -> int | None:
    match = pattern.search(text)
    return int(match[1]) if match is not None else None
