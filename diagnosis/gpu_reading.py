"""What a node's GPUs were doing: utilisation, power, memory and process read together.

Utilisation alone misleads. A rank that waits inside an NCCL kernel reads 100 % at idle-like power, so in a hang
the victims look busy and the culprit looks idle. A value that the driver could not give is never read as 0.
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from diagnosis.observations import GpuSample

BUSY_PERCENT = 90.0
IDLE_PERCENT = 5.0
SPIN_SHARE = 0.15
"""A busy GPU whose power is this close above idle does no work."""
IDLE_SHARE = 0.25
"""Power below this share of the limit may be idle; half of it is the guess while idle power is not learnt."""
SPIN_WATTS = 160.0
"""A busy data-centre GPU that draws less than this only spins, where its limit is not known (SICHEK)."""
WORK_SHARE = 0.5
"""Above this share of the limit a busy GPU computes."""
FEW_SHARE = 1 / 3
"""At most this share of the GPUs may be called the odd ones."""
MIN_SAMPLES = 3
EMPTY_BYTES = 700 << 20
"""Less than a CUDA context: no process holds memory there."""


class GpuState(StrEnum):
    """What one GPU was doing over the window."""

    COMPUTING = "computes"
    SPINNING = "spins in a collective"
    BUSY = "is busy; without power nobody can tell work from waiting"
    IDLE = "idles with its memory held"
    EMPTY = "idles, and no process holds memory"
    MIXED = "works in bursts"
    LOST = "is lost"
    UNKNOWN = "gave no data"


class Pattern(StrEnum):
    """What all GPUs together show."""

    FEW_IDLE = "few idle, the rest busy"
    ALL_BUSY = "all busy"
    ALL_SPIN = "all spin at low power"
    ALL_IDLE = "all idle, memory held"
    ALL_EMPTY = "all idle and empty"
    LOST = "a GPU is lost"
    WORKING = "they work"
    UNCLEAR = "no clear pattern"
    NO_DATA = "no GPU data"


@dataclass(frozen=True, slots=True)
class GpuReading:
    """One GPU over the window."""

    gpu_index: int
    state: GpuState
    utilization_percent: float | None
    power_watts: float | None
    memory_used_bytes: int | None
    samples: int
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class NodeReading:
    """All GPUs of one node."""

    node: str | None
    pattern: Pattern
    gpus: tuple[GpuReading, ...]
    odd: tuple[int, ...] = ()
    """Indices of the idle or lost ones, where the pattern has some."""

    def sentence(self) -> str:
        """One sentence for a person: `7 GPUs at 100 %, GPU 5 at 0 %`."""
        where = f" on {self.node}" if self.node else ""
        total = len(self.gpus)
        if self.pattern is Pattern.FEW_IDLE:
            power = " at low power" if any(gpu.state is GpuState.SPINNING for gpu in self.gpus) else ""
            return f"{total - len(self.odd)} GPUs{where} stay at 100 %{power} while {_named(self.odd)} at 0 %"
        if self.pattern is Pattern.LOST:
            return f"{_named(self.odd)} lost{where}"
        words = {
            Pattern.ALL_SPIN: f"all {total} GPUs{where} spin at 100 % and low power: every rank waits in a collective",
            Pattern.ALL_BUSY: f"all {total} GPUs{where} stay at 100 %: without power this may be work or waiting",
            Pattern.ALL_IDLE: f"all {total} GPUs{where} idle at 0 % with their memory held: the host side is stuck",
            Pattern.ALL_EMPTY: f"all {total} GPUs{where} idle and empty: their processes are gone",
            Pattern.WORKING: f"the GPUs{where} work",
            Pattern.UNCLEAR: f"the GPUs{where} show no clear pattern",
            Pattern.NO_DATA: f"no GPU data{where}",
        }
        return words[self.pattern]


def read_gpu(samples: Sequence[GpuSample], idle_watts: float | None = None) -> GpuReading:
    """One GPU's state from its samples of the window, oldest first."""
    index = samples[0].gpu_index if samples else -1
    problem = next((sample.problem for sample in reversed(samples) if sample.problem), None)
    utils = [sample.utilization_percent for sample in samples if sample.utilization_percent is not None]
    powers = [sample.power_watts for sample in samples if sample.power_watts is not None]
    used = [sample.memory_used_bytes for sample in samples if sample.memory_used_bytes is not None]
    util = statistics.median(utils) if utils else None
    power = statistics.median(powers) if powers else None
    memory = int(statistics.median(used)) if used else None
    state = _state(samples[-1], utils, power, memory, idle_watts) if samples else GpuState.UNKNOWN
    state = GpuState.LOST if _fails_to_answer(samples) else state
    return GpuReading(index, state, util, power, memory, len(samples), problem)


