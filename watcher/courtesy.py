"""Stepping back: the thread that saves evidence, and the programs it asks, take what the job leaves.

Not the very lowest: on a node whose cores are all taken, nice 19 saved one log of eight in two minutes and held up the
watcher itself for seconds (it holds Python's lock while it waits for its turn); nice 10 saved the end of each in time.
"""

import ctypes
import os
import platform
import threading

NICE = 10
"""A tenth of the weight of an ordinary process, where both want the same core."""
_IOPRIO_SET = {"x86_64": 251, "aarch64": 30}
_WHO_PROCESS, _BEST_EFFORT, _LOWEST = 1, 2, 7
"""The lowest level of the ordinary class: of the idle class nothing would be read from a disk that is always busy."""


def step_back() -> None:
    """Lower the calling thread's claim on processor and disk; programs it starts inherit that."""
    thread = threading.get_native_id()
    try:
        if os.getpriority(os.PRIO_PROCESS, thread) < NICE:
            os.setpriority(os.PRIO_PROCESS, thread, NICE)
    except OSError:  # a container may forbid even that
        pass
    number = _IOPRIO_SET.get(platform.machine())
    if number is not None and hasattr(os, "sched_getaffinity"):  # Linux
        ctypes.CDLL(None).syscall(number, _WHO_PROCESS, thread, _BEST_EFFORT << 13 | _LOWEST)
