"""Ends tasks that talk to Redis."""

import asyncio
from collections.abc import Iterable
from typing import Any

CANCEL_AGAIN_SECONDS = 0.2


async def end_all(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel tasks until all of them have ended; what they ended with is of no interest any more.

    Once is not enough: before Python 3.12 `asyncio.wait_for`, which the Redis client uses for every send, may swallow
    a cancellation, and whoever then waits for the task waits for ever.
    """
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        done, left = await asyncio.wait(left, timeout=CANCEL_AGAIN_SECONDS)
        for task in done:
            if not task.cancelled():
                task.exception()
