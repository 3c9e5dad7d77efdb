"""Is the registry there, safe to use, near, and on the same clock?"""

import time
from collections.abc import AsyncIterator

from bot.checkup.check import Check, fine, warning, wrong
from bot.checkup.patient import Patient
from registry import Refused, RegistryError, connect

CLOCK_SECONDS = 2.0
SLOW_SECONDS = 0.05


async def check_redis(patient: Patient) -> AsyncIterator[Check]:
    """Reach it, ask its policy and persistence, compare clocks."""
    registry = connect(patient.bot.redis_url, "doctor", call_seconds=5.0)
    try:
        began = time.monotonic()
        there = await registry.now()
        took = time.monotonic() - began
        yield fine("Redis", f"answers in {took * 1000:.1f} ms")
        for said in await registry.check():
            yield warning("Redis", said)
        offset = time.time() - took / 2 - there
        if abs(offset) > CLOCK_SECONDS:
            said = f"this machine's clock is {abs(offset):.0f} s {'ahead of' if offset > 0 else 'behind'} that of Redis"
            yield warning(
                "clock", said, "Run chrony or systemd-timesyncd here; order across nodes is corrected anyway."
            )
        else:
            yield fine("clock", f"within {abs(offset):.2f} s of Redis")
        if took > SLOW_SECONDS:
            yield warning("Redis", f"a call takes {took * 1000:.0f} ms", "Put Redis nearer to the nodes.")
        runs = await registry.runs.all(1000)
        yield fine("registry", f"{len(runs)} run{'' if len(runs) == 1 else 's'} known")
    except Refused as refused:
        yield wrong("Redis", str(refused), "See docs/redis.md for the settings Runwatch needs.")
    except RegistryError as away:
        yield wrong("Redis", str(away), "Set REDIS_URL (redis://HOST:6379/0) and check that this machine may reach it.")
    finally:
        await registry.aclose()
