"""Faults on demand: what a call answers instead of the truth, and whether it took effect before that."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.workspace.values import Json


@dataclass(frozen=True, slots=True)
class Fault:
    """One way for a call to go wrong."""

    kind: str
    """`status`, `refused`, `rate_limited`, `cut`, `slow` or `drip`."""
    done: bool = False
    """Whether the call takes effect before its answer goes wrong."""
    status: int = 500
    body: str = ""
    content_type: str = "text/plain"
    error: str = ""
    retry_after: str | None = None
    seconds: float = 0.0


def http_error(status: int = 500, body: str = "", *, done: bool = False) -> Fault:
    """The server fails with this status."""
    return Fault("status", status=status, body=body, done=done)


def html(status: int = 502, *, done: bool = False) -> Fault:
    """A proxy answers with a page instead of JSON; `status` may even be 200."""
    page = "<!DOCTYPE html><html><title>Bad gateway</title><body><h1>Something went wrong</h1></body></html>"
    return Fault("status", status=status, body=page, content_type="text/html", done=done)


def refused(error: str, *, done: bool = False) -> Fault:
    """`{"ok": false, "error": …}`: with `done`, as `fatal_error` may be, the call did take effect."""
    return Fault("refused", error=error, done=done)


def rate_limited(retry_after: object = 1) -> Fault:
    """429 with this Retry-After: a number, a date, or `None` for no header at all."""
    return Fault("rate_limited", retry_after=None if retry_after is None else str(retry_after))


def cut_before() -> Fault:
    """The connection goes before the call is accepted: nothing happened."""
    return Fault("cut")


def cut_after() -> Fault:
    """The connection goes after the call was accepted: it happened, and its answer never comes."""
    return Fault("cut", done=True)


def slow(seconds: float, *, done: bool = False) -> Fault:
    """The right answer, late; `done` says whether the effect comes before or after the wait."""
    return Fault("slow", seconds=seconds, done=done)


def drip(seconds_per_byte: float = 1.0) -> Fault:
    """The right answer, one byte at a time."""
    return Fault("drip", seconds=seconds_per_byte, done=True)


KINDS: dict[str, Callable[..., Fault]] = {
    "http_error": http_error,
    "html": html,
    "refused": refused,
    "rate_limited": rate_limited,
    "cut_before": cut_before,
    "cut_after": cut_after,
    "slow": slow,
    "drip": drip,
}
"""By name, for /debug/faults."""


class Faults:
    """Which fault the next call of a method meets.

    A method is a Web API name such as `chat.postMessage`, `upload` (the upload URL), `response_url`, or `*` for any.
    """

    def __init__(self) -> None:
        self._next: dict[str, deque[Fault]] = {}
        self._always: dict[str, Fault] = {}
        self._some: tuple[float, Sequence[Fault], Sequence[str], random.Random] | None = None
        self.met: list[tuple[str, Fault]] = []
        """Every fault that a call met, in order."""

    def next(self, method: str, fault: Fault, times: int = 1) -> None:
        """The next `times` calls of the method meet this fault, after those already asked for."""
        self._next.setdefault(method, deque()).extend([fault] * times)

    def always(self, method: str, fault: Fault) -> None:
        """Every call of the method meets this fault until `clear`."""
        self._always[method] = fault

    def some(self, share: float, faults: Sequence[Fault], methods: Sequence[str] = ("*",), seed: int = 0) -> None:
        """About this share of calls meet one of these faults, chosen at random from the seed."""
        self._some = (share, tuple(faults), tuple(methods), random.Random(seed))  # noqa: S311 - repeatable, not secret

    def clear(self, method: str | None = None) -> None:
        """No more faults, or none of this method."""
        if method is None:
            self._next.clear()
            self._always.clear()
            self._some = None
        else:
            self._next.pop(method, None)
            self._always.pop(method, None)

    def take(self, method: str) -> Fault | None:
        """The fault that this call meets."""
        fault = self._pick(method)
        if fault is not None:
            self.met.append((method, fault))
        return fault

    def described(self) -> Json:
        """What is set, for /debug."""
        return {
            "next": {method: [fault.kind for fault in faults] for method, faults in self._next.items() if faults},
            "always": {method: fault.kind for method, fault in self._always.items()},
            "some": None if self._some is None else {"share": self._some[0], "methods": list(self._some[2])},
            "met": len(self.met),
        }

    def _pick(self, method: str) -> Fault | None:
        for name in (method, "*"):
            if self._next.get(name):
                return self._next[name].popleft()
        for name in (method, "*"):
            if name in self._always:
                return self._always[name]
        if self._some is not None:
            share, faults, methods, dice = self._some
            if (method in methods or "*" in methods) and dice.random() < share:
                return dice.choice(list(faults))
        return None
