"""GPU samples from a csv: nvidia-smi's own, or anybody's with a header that can be understood."""

import math
import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from diagnosis.observations import GpuSample

TimeParser = Callable[[str], float | None]
"""Reads a time of day and date as Unix seconds; None: cannot."""

KEPT_PER_GPU = 4096
"""Newest samples kept of each GPU."""
MAX_GPUS = 4096

_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "time": ("timestamp", "time", "datetime", "date", "ts"),
    "node": ("node", "host", "hostname"),
    "index": ("index", "gpu", "gpu_index", "gpuindex", "gpu_id", "id", "device", "minor"),
    "util": ("utilization.gpu", "util", "gpu_util", "utilization", "utilization_percent", "sm", "gpu_utilization",
             "util_pct", "dcgm_fi_dev_gpu_util"),
    "used": ("memory.used", "mem_used_mib", "mem_used", "memory_used", "memory_used_bytes", "fb", "mem",
             "memory_used_mib", "used", "memory", "dcgm_fi_dev_fb_used"),
    "total": ("memory.total", "mem_total_mib", "memory_total", "memory_total_bytes", "memory_total_mib"),
    "power": ("power.draw", "power", "power_w", "power_watts", "pwr", "power.draw.instant", "power_draw",
              "dcgm_fi_dev_power_usage"),
    "limit": ("power.limit", "power_limit", "power_limit_watts", "enforced.power.limit", "power_limit_w"),
    "temperature": ("temperature.gpu", "temperature", "temp", "temp_c", "temperature_c", "gtemp"),
    "clock": ("clocks.sm", "clocks.current.sm", "sm_clock", "sm_clock_mhz", "clocks.gr", "pclk"),
    "uuid": ("uuid", "gpu_uuid"),
}  # fmt: skip
_NAMES = {name: column for column, names in _COLUMNS.items() for name in names}
_PLAIN = re.compile(r"\d{1,20}(?:\.\d{1,9})?")
MOST_SECONDS = 1e11
_UNIT = re.compile(r"\s*\[[^\]]{0,20}\]")
_NUMBER = re.compile(r"\s*(-?\d{1,18}(?:\.\d{1,9})?)\s*(MiB|GiB|KiB|MB|GB|B|%|W|MHz|C)?\s*$")
_SCALE = {"GiB": 1 << 30, "MiB": 1 << 20, "KiB": 1 << 10, "GB": 10**9, "MB": 10**6, "B": 1}
_TELLS = ("lost", "ERR", "reset", "Unknown Error")


@dataclass(frozen=True, slots=True)
class Reading:
    """One row: the sample and where it stands."""

    sample: GpuSample
    line: int | None
    """None: it was asked of a living node."""
    text: str


@dataclass(frozen=True, slots=True)
class GpuTable:
    """All GPUs of one node, newest samples last."""

    node: str | None
    readings: Mapping[int, tuple[Reading, ...]]

    @property
    def newest_time(self) -> float | None:
        """When the last sample was taken."""
        times = [rows[-1].sample.time for rows in self.readings.values() if rows]
        known = [time for time in times if not math.isnan(time)]
        return max(known, default=None)


def columns_of(header: str) -> dict[str, int] | None:
    """Which column holds what, or None when this is no header of GPU samples."""
    names = [_UNIT.sub("", cell).strip().strip('"').lower() for cell in header.split(",")]
    found: dict[str, int] = {}
    for place, name in enumerate(names):
        column = _NAMES.get(name)
        if column is not None:
            found.setdefault(column, place)
    is_table = "index" in found and ("util" in found or ("used" in found and "power" in found))
    return found if is_table else None


def _memory_unit(header: str) -> int:
    words = header.lower()
    if "bytes" in words:
        return 1
    return 1 << 30 if "gib" in words and "mib" not in words else 1 << 20


def read_gpu_table(lines: Iterable[str], node: str | None, parse_time: TimeParser) -> dict[str | None, GpuTable]:
    """Tables by node; a file without a node column has one, under the node its name gives."""
    columns: dict[str, int] | None = None
    unit = 1 << 20
    kept: dict[str | None, dict[int, deque[Reading]]] = {}
    for number, raw in enumerate(lines, 1):
        line = raw.rstrip("\r\n")
        header = columns_of(line)
        if header is not None:
            columns, unit = header, _memory_unit(line)
            continue
        if columns is None:
            continue
        sample = _sample(line.split(","), columns, unit, node, parse_time)
        if sample is None:
            continue
        reading = Reading(sample, number, line)
        place = reading.sample.node or None
        table = kept.setdefault(place, {})
        index = reading.sample.gpu_index
        if index in table or len(table) < MAX_GPUS:
            table.setdefault(index, deque(maxlen=KEPT_PER_GPU)).append(reading)
    return {
        place: GpuTable(place, {index: tuple(rows) for index, rows in sorted(table.items())})
        for place, table in kept.items()
    }


def _sample(
    cells: list[str], columns: Mapping[str, int], unit: int, node: str | None, parse_time: TimeParser
) -> GpuSample | None:
    if len(cells) <= columns["index"]:
        return None
    index = _number(cells[columns["index"]].strip().strip('"').removeprefix("GPU").strip())
    if index is None or index < 0 or index != int(index):
        return None

    def cell(column: str) -> str:
        place = columns.get(column)
        return cells[place].strip().strip('"') if place is not None and place < len(cells) else ""

    problem = next((text for text in map(str.strip, cells) if any(word in text for word in _TELLS)), None)
    time = _time(cell("time"), parse_time)
    power, limit, used, total = _number(cell("power")), _number(cell("limit")), cell("used"), cell("total")
    temperature, clock = _number(cell("temperature")), _number(cell("clock"))
    return GpuSample(
        node=cell("node") or node or "",
        gpu_index=int(index),
        time=math.nan if time is None else time,
        uuid=cell("uuid") or None,
        utilization_percent=_number(cell("util")),
        memory_used_bytes=_bytes(used, unit),
        memory_total_bytes=_bytes(total, unit),
        power_watts=power,
        power_limit_watts=limit,
        temperature_c=None if temperature is None else int(temperature),
        sm_clock_mhz=None if clock is None else int(clock),
        problem=problem.strip("[]") if problem else None,
    )


def _time(text: str, parse_time: TimeParser) -> float | None:
    """A stamp, or Unix seconds, milliseconds or nanoseconds as programs write them."""
    if _PLAIN.fullmatch(text) is None:
        return parse_time(text) if text else None
    value = float(text)
    while value > MOST_SECONDS:
        value /= 1e3
    return value


def _number(text: str) -> float | None:
    """A value with or without its unit; anything in brackets is no reading."""
    found = _NUMBER.match(text)
    return float(found[1]) if found else None


def _bytes(text: str, unit: int) -> int | None:
    found = _NUMBER.match(text)
    if found is None:
        return None
    return int(float(found[1]) * _SCALE.get(found[2] or "", unit))
