"""Keeps a Redis busy at one rate: `python -m benchmarks.redis_load URL OPERATIONS_PER_SECOND`, until it is ended.

What watchers and bots send, on keys of its own: fields of a hash, entries of a capped stream, reads of both.
"""

import asyncio
import sys
import time
from typing import Any

from redis.asyncio import Redis

TICK_SECONDS = 0.02
KEYS = 200
VALUE = b"x" * 200


async def main(url: str, rate: int) -> None:
    """Send it in small batches."""
    client: Any = Redis.from_url(url)
    began, sent = time.monotonic(), 0
    while True:
        due = int((time.monotonic() - began) * rate) - sent
        batch = client.pipeline(transaction=False)
        for number in range(sent, sent + due):
            _one(batch, number)
        await batch.execute()
        sent += due
        await asyncio.sleep(TICK_SECONDS)


def _one(batch: Any, number: int) -> None:
    key = f"bench:{number // 4 % KEYS}"
    match number % 4:
        case 0:
            batch.hset(f"{key}:hash", mapping={"step": number, "loss": VALUE})
        case 1:
            batch.xadd(f"{key}:stream", {"body": VALUE}, maxlen=100, approximate=True)
        case 2:
            batch.hgetall(f"{key}:hash")
        case _:
            batch.xrevrange(f"{key}:stream", count=1)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
