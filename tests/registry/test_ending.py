"""Whoever waits for a task that was cancelled is not left waiting."""

import asyncio
from contextlib import suppress

from registry.ending import end_all


async def test_a_task_that_swallows_a_cancellation_is_cancelled_again():
    """A client library does that; nobody may wait for such a task for ever."""

    async def stubborn():
        for _ in range(2):
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
        await asyncio.Event().wait()

    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)

    await asyncio.wait_for(end_all([task]), 60)

    assert task.cancelled()
