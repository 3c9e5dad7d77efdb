"""What the GPU samples of a case show, and whose GPU is the odd one."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from diagnosis.case import Case, CaseFile
from diagnosis.exhibits import GpuTable
from diagnosis.exhibits.gpu_table import Reading
from diagnosis.gpu_reading import (
    BUSY_PERCENT,
    EMPTY_BYTES,
    FEW_SHARE,
    IDLE_PERCENT,
    MIN_SAMPLES,
    NodeReading,
    Pattern,
    newest_window,
    read_node,
    steady_since,
)
from diagnosis.observations import Category, Evidence, GpuSample
from diagnosis.root_cause.cluster import Cluster
from diagnosis.root_cause.lead import Hint, said

FROZEN_SECONDS = 60.0
"""A pattern that holds for less says nothing."""


@dataclass(frozen=True, slots=True)
class NodeGpus:
    """One node's GPUs at the end of the samples."""

    file: CaseFile
    table: GpuTable
    reading: NodeReading
    node: str | None

    @property
    def frozen_since(self) -> float | None:
        """Since when every GPU has stayed on its side."""
        times = [steady_since([row.sample for row in rows]) for rows in self.table.readings.values() if rows]
        known = [time for time in times if time is not None and not math.isnan(time)]
        return max(known) if known and len(known) == len(times) else None

    @property
    def is_frozen(self) -> bool:
        """True when nothing has moved for a while."""
        since, newest = self.frozen_since, self.table.newest_time
        if since is None:
            return False
        return newest is None or newest - since >= FROZEN_SECONDS

    def evidence(self, gpu_index: int) -> Evidence:
        """The newest row of a GPU."""
        row: Reading = self.table.readings[gpu_index][-1]
        return Evidence(self.file.path, row.line, row.text)


def read_gpus(case: Case, cluster: Cluster) -> list[NodeGpus]:
    """Every node whose samples are among the files."""
    found = []
    for file in case.of_kind("gpu_samples"):
        for table in file.gpus:
            node = table.node or cluster.node_of_file(file)
            seen = NodeGpus(file, table, _read(table, node), node)
            if seen.reading.pattern is not Pattern.NO_DATA:
                found.append(seen)
    return found


def hints(gpus: list[NodeGpus], cluster: Cluster) -> Iterator[Hint]:
    """The victims look busy, the culprit looks idle; a GPU that is gone explains itself."""
    for node in gpus:
        reading = node.reading
        if reading.pattern is Pattern.LOST:
            index = reading.odd[0]
            ranks = _ranks(reading.odd, node, cluster)
            if not ranks and cluster.is_whole_run(len(reading.gpus)):
                ranks = reading.odd
            evidence = node.evidence(index) if index in node.table.readings else Evidence(node.file.path, None, "")
            yield Hint(ranks, 9, said(evidence, reading.sentence()), evidence, node.node, Category.GPU_HARDWARE)
        elif reading.pattern is Pattern.FEW_IDLE and node.is_frozen:
            ranks = _ranks(reading.odd, node, cluster)
            never = [index for index in reading.odd if _never_worked(node.table, index)]
            if not ranks and never:
                continue  # more GPUs than ranks: these are nobody's
            if not ranks and cluster.is_whole_run(len(reading.gpus)):
                ranks = reading.odd
            evidence = node.evidence(reading.odd[0])
            yield Hint(ranks, 6, said(evidence, reading.sentence()), evidence, node.node)
    yield from _odd_node(gpus, cluster)


def _never_worked(table: GpuTable, gpu_index: int) -> bool:
    """Idle and empty in every sample."""
    samples = [row.sample for row in table.readings.get(gpu_index, ())]
    return all(
        (sample.utilization_percent or 0.0) <= IDLE_PERCENT
        and sample.memory_used_bytes is not None
        and sample.memory_used_bytes < EMPTY_BYTES
        for sample in samples
    )


def _odd_node(gpus: list[NodeGpus], cluster: Cluster) -> Iterator[Hint]:
    """The GPUs of one node idle while those of all other nodes wait for them."""
    idle = [node for node in gpus if node.reading.pattern in {Pattern.ALL_EMPTY, Pattern.ALL_IDLE}]
    busy = [node for node in gpus if node.reading.pattern in {Pattern.ALL_BUSY, Pattern.ALL_SPIN}]
    if len(idle) != 1 or not busy or len(busy) + 1 < len(gpus) or not all(node.is_frozen for node in gpus):
        return
    odd = idle[0]
    evidence = odd.evidence(next(iter(odd.table.readings)))
    is_gone = odd.reading.pattern is Pattern.ALL_EMPTY
    ranks = cluster.ranks_on(odd.node) if odd.node is not None else ()
    text = f"{odd.reading.sentence()}, while the GPUs of {len(busy)} other node(s) stay at 100 %"
    yield Hint(
        ranks if len(ranks) > 1 else (),
        7,
        said(evidence, text),
        evidence,
        odd.node,
        Category.NODE_LOST if is_gone else None,
    )


