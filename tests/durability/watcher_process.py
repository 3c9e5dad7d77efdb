"""A watcher reduced to its promise: it finds line after line of an endless log, accepts, bookmarks, publishes.

Usage: python -m tests.durability.watcher_process URL NAME HOME COUNT PER_SECOND [without=refill|sync]
"""

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import Any

from registry import Registry, StreamId, connect
from tests.registry.values import finding
from watcher.publisher import Publisher
from watcher.spool import Spool

ENOUGH = "enough"
HURRY = "hurry"
"""While a file of this name lies beside the watcher's home, it finds so many a second."""
HURRY_PER_SECOND = 250.0
BOOKMARK_EVERY = 5
"""The bookmark lags, so that a killed watcher reads lines again."""


class Forgetful(Publisher):
    """A watcher that never looks back at what it sent: the negative control."""

    def __init__(self, registry: Registry, watcher: str, spool: Spool) -> None:
        super().__init__(registry, watcher, spool)
        publish = registry.events.publish_all

        async def regardless(*what: Any, after: int, **how: Any) -> int:
            del after
            return await publish(*what, **how)

        registry.events.publish_all = regardless  # type: ignore[method-assign]

    async def _compare(self, way: Any) -> None:
        await self._registry.events.register(StreamId(self.watcher, way.spool.epoch))
        way.checked_at = time.monotonic()
        way.sent = max(way.sent, way.was_sent)


async def main(
    url: str, name: str, home: Path, count: int, per_second: float, *, without: str = "", made: Any = finding
) -> None:
    """Live until killed; nothing more is found when there were so many, or when a file says that it is enough."""
    if without == "without=sync":
        os.fsync = lambda _: None
    registry, spool = connect(url, name, call_seconds=1), Spool(home / "spool")
    publisher = (Forgetful if without == "without=refill" else Publisher)(registry, f"{name}/all", spool)
    publishing = asyncio.create_task(publisher.run())
    bookmark = home / "bookmark"
    # Nobody syncs it: after a power cut it may be empty, and everything is read again.
    offset = int(bookmark.read_text() or 0) if bookmark.exists() else 0
    while offset < count and not (home / ENOUGH).exists():
        if publisher.accept(made(offset, node=name)):
            offset += 1
        if offset % BOOKMARK_EVERY == 0 or offset == count:
            _keep(bookmark, offset)
            spool.bookmarked()
        await asyncio.sleep(1 / (HURRY_PER_SECOND if (home.parent / HURRY).exists() else per_second))
    _keep(bookmark, offset)
    await publishing


def _keep(bookmark: Path, offset: int) -> None:
    bookmark.with_suffix(".new").write_text(str(offset))
    bookmark.with_suffix(".new").replace(bookmark)


if __name__ == "__main__":
    where, who, place, many, fast, *less = sys.argv[1:]
    asyncio.run(main(where, who, Path(place), int(many), float(fast), without="".join(less)))
