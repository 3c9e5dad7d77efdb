"""A bot or a watcher that kills itself at a named point of its work: before, in the middle of, or after one call.

Random kills hit the narrow places too seldom. Nothing of this is in the product: the call is wrapped from outside.

Usage, by `tests.scenarios.nursery`: tests.durability.points POINT NTH bot API_URL REDIS_URL TOKEN [WITHOUT]
                                     tests.durability.points POINT NTH watcher REDIS_URL NAME HOME PER_SECOND
"""

import asyncio
import functools
import importlib
import inspect
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diagnosis.findings import Finding, Severity
from diagnosis.observations import Evidence, Origin
from tests.bot import bot_process
from tests.durability import watcher_process

IN_FLIGHT_SECONDS = 0.004
"""So long after a call began it is in the middle of its work."""


@dataclass(frozen=True)
class Call:
    """A call that a process may not survive."""

    side: str
    owner: str
    """`module` or `module:Class`."""
    name: str
    moments: tuple[str, ...] = ("before", "after")
    only: str = ""
    """Only calls whose first argument is this."""
    is_seldom: bool = False
    """A life comes by here once, or not again for a long time."""


CALLS = (
    Call("bot", "registry.lease:Lease", "take", ("after",)),
    Call("bot", "bot.announcer:Announcer", "restore", ("after",), is_seldom=True),
    Call("bot", "bot.follower:Follower", "catch_up", ("after",), is_seldom=True),
    Call("bot", "registry.ledger:Ledger", "begin"),
    Call("bot", "diagnosis.incidents:Tracker", "receive", ("after",)),
    Call("bot", "registry.ledger:Ledger", "intent"),
    Call("bot", "bot.slack:Slack", "call", ("before", "during", "after"), "chat.postMessage"),
    Call("bot", "bot.slack:Slack", "call", ("before", "during", "after"), "chat.update"),
    Call("bot", "bot.slack:Slack", "posted", ("after",)),
    Call("bot", "bot.records", "save"),
    Call("bot", "registry.ledger:Ledger", "delivered", ("before", "during", "after")),
    Call("watcher", "watcher.spool:Spool", "accept"),
    Call("watcher", "os", "fsync"),
    Call("watcher", "pathlib:Path", "replace"),
    Call("watcher", "watcher.spool:Spool", "bookmarked"),
    Call("watcher", "registry.events:Events", "register", is_seldom=True),
    Call("watcher", "watcher.publisher:Publisher", "_compare", is_seldom=True),
    Call("watcher", "registry.events:Events", "publish_all", ("before", "during", "after")),
    Call("watcher", "watcher.spool:Spool", "drop_delivered"),
)


def _named(call: Call, moment: str) -> str:
    owner = call.owner.rpartition(":")[2]
    return f"{moment} {owner}.{call.name}" + (f" {call.only}" if call.only else "")


POINTS = {_named(call, moment): (call, moment) for call in CALLS for moment in call.moments}


def arm(point: str, nth: int) -> None:
    """Let this process die when it comes to a point for the nth time."""
    call, moment = POINTS[point]
    module, _, inside = call.owner.partition(":")
    owner: Any = importlib.import_module(module)
    owner = getattr(owner, inside) if inside else owner
    real = getattr(owner, call.name)
    left = nth

    def is_due(arguments: tuple[Any, ...]) -> bool:
        nonlocal left
        if call.only and call.only not in arguments[:2]:
            return False
        left -= 1
        return left == 0

    if inspect.iscoroutinefunction(real):

        @functools.wraps(real)
        async def dying(*arguments: Any, **more: Any) -> Any:
            if not is_due(arguments):
                return await real(*arguments, **more)
            if moment == "before":
                die()
            task = asyncio.ensure_future(real(*arguments, **more))
            if moment == "during":
                await asyncio.sleep(IN_FLIGHT_SECONDS)
                die()
            await task
            return die()

    else:

        @functools.wraps(real)
        def dying(*arguments: Any, **more: Any) -> Any:
            if not is_due(arguments):
                return real(*arguments, **more)
            if moment == "after":
                real(*arguments, **more)
            return die()

    setattr(owner, call.name, dying)


def die() -> None:
    """As the out-of-memory killer does it."""
    os.kill(os.getpid(), signal.SIGKILL)


def found(offset: int, *, node: str) -> Finding:
    """A finding of a run of its own, so that it opens a thread of its own."""
    origin = Origin(f"{node}x{offset}", node, 0)
    return Finding("nonfinite_loss", Severity.CRITICAL, origin, "loss is NaN", (Evidence("a.log", offset, "nan"),), 7)


def main(words: list[str]) -> int:
    """Live until the point, or until killed."""
    point, nth, side, *rest = words
    if point != "-":
        arm(point, int(nth))
    if side == "bot":
        asyncio.run(bot_process.main(*rest))
    else:
        url, name, home, per_second = rest
        asyncio.run(watcher_process.main(url, name, Path(home), 1 << 30, float(per_second), made=found))
    return 0
