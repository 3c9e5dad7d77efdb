"""The readings of all GPUs of a run in the last minutes, on one clock, with the ranks that run on them."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from diagnosis.node_facts import NodeFacts
from diagnosis.observations import GpuSample
from diagnosis.stall import Outcome
from handlers.ask_nodes import Asked
from handlers.explaining import facts_of
from handlers.standing import Picture

MOST_SAMPLES = 40_000
"""In all; with more GPUs each has fewer."""
FEWEST = 2
_STANDING = frozenset({Outcome.STALLED, Outcome.RUN_DOWN})


@dataclass(frozen=True, slots=True)
class GpuHistory:
    """What the chart of the GPUs is drawn from."""

    samples: tuple[GpuSample, ...]
    ranks: Mapping[tuple[str, int], int]
    """(node, GPU) → the global rank on it."""
    stopped_at: float | None
    """The last progress of a run that stands."""


def gpu_history(nodes: Asked, picture: Picture) -> GpuHistory:
    """Everything the nodes told of their GPUs; no samples where there is no course to be seen."""
    told = facts_of(nodes).values()
    by_gpu: dict[tuple[str, int], list[GpuSample]] = defaultdict(list)
    for facts in told:
        for sample in facts.gpus:
            corrected = replace(sample, time=sample.time - facts.clock_offset_seconds)
            by_gpu[facts.node, sample.gpu_index].append(corrected)
    if not any(len(samples) >= FEWEST for samples in by_gpu.values()):
        return GpuHistory((), {}, None)
    each = max(FEWEST, MOST_SAMPLES // len(by_gpu))
    kept = tuple(sample for samples in by_gpu.values() for sample in _thinned(samples, each))
    progressed = [one.progressed_at for one in picture.ranks if one.progressed_at is not None]
    stopped_at = max(progressed) if progressed and picture.outcome in _STANDING else None
    return GpuHistory(kept, _ranks(list(told), picture), stopped_at)


def _thinned(samples: list[GpuSample], most: int) -> list[GpuSample]:
    """Every so many, and the newest."""
    step = -(-len(samples) // most)
    return samples if step <= 1 else [*samples[:-1:step], samples[-1]]


def _ranks(told: list[NodeFacts], picture: Picture) -> dict[tuple[str, int], int]:
    """By the process on a GPU, else by the local rank, which is the GPU's number by convention."""
    found: dict[tuple[str, int], int] = {}
    for one in picture.ranks:
        origin = one.origin
        if origin.node is not None and origin.rank is not None and origin.local_rank is not None:
            found[origin.node, origin.local_rank] = origin.rank
    for facts in told:
        ranks = {process.pid: process.rank for process in facts.processes if process.rank is not None}
        for sample in facts.gpus:
            for pid in sample.pids or ():
                if pid in ranks:
                    found[facts.node, sample.gpu_index] = ranks[pid]
    return found
