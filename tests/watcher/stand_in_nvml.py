"""A stand-in for libnvidia-ml.so.1 below the real pynvml: no GPU, no compiler, the binding's own code runs.

pynvml calls `nvmlLib.<symbol>(...)` with ctypes arguments, and an object with Python callables serves as
well as a loaded library. A value may be an NVML error code, or a callable (which may block for ever);
`missing` names symbols that an old driver lacks. Run as a script it is the GPU child over a scene by name.
"""

# The functions bear the names of the C library.
# ruff: noqa: N802, N815

import ctypes
import sys
import time

import pynvml

G = 1 << 30


class Library:
    """One driver with its cards, each a dict of what it says."""

    def __init__(self, cards=(), *, init=0, missing=()):
        self.cards, self.init, self.missing = list(cards), init, set(missing)

    def __getattr__(self, name):
        if name.startswith("_") or name in self.missing or f"f_{name}" not in dir(type(self)):
            raise AttributeError(name)  # as ctypes does for an absent symbol
        return getattr(self, f"f_{name}")

    def card(self, handle):
        return self.cards[ctypes.cast(handle, ctypes.c_void_p).value - 1]

    def value(self, handle, key):
        said = self.card(handle).get(key, pynvml.NVML_ERROR_NOT_SUPPORTED)
        said = said() if callable(said) else said
        return (0, said[0] if len(said) == 1 else said) if isinstance(said, tuple) else (said, None)

    def number(self, handle, key, target):
        code, said = self.value(handle, key)
        if not code:
            target._obj.value = said
        return code

    def f_nvmlInitWithFlags(self, flags):
        return self.init

    def f_nvmlErrorString(self, code):
        return b"error %d" % code

    def f_nvmlSystemGetDriverVersion(self, buffer, size):
        buffer.value = b"580.95.05"
        return 0

    def f_nvmlDeviceGetCount_v2(self, target):
        target._obj.value = len(self.cards)
        return 0

    def f_nvmlDeviceGetHandleByIndex_v2(self, index, target):
        index = getattr(index, "value", index)
        code = self.cards[index].get("handle", 0)
        if not code:
            ctypes.cast(target, ctypes.POINTER(ctypes.c_void_p))[0] = index + 1
        return code

    def f_nvmlDeviceGetUUID(self, handle, buffer, size):
        buffer.value = self.card(handle)["uuid"].encode()
        return 0

    def f_nvmlDeviceGetName(self, handle, buffer, size):
        buffer.value = b"NVIDIA H100 80GB HBM3"
        return 0

    def f_nvmlDeviceGetUtilizationRates(self, handle, target):
        code, said = self.value(handle, "use")
        if not code:
            target._obj.gpu, target._obj.memory = said
        return code

    def f_nvmlDeviceGetMemoryInfo(self, handle, target):
        code, said = self.value(handle, "memory")
        if not code:
            target._obj.total, target._obj.used, target._obj.free = said
        return code

    f_nvmlDeviceGetMemoryInfo_v2 = f_nvmlDeviceGetMemoryInfo

    def f_nvmlDeviceGetTemperature(self, handle, sensor, target):
        return self.number(handle, "celsius", target)

    def f_nvmlDeviceGetPowerUsage(self, handle, target):
        return self.number(handle, "milliwatts", target)

    def f_nvmlDeviceGetEnforcedPowerLimit(self, handle, target):
        return self.number(handle, "limit", target)

    def f_nvmlDeviceGetClockInfo(self, handle, kind, target):
        return self.number(handle, "clock", target)

    def f_nvmlDeviceGetComputeRunningProcesses_v3(self, handle, count, array):
        code, pids = self.value(handle, "pids")
        if code:
            return code
        pids = (pids,) if isinstance(pids, int) else pids
        if array is None or count._obj.value < len(pids):
            count._obj.value = len(pids)
            return pynvml.NVML_ERROR_INSUFFICIENT_SIZE if pids else 0
        for at, pid in enumerate(pids):
            array[at].pid, array[at].usedGpuMemory = pid, pynvml.NVML_VALUE_NOT_AVAILABLE_ulonglong.value
        count._obj.value = len(pids)
        return 0


def card(number, **changes):
    """A healthy, busy card."""
    healthy = {
        "uuid": f"GPU-{number}",
        "use": (97, 40),
        "memory": (80 * G, 61 * G, 19 * G),
        "celsius": (55,),
        "milliwatts": (612_000,),
        "limit": (700_000,),
        "clock": (1755,),
        "pids": (1,),
    }
    return healthy | changes


def hang():
    """A call into a wedged driver."""
    time.sleep(3600)


def after(seconds, then, before):
    """A value that changes so long after the start."""
    began = time.monotonic()
    return lambda: then() if time.monotonic() - began > seconds else before


SCENES = {
    "healthy": lambda: Library([card(number) for number in range(8)]),
    "no driver": lambda: Library(init=pynvml.NVML_ERROR_DRIVER_NOT_LOADED),
    "mismatch": lambda: Library(init=pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH),
    "lost at start": lambda: Library([card(0), card(1, handle=pynvml.NVML_ERROR_GPU_IS_LOST)]),
    "lost while running": lambda: Library(
        [card(0), card(1, use=after(0.15, lambda: pynvml.NVML_ERROR_GPU_IS_LOST, (97, 40)))]
    ),
    "lost while others spin": lambda: Library(
        [
            card(
                number,
                use=after(1.0, lambda: pynvml.NVML_ERROR_GPU_IS_LOST, (100, 5)) if number == 1 else (100, 5),
                milliwatts=(110_000,),
            )
            for number in range(4)
        ]
    ),
    "mig": lambda: Library([card(0, use=pynvml.NVML_ERROR_NOT_SUPPORTED, pids=pynvml.NVML_ERROR_NO_PERMISSION)]),
    "old driver": lambda: Library([card(0)], missing={"nvmlDeviceGetMemoryInfo_v2"}),
    "host numbers": lambda: Library([card(0, pids=(4_194_303, 4_194_304)), card(1, pids=())]),
    "hangs": lambda: Library([card(0, milliwatts=after(0.15, hang, (612_000,)))]),
    "hangs at once": lambda: Library([card(0, use=hang)]),
}


def install(library):
    """Put it under pynvml."""
    pynvml.nvmlLib = library
    pynvml._nvmlGetFunctionPointer_cache.clear()
    pynvml._LoadNvmlLibrary = lambda: None


if __name__ == "__main__":
    install(SCENES[sys.argv[1]]())
    from watcher.gpu_child import main

    main(float(sys.argv[2]))
