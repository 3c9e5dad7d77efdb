"""What `nvidia-smi` printed: its table, its long report, its errors. Errors are evidence too."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from diagnosis.observations import GpuSample

_ROW = re.compile(
    r"^\|\s{1,4}(?P<index>\d{1,3})\s{1,4}(?P<name>[^|]{1,60})\|\s{0,4}(?P<bus>[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d)"
)
_NUMBERS = re.compile(
    r"^\|\s{0,6}(?:N/A|\d{1,3}%|ERR!|\[N/A\])?\s{0,9}(?P<temperature>\d{1,3}C|N/A|ERR!)?\s{1,9}\S{0,6}\s{0,20}"
    r"(?P<power>[\d.]{1,8}W|N/A|ERR!)\s{0,3}/\s{0,3}(?P<limit>[\d.]{1,8}W|N/A|ERR!)\s{0,4}\|\s{0,12}"
    r"(?P<used>\d{1,8}MiB|N/A|GPU is lost|ERR!)(?:\s{0,3}/\s{0,3}(?P<total>\d{1,8}MiB))?\s{0,20}\|\s{0,12}"
    r"(?P<util>\d{1,3}%|N/A|ERR!)"
)
_PROCESS = re.compile(
    r"^\|\s{1,4}(?P<index>\d{1,3})\s{1,6}(?:\S{1,8}\s{1,6}\S{1,8}\s{1,6})?(?P<pid>\d{1,10})\s{1,6}[CGM+]{1,3}\s"
)
_PROBLEMS = (
    (
        re.compile(
            r"Unable to determine the device handle for (?:GPU|gpu) ?(?P<bus>[0-9A-Fa-f:.]{4,30}): [^\n]{1,120}"
        ),
        "lost",
    ),
    (re.compile(r"GPU is lost"), "lost"),
    (re.compile(r"Failed to query device index"), "lost"),
    (re.compile(r"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver"), "driver"),
    (re.compile(r"Failed to initialize NVML: (?P<text>[^\n]{1,120})"), "driver"),
    (re.compile(r"(?i)nvidia-smi[^\n]{0,40}(?:has not answered|did not answer|no answer|timed out)"), "silent"),
)
_ACTIVE = re.compile(
    r"^\s{4,40}(?P<reason>HW Slowdown|HW Thermal Slowdown|HW Power Brake Slowdown|SW Thermal Slowdown)\s{0,40}: Active"
)
_KEY = re.compile(r"^\s{0,40}(?P<key>[A-Za-z][\w .()/-]{1,60}?)\s{0,60}: (?P<value>[^\n]{1,120})$")
_GPU = re.compile(r"^GPU (?P<bus>[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d)")


@dataclass(frozen=True, slots=True)
class Note:
    """Something nvidia-smi said that is not a number: a lost GPU, a driver that does not answer, throttling."""

    what: str
    """lost, driver, silent, throttled, ecc, remapped."""
    line: int
    text: str
    bus: str | None = None
    gpu_index: int | None = None


@dataclass(frozen=True, slots=True)
class SmiReport:
    """One file."""

    samples: tuple[GpuSample, ...]
    notes: tuple[Note, ...]
    bus_of: tuple[tuple[int, str], ...]
    """GPU index and bus id, in order of the table."""
    rows: tuple[tuple[int, int, str], ...] = ()
    """GPU index, line number and text of the row that each sample was read from."""


def read_smi(lines: Iterable[str], node: str | None) -> SmiReport:
    """Samples and remarks of one `nvidia-smi` text."""
    samples: dict[int, GpuSample] = {}
    pids: dict[int, list[int]] = {}
    notes: list[Note] = []
    buses: list[tuple[int, str]] = []
    rows: list[tuple[int, int, str]] = []
    index: int | None = None
    bus: str | None = None
    section = ""
    for number, raw in enumerate(lines, 1):
        line = raw.rstrip()
        if row := _ROW.match(line):
            index = int(row["index"])
            buses.append((index, row["bus"]))
        elif index is not None and (numbers := _NUMBERS.match(line)):
            samples[index] = _sample(index, numbers, node)
            rows.append((index, number, line))
            index = None
        elif process := _PROCESS.match(line):
            pids.setdefault(int(process["index"]), []).append(int(process["pid"]))
        elif gpu := _GPU.match(line):
            bus = gpu["bus"]
        elif _ACTIVE.match(line):
            notes.append(Note("throttled", number, line, bus))
        elif key := _KEY.match(line):
            what = _remark(section, key["key"], key["value"].strip())
            if what is not None:
                notes.append(Note(what, number, line, bus))
        elif line.strip() and ":" not in line and not line.startswith("|"):
            section = line.strip()
        notes.extend(_problems(line, number))
    return SmiReport(
        tuple(_with_pids(sample, pids.get(place)) for place, sample in sorted(samples.items())),
        tuple(notes),
        tuple(buses),
        tuple(rows),
    )


def _problems(line: str, number: int) -> list[Note]:
    for pattern, what in _PROBLEMS:
        found = pattern.search(line)
        if found is not None:
            return [Note(what, number, line.strip(), found.groupdict().get("bus"))]
    return []


def _remark(section: str, key: str, value: str) -> str | None:
    """What a `key : value` line of the long report says that is worth a word."""
    if "ncorrectable" in key and "Aggregate" not in section and value.isdecimal() and int(value) > 0:
        return "ecc"
    if key.strip() in {"Remapping Failure Occurred", "Pending"} and value == "Yes":
        return "remapped"
    return None


def _sample(index: int, numbers: re.Match[str], node: str | None) -> GpuSample:
    used, total = numbers["used"], numbers["total"]
    return GpuSample(
        node=node or "",
        gpu_index=index,
        time=float("nan"),
        utilization_percent=_value(numbers["util"], "%"),
        memory_used_bytes=_mebibytes(used),
        memory_total_bytes=_mebibytes(total),
        power_watts=_value(numbers["power"], "W"),
        power_limit_watts=_value(numbers["limit"], "W"),
        problem=used if used == "GPU is lost" else ("ERR!" if "ERR!" in numbers.group() else None),
    )


def _with_pids(sample: GpuSample, pids: list[int] | None) -> GpuSample:
    if pids is None:
        return sample
    return GpuSample(
        **{name: getattr(sample, name) for name in GpuSample.__slots__ if name != "pids"}, pids=tuple(pids)
    )


def _value(text: str | None, unit: str) -> float | None:
    return float(text.removesuffix(unit)) if text and text.endswith(unit) else None


def _mebibytes(text: str | None) -> int | None:
    return int(text.removesuffix("MiB")) << 20 if text and text.endswith("MiB") else None