def read_node(
    samples: Mapping[int, Sequence[GpuSample]],
    *,
    node: str | None = None,
    idle_watts: Mapping[int, float] | None = None,
    missing: Iterable[int] = (),
) -> NodeReading:
    """The pattern of a node's GPUs; `missing` are indices that were there before and are no longer listed."""
    learnt = idle_watts or {}
    gpus = [read_gpu(samples[index], learnt.get(index)) for index in sorted(samples) if samples[index]]
    gpus += [
        GpuReading(index, GpuState.LOST, None, None, None, 0, "no longer listed") for index in sorted(set(missing))
    ]
    gpus.sort(key=lambda gpu: gpu.gpu_index)
    pattern, odd = _pattern(gpus)
    return NodeReading(node, pattern, tuple(gpus), odd)


def newest_window(samples: Sequence[GpuSample], seconds: float = 600.0) -> list[GpuSample]:
    """The newest samples over which a GPU's state is judged: at least three, at most `seconds`."""
    if not samples:
        return []
    end = samples[-1].time
    recent = [sample for sample in samples if not sample.time < end - seconds]
    return list(recent if len(recent) >= MIN_SAMPLES else samples[-MIN_SAMPLES:])


def steady_since(samples: Sequence[GpuSample]) -> float | None:
    """Since when a GPU has stayed at 100 % or at 0 % without a break, up to the newest sample."""
    since = None
    side = None
    for sample in reversed(samples):
        util = sample.utilization_percent
        if util is None:
            continue
        here = "busy" if util >= 99.0 else "idle" if util <= IDLE_PERCENT else None
        if here is None or (side is not None and here != side):
            break
        side, since = here, sample.time
    return since


def _fails_to_answer(samples: Sequence[GpuSample]) -> bool:
    """The driver reports an error instead of every value, again and again: the GPU is there in name only."""
    newest = samples[-MIN_SAMPLES:]
    return len(newest) == MIN_SAMPLES and all(
        sample.problem is not None
        and (sample.utilization_percent, sample.power_watts, sample.memory_used_bytes) == (None, None, None)
        for sample in newest
    )


def _state(
    newest: GpuSample, utils: Sequence[float], power: float | None, memory: int | None, idle_watts: float | None
) -> GpuState:
    if newest.problem is not None and "lost" in newest.problem.lower() and newest.utilization_percent is None:
        return GpuState.LOST
    if len(utils) < MIN_SAMPLES:
        return GpuState.UNKNOWN
    if min(utils) >= BUSY_PERCENT:
        return _busy(newest, power, idle_watts)
    if max(utils) <= IDLE_PERCENT:
        has_process = newest.pids is None or bool(newest.pids)
        is_empty = (memory is not None and memory < EMPTY_BYTES) or not has_process
        return GpuState.EMPTY if is_empty else GpuState.IDLE
    low = sum(util <= IDLE_PERCENT for util in utils)
    return GpuState.MIXED if low * 5 >= len(utils) else GpuState.COMPUTING


def _busy(newest: GpuSample, power: float | None, idle_watts: float | None) -> GpuState:
    if power is None:
        return GpuState.BUSY
    limit = newest.power_limit_watts
    if limit is None:
        return GpuState.SPINNING if power < SPIN_WATTS else GpuState.BUSY
    idle = limit * IDLE_SHARE / 2 if idle_watts is None else idle_watts
    if power <= idle + SPIN_SHARE * (limit - idle):
        return GpuState.SPINNING
    return GpuState.COMPUTING if power >= WORK_SHARE * limit else GpuState.BUSY


def _pattern(gpus: Sequence[GpuReading]) -> tuple[Pattern, tuple[int, ...]]:
    known = [gpu for gpu in gpus if gpu.state is not GpuState.UNKNOWN]
    if not known:
        return Pattern.NO_DATA, ()
    lost = tuple(gpu.gpu_index for gpu in known if gpu.state is GpuState.LOST)
    if lost:
        return Pattern.LOST, lost
    idle = tuple(gpu.gpu_index for gpu in known if gpu.state in {GpuState.IDLE, GpuState.EMPTY})
    busy = [gpu for gpu in known if gpu.state in {GpuState.SPINNING, GpuState.BUSY}]
    if len(idle) == len(known):
        is_empty = all(gpu.state is GpuState.EMPTY for gpu in known)
        return (Pattern.ALL_EMPTY if is_empty else Pattern.ALL_IDLE), ()
    if len(busy) == len(known):
        spins = all(gpu.state is GpuState.SPINNING for gpu in busy)
        return (Pattern.ALL_SPIN if spins else Pattern.ALL_BUSY), ()
    if idle and len(busy) + len(idle) == len(known) and len(idle) <= FEW_SHARE * len(known):
        return Pattern.FEW_IDLE, idle
    working = sum(gpu.state in {GpuState.COMPUTING, GpuState.MIXED} for gpu in known)
    return (Pattern.WORKING if working * 2 > len(known) else Pattern.UNCLEAR), ()


def _named(indices: Sequence[int]) -> str:
    if len(indices) == 1:
        return f"GPU {indices[0]} is"
    return f"GPUs {', '.join(map(str, indices[:8]))}{' …' if len(indices) > 8 else ''} are"
