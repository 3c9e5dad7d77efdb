"""A delivery is taken once, whoever asks."""

import asyncio

from registry import connect


async def test_a_name_is_taken_once(registry, redis_url):
    """Of many who ask at once, in several processes, one is the first."""
    other = connect(redis_url, name="other")

    taken = await asyncio.gather(*(one.seen.first("Ev123") for one in (registry, other) * 10))

    assert sum(taken) == 1
    assert await registry.seen.first("Ev124")
    await other.aclose()


async def test_a_taken_name_is_free_again_after_its_time(registry):
    """What Slack no longer repeats need not be remembered."""
    assert await registry.seen.first("Ev1", 1)

    await asyncio.sleep(1.2)

    assert await registry.seen.first("Ev1", 1)
