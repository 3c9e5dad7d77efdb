"""What an exit code means: negative as torch prints it, 128 + signal as a shell does."""

import signal
from collections.abc import Mapping

from diagnosis.observations import Category, Role

_MEANING = {
    signal.SIGKILL: "killed (SIGKILL): the host's out-of-memory killer, a scheduler, or a person",
    signal.SIGABRT: "aborted (SIGABRT): the NCCL watchdog or an uncaught C++ exception",
    signal.SIGSEGV: "segmentation fault (SIGSEGV) in native code",
    signal.SIGBUS: "bus error (SIGBUS): /dev/shm full, or a mapped file was lost",
    signal.SIGTERM: "asked to stop (SIGTERM): preemption, a time limit, or a sibling that died",
    signal.SIGINT: "interrupted (SIGINT)",
    signal.SIGHUP: "the terminal closed (SIGHUP)",
    signal.SIGILL: "illegal instruction (SIGILL): built for another CPU",
    signal.SIGFPE: "arithmetic fault (SIGFPE)",
    signal.SIGUSR1: "a scheduler's warning signal (SIGUSR1) that nobody handled",
    signal.SIGUSR2: "a scheduler's warning signal (SIGUSR2) that nobody handled",
}


_BY_NAME = {"Killed": "9", "Segmentation fault": "11"}


def signal_of(exit_code: int) -> int | None:
    """The signal behind an exit code, if one is."""
    if -64 <= exit_code < 0:
        return -exit_code
    if 128 < exit_code <= 128 + 64:
        return exit_code - 128
    return None


def name_of_signal(number: int) -> str:
    """`SIGKILL`; empty when the number is none."""
    return signal.Signals(number).name if number in _numbers() else ""


def meaning_of(exit_code: int) -> str:
    """The code in words."""
    number = signal_of(exit_code)
    if number is None:
        return "ended normally" if exit_code == 0 else "ended by its own error: its traceback tells"
    return _MEANING.get(signal.Signals(number), f"signal {number}") if number in _numbers() else f"signal {number}"


def ruling_of_exit(fields: Mapping[str, str]) -> tuple[Role, Category]:
    """Whether a printed exit code may itself be the cause, and of what kind.

    A killed or crashed process cannot say why it died, so its code may be all there is. A code of 1 is told
    by a traceback, -6 by the watchdog, -15 by whoever sent the signal.
    """
    number = signal_of(int(fields.get("exit_code", "1")))
    if number == signal.SIGKILL:
        return Role.ROOT, Category.HOST_OOM
    if number in {signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE}:
        return Role.ROOT, Category.RANK_CRASH
    return Role.CONTEXT, Category.RANK_CRASH


def ruling_of_end(fields: Mapping[str, str]) -> tuple[Role, Category]:
    """The same where a launcher prints a signal's number instead of a code."""
    name = fields.get("signal", "")
    number = _BY_NAME.get(name, name)
    return ruling_of_exit({"exit_code": f"-{number}"} if number.isdecimal() else fields)


def _numbers() -> frozenset[int]:
    return frozenset(int(item) for item in signal.Signals)