def snapshot_hints(case: Case, cluster: Cluster) -> Iterator[Hint]:
    """One look at the GPUs is a single moment: it supports what else is known, and proves nothing alone."""
    for file, seen in _looks(case):
        known = [item for item in seen if item.sample.utilization_percent is not None]
        idle = [item for item in known if (item.sample.utilization_percent or 0.0) <= IDLE_PERCENT]
        busy = [item for item in known if (item.sample.utilization_percent or 0.0) >= BUSY_PERCENT]
        if not idle or len(idle) > len(known) * FEW_SHARE or len(idle) + len(busy) < len(known):
            continue
        node = cluster.node_of_file(file) or idle[0].sample.node or None
        is_one_each = _is_one_each(len(known), len(known), node, cluster)
        ranks = {_rank_on(item.sample, node, cluster, is_one_each=is_one_each) for item in idle}
        evidence = Evidence(file.path, idle[0].line, idle[0].text)
        told = f"{len(busy)} GPUs are busy while {len(idle)} idle at that moment, GPU {idle[0].sample.gpu_index} first"
        named = tuple(sorted(rank for rank in ranks if rank is not None))
        yield Hint(named if None not in ranks else (), 4, said(evidence, told), evidence, node)


def _looks(case: Case) -> Iterator[tuple[CaseFile, list[Reading]]]:
    """Reports of nvidia-smi, and tables too short to show a state."""
    for file in case.of_kind("nvidia_smi"):
        if file.smi is not None:
            rows = {index: (line, text) for index, line, text in file.smi.rows}
            yield file, [Reading(sample, *rows[sample.gpu_index]) for sample in file.smi.samples]
    for file in case.of_kind("gpu_samples"):
        for table in file.gpus:
            if all(len(rows) < MIN_SAMPLES for rows in table.readings.values()):
                yield file, [rows[-1] for rows in table.readings.values() if rows]


def _rank_on(sample: GpuSample, node: str | None, cluster: Cluster, *, is_one_each: bool) -> int | None:
    """By the process on the GPU, or else by its place."""
    by_pid = {cluster.by_pid(pid, node) for pid in sample.pids or ()} - {None}
    if len(by_pid) == 1:
        return by_pid.pop()
    return cluster.by_gpu(sample.gpu_index, node) if is_one_each else None


def _ranks(indices: tuple[int, ...], node: NodeGpus, cluster: Cluster) -> tuple[int, ...]:
    worked = [index for index in node.table.readings if not _never_worked(node.table, index)]
    if not _is_one_each(len(node.table.readings), len(worked), node.node, cluster):
        return ()
    found = [cluster.by_gpu(index, node.node) for index in indices]
    return tuple(rank for rank in found if rank is not None)


def _is_one_each(gpus: int, worked: int, node: str | None, cluster: Cluster) -> bool:
    """False where a node has more ranks than GPUs, or far fewer than GPUs that worked: some are another job's."""
    ranks = len(cluster.ranks_on(node)) if node is not None else len(cluster.ranks)
    return ranks <= gpus and not (cluster.is_one_node() and cluster.ranks and cluster.size * 3 < worked * 2)


def _read(table: GpuTable, node: str | None) -> NodeReading:
    newest = table.newest_time
    samples: dict[int, list[GpuSample]] = {}
    missing = []
    for index, rows in table.readings.items():
        own = [row.sample for row in rows]
        if newest is not None and own and _is_gone(own, newest):
            missing.append(index)
            continue
        samples[index] = newest_window(own)
    return read_node(samples, node=node, missing=missing)


def _is_gone(samples: list[GpuSample], newest: float) -> bool:
    """A GPU whose samples stop while the others' go on is no longer listed."""
    if len(samples) < MIN_SAMPLES:
        return False
    gaps = [after.time - before.time for before, after in pairwise(samples)]
    usual = sorted(gaps)[len(gaps) // 2]
    return usual > 0 and newest - samples[-1].time > 3 * usual
