"""Reads the GPUs through NVML and prints one JSON line a second: a process of its own, because the driver may hang.

A call into a wedged driver cannot be interrupted, not even by SIGKILL, so nobody who must stay alive makes
it. This file is started by path, imports nothing of ours, and is the only one that knows `pynvml`.
"""

import ctypes
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

import pynvml

NO_DRIVER = (pynvml.NVML_ERROR_DRIVER_NOT_LOADED, pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)
_GONE = (pynvml.NVML_ERROR_GPU_IS_LOST, 16, pynvml.NVML_ERROR_UNKNOWN)
"""Lost, needs a reset (16), or an answer that means nothing: the card, not the field, is the trouble."""
_NEVER = (pynvml.NVML_ERROR_NOT_SUPPORTED, pynvml.NVML_ERROR_FUNCTION_NOT_FOUND)
_WORDS = {
    pynvml.NVML_ERROR_DRIVER_NOT_LOADED: "no NVIDIA driver here",
    pynvml.NVML_ERROR_LIBRARY_NOT_FOUND: "no NVIDIA driver here",
    pynvml.NVML_ERROR_NO_PERMISSION: "NVML gives us no permission",
    pynvml.NVML_ERROR_GPU_IS_LOST: "GPU is lost",
    16: "GPU requires reset",
    pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH: "driver/library version mismatch: reboot or reload the driver",
    pynvml.NVML_ERROR_UNKNOWN: "unknown NVML error",
}
_KILLED_WITH_PARENT = 1
"""prctl(PR_SET_PDEATHSIG)."""


class Gpu:
    """One card, asked field by field: what one cannot say does not silence the others."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.problem: str | None = None
        self._never: set[str] = set()
        self._handle: Any = None
        try:
            self._handle = pynvml.nvmlDeviceGetHandleByIndex(index)
        except pynvml.NVMLError as error:
            self.problem = in_words(error)
        self._uuid = self._ask("uuid", pynvml.nvmlDeviceGetUUID)
        self._name = self._ask("name", pynvml.nvmlDeviceGetName)
        self._limit = self._ask("limit", pynvml.nvmlDeviceGetEnforcedPowerLimit)

    def read(self) -> dict[str, Any]:
        """Everything it can say now."""
        if self._handle is not None:
            self.problem = None
        use = self._ask("use", pynvml.nvmlDeviceGetUtilizationRates)
        memory = self._ask("memory2", lambda h: pynvml.nvmlDeviceGetMemoryInfo(h, pynvml.nvmlMemory_v2))
        if memory is None:
            memory = self._ask("memory", pynvml.nvmlDeviceGetMemoryInfo)
        power = self._ask("power", pynvml.nvmlDeviceGetPowerUsage)
        celsius = self._ask("temperature", lambda h: pynvml.nvmlDeviceGetTemperature(h, pynvml.NVML_TEMPERATURE_GPU))
        clock = self._ask("clock", lambda h: pynvml.nvmlDeviceGetClockInfo(h, pynvml.NVML_CLOCK_SM))
        processes = self._ask("processes", pynvml.nvmlDeviceGetComputeRunningProcesses)
        return {
            "gpu_index": self.index,
            "uuid": text(self._uuid),
            "name": text(self._name),
            "utilization_percent": None if use is None else float(use.gpu),
            "memory_used_bytes": None if memory is None else int(memory.used),
            "memory_total_bytes": None if memory is None else int(memory.total),
            "power_watts": None if power is None else power / 1000,
            "power_limit_watts": None if self._limit is None else self._limit / 1000,
            "temperature_c": celsius,
            "sm_clock_mhz": clock,
            "pids": None if processes is None else sorted({int(process.pid) for process in processes}),
            "problem": self.problem,
        }

    def _ask(self, name: str, call: Callable[[Any], Any]) -> Any:
        if self._handle is None or name in self._never:
            return None
        try:
            return call(self._handle)
        except pynvml.NVMLError as error:
            if error.value in _NEVER:
                self._never.add(name)
            elif error.value in _GONE:
                self.problem = self.problem or in_words(error)
        except (ValueError, OverflowError, UnicodeDecodeError) as nonsense:  # a driver's garbage
            self.problem = self.problem or f"{name}: {nonsense}"
        return None


def in_words(error: Any) -> str:
    """What an NVML error means to a person."""
    return _WORDS.get(error.value) or f"NVML says {text(str(error))}"


def text(value: Any) -> str | None:
    """Old bindings give bytes."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def say(**line: Any) -> None:
    """One line to the watcher."""
    sys.stdout.write(json.dumps(line, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def main(seconds: float) -> None:
    """Print a reading of every GPU each `seconds`, for ever; end when there is nothing to read."""
    ctypes.CDLL(None).prctl(_KILLED_WITH_PARENT, signal.SIGKILL)
    try:
        pynvml.nvmlInit()
        count = pynvml.nvmlDeviceGetCount()
        driver = text(pynvml.nvmlSystemGetDriverVersion())
    except pynvml.NVMLError as error:
        say(problem=in_words(error), no_driver=error.value in NO_DRIVER)
        return
    if not count:
        say(problem="no NVIDIA GPU here", no_driver=True)
        return
    gpus = [Gpu(index) for index in range(count)]
    parent = os.getppid()
    due = time.monotonic()
    while os.getppid() == parent:
        say(time=time.time(), driver=driver, gpus=[gpu.read() for gpu in gpus])
        due = max(due + seconds, time.monotonic())
        time.sleep(due - time.monotonic() if due > time.monotonic() else 0)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
