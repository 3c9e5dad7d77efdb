"""NVIDIA's Xid numbers: what each means, whose fault it is first, and what NVIDIA says to do.

From NVIDIA's catalogue (docs.nvidia.com/deploy/xid-errors) through leptonai/gpud's copy, with our own rulings.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from diagnosis.observations import Category, Role


class Fault(StrEnum):
    """Whose fault an Xid is, before more is known."""

    PROGRAM = "program"
    HARDWARE = "hardware"
    LINK = "link"
    INFORMATION = "information"
    FOLLOWS = "follows"


@dataclass(frozen=True, slots=True)
class Xid:
    """One number of the catalogue."""

    meaning: str
    fault: Fault
    action: str


_P, _H, _L, _I = Fault.PROGRAM, Fault.HARDWARE, Fault.LINK, Fault.INFORMATION
_RESTART, _RESET, _IGNORE = "restart the program", "reset the GPU", "watch it: by itself it is nothing"

XIDS: Mapping[int, Xid] = {
    8: Xid("GPU stopped processing (channel timeout)", _P, _RESTART),
    11: Xid("invalid or corrupted push buffer stream", _P, _RESTART),
    13: Xid("graphics engine exception (out-of-range address in a kernel)", _P, _RESTART),
    25: Xid("invalid or illegal push buffer", _P, _RESTART),
    31: Xid("GPU memory page fault", _P, _RESTART),
    32: Xid("corrupted push buffer (PCIe quality or the program)", _P, _RESTART),
    37: Xid("driver firmware error", _I, _IGNORE),
    38: Xid("driver firmware error (watchdog)", _H, _IGNORE),
    43: Xid("the program hit a software fault", _P, _IGNORE),
    44: Xid("graphics engine fault during context switch", _H, _IGNORE),
    45: Xid("cleanup after an earlier error", Fault.FOLLOWS, "follow the other Xid"),
    46: Xid("GPU stopped processing (timeout)", _H, _RESET),
    48: Xid("double-bit (uncorrectable) ECC error", _H, "drain the node and reset the GPU"),
    54: Xid("auxiliary power is not connected", _H, "check the power cables"),
    60: Xid("video processor exception", _P, _RESTART),
    62: Xid("internal micro-controller halt", _H, _RESET),
    63: Xid("a memory row was marked for remapping", _I, "reset the GPU at the next window"),
    64: Xid("row remapping FAILED", _H, "reset the GPU; replace it if it returns"),
    66: Xid("illegal access by the driver", _P, _IGNORE),
    67: Xid("illegal access by the driver", _P, _IGNORE),
    69: Xid("graphics engine class error", _P, _RESTART),
    74: Xid("NVLink error", _L, "find the link and its peer; check connector and switch"),
    78: Xid("vGPU start error", _I, "update driver and firmware"),
    79: Xid("GPU has fallen off the bus", _H, "restart the machine; check power, heat and seating"),
    80: Xid("corrupted data sent to the GPU", _P, _RESTART),
    92: Xid("high single-bit ECC rate", _I, "watch it"),
    93: Xid("InfoROM wear limit", _I, _IGNORE),
    94: Xid("contained memory error", _H, "restart the program; reset the GPU when idle"),
    95: Xid("uncontained memory error", _H, "drain the node now and reset the GPU"),
    109: Xid("context switch timeout", _H, _RESET),
    110: Xid("security fault", _H, _RESET),
    119: Xid("GPU firmware (GSP) does not answer", _H, "reset the GPU; update the driver"),
    120: Xid("GPU firmware (GSP) error", _H, "reset the GPU; update the driver"),
    121: Xid("chip-to-chip link error", _I, _IGNORE),
    136: Xid("link training failed", _L, _RESET),
    137: Xid("NVLink privilege error", _L, _IGNORE),
    140: Xid("unrecovered ECC error", _H, _RESET),
    141: Xid("CUDA fast path error", _I, _IGNORE),
    143: Xid("GPU initialisation error", _H, _RESET),
    151: Xid("key rotation error", _H, "restart the virtual machine"),
    154: Xid("the driver's recovery action changed", _I, "do what the line says; the cause is the Xid before it"),
    155: Xid("NVLink software error", _L, _RESET),
    156: Xid("resource retirement", _H, _RESET),
    157: Xid("resource retirement failed", _H, "ask NVIDIA support"),
    158: Xid("GPU fatal timeout", _H, _RESET),
    159: Xid("CHI non-data error", _H, "ask NVIDIA support"),
    160: Xid("channel retirement", _H, "ask NVIDIA support"),
    161: Xid("channel retirement failed", _H, "ask NVIDIA support"),
    167: Xid("PCIe fatal timeout", _H, "restart the machine"),
    168: Xid("reduced GPU memory capacity", _H, "ask NVIDIA support"),
    169: Xid("SEC2 micro-controller halt", _H, _RESET),
    171: Xid("uncorrectable DRAM error", _H, "drain the node and reset the GPU"),
    172: Xid("uncorrectable SRAM error", _H, "drain the node and reset the GPU"),
}

_COPY_ENGINE = Xid("copy engine exception", _P, _RESTART)
_MEDIA_ENGINE = Xid("video or image engine error", _P, _RESTART)
_NVLINK5 = Xid("NVLink error", _L, "decode it; fatal: reset and drain, non-fatal: watch the trend")
_POWER = Xid("power smoothing state", _I, _IGNORE)
_UNKNOWN = Xid("an Xid we have no words for", _I, "look it up in NVIDIA's catalogue")

_PREVIOUS = re.compile(r"previous Xid (\d{1,4})")
"""What an Xid that only follows says of the one before it."""

_MEMORY_WEAR = frozenset({63, 92})
"""Information by themselves, and yet telling beside a NaN of that GPU."""


def xid_of(number: int) -> Xid:
    """What is known of an Xid; also for numbers of whole families."""
    if number in XIDS:
        return XIDS[number]
    if number in range(39, 42) or number in {70, 71, 72, 75, 76, 77, 85} or number in range(126, 136):
        return _COPY_ENGINE
    if number in {68, 82, 83, 84, 86, 88, 89, 139} or number in range(96, 106):
        return _MEDIA_ENGINE
    if number in range(144, 151):
        return _NVLINK5
    if number in range(162, 166):
        return _POWER
    return _UNKNOWN


def ruling_of_xid(fields: Mapping[str, str]) -> tuple[Role, Category]:
    """Hardware first for hardware and links; the program first where only its own fault is likely."""
    number = int(fields.get("xid", "0"))
    xid = xid_of(number)
    if xid.fault in {Fault.HARDWARE, Fault.LINK}:
        is_trend = "Nonfatal" in fields.get("text", "") and number in range(144, 151)
        return (Role.CONTEXT if is_trend else Role.ROOT), Category.GPU_HARDWARE
    if xid.fault is Fault.FOLLOWS:
        before = _PREVIOUS.search(fields.get("text", ""))
        is_of_hardware = before is not None and xid_of(int(before[1])).fault in {Fault.HARDWARE, Fault.LINK}
        return (Role.CONFIRM if is_of_hardware else Role.CASCADE), Category.GPU_HARDWARE
    if xid.fault is Fault.PROGRAM:
        return Role.CONFIRM, Category.RANK_CRASH
    return Role.CONTEXT, (Category.GPU_HARDWARE if number in _MEMORY_WEAR else Category.NONE)
