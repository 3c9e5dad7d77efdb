"""A hint that a log grew: inotify where the kernel has it, nothing where it has not.

Only a wake-up, never the truth: a file on a network mount written by another node makes no event, so the
poll goes on regardless. Each watch fires once and is armed again by the next poll, which keeps a busy log
from waking us thousands of times a second.
"""

import contextlib
import ctypes
import os
import select
import threading
import time

_ONESHOT = 0x80000000
_MODIFY, _MOVE_SELF, _DELETE_SELF = 0x2, 0x800, 0x400
_NONBLOCK_CLOEXEC = 0o2004000


class WakeUp:
    """Sleeps until a followed file changes, a time is over, or somebody calls."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._events: int | None = None
        self._lock = threading.Lock()
        self._users = 0
        self._is_closed = False
        self._ear, self._bell = os.pipe()
        os.set_blocking(self._ear, False)
        os.set_blocking(self._bell, False)
        try:
            descriptor = self._libc.inotify_init1(_NONBLOCK_CLOEXEC)
        except AttributeError:  # not Linux
            return
        if descriptor >= 0:
            self._events = descriptor

    def sleep(self, seconds: float, not_before: float) -> bool:
        """Sleep for up to `seconds`; a change ends it, but not before that time (monotonic). True: somebody called."""
        if not self._begin():
            return True
        try:
            return self._sleep(seconds, not_before)
        finally:
            self._end()

    def _sleep(self, seconds: float, not_before: float) -> bool:
        ears = [self._ear] if self._events is None else [self._ear, self._events]
        ready, _, _ = select.select(ears, [], [], seconds)
        if self._events in ready:
            _drain(self._events)
            left = not_before - time.monotonic()
            if left > 0:  # a busy log must not wake us for every line
                ready, _, _ = select.select([self._ear], [], [], left)
        if self._ear in ready:
            _drain(self._ear)
            return True
        return False

    def call(self) -> None:
        """Wake the sleeper now."""
        if not self._begin():
            return
        try:
            os.write(self._bell, b"!")
        except BlockingIOError:  # full: it has been called often enough
            return
        finally:
            self._end()

    def arm(self, path: str) -> None:
        """Ask for one event from a file; one that cannot be watched is left to the poll."""
        if self._events is None or not self._begin():
            return
        try:
            mask = ctypes.c_uint32(_MODIFY | _MOVE_SELF | _DELETE_SELF | _ONESHOT)
            self._libc.inotify_add_watch(self._events, os.fsencode(path), mask)
        finally:
            self._end()

    def close(self) -> None:
        """Wake whoever sleeps and give the descriptors back; who still uses them does that as it leaves."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            if self._users:
                with contextlib.suppress(BlockingIOError):  # full: it has been called often enough
                    os.write(self._bell, b"!")
                return
        self._let_go()

    def _begin(self) -> bool:
        """Use the descriptors, which may not be given back (and to others) meanwhile; False: they are closed."""
        with self._lock:
            self._users += not self._is_closed
            return not self._is_closed

    def _end(self) -> None:
        with self._lock:
            self._users -= 1
            is_last = self._is_closed and not self._users
        if is_last:
            self._let_go()

    def _let_go(self) -> None:
        for descriptor in (self._ear, self._bell, self._events):
            if descriptor is not None:
                os.close(descriptor)


def _drain(descriptor: int | None) -> None:
    try:
        while descriptor is not None and os.read(descriptor, 65536):
            pass
    except BlockingIOError:
        return
