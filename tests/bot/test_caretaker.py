"""The announcing bot looks after Redis, and nobody else does."""

import asyncio

from bot.app import bot_running
from bot.caretaker import Caretaker
from registry import connect
from registry.broom import Retention


async def test_what_is_unsafe_is_shown_until_it_is_mended(workspace, settings, redis_url, monkeypatch):
    """Somebody sets an evicting policy under a running bot: health names it, and forgets it when it is mended."""
    monkeypatch.setattr("bot.caretaker.TURN_SECONDS", 0.1)
    monkeypatch.setattr("registry.upkeep.CHECK_EVERY_SECONDS", 0.0)
    registry = connect(redis_url)
    async with bot_running(settings()) as bot:
        await workspace.until(lambda: bot.monitor.is_reigning)
        try:
            await registry._door.call("CONFIG SET", "maxmemory-policy", "allkeys-lru", beside="rw:runs")
            await workspace.until(lambda: "allkeys-lru" in str(bot.health()[1]["registry"]))
        finally:
            await registry._door.call("CONFIG SET", "maxmemory-policy", "noeviction", beside="rw:runs")
        await workspace.until(lambda: bot.health()[1]["registry"] == {})
    await registry.aclose()


async def test_old_runs_go_by_themselves(registry, workspace, monkeypatch):
    """Beyond the number that is kept, the longest idle is forgotten, with all its keys."""
    monkeypatch.setattr("bot.caretaker.TURN_SECONDS", 0.05)
    for name in ("old", "new"):
        await registry.runs.see(name)
    await registry._door.call("ZADD", "rw:runs", 1_000_000_000, "old")

    caretaker = asyncio.create_task(Caretaker(registry.upkeep, lambda: True, Retention(most_runs=1)).run())
    async with asyncio.timeout(60):
        while await registry.runs.names() != ["new"]:
            await asyncio.sleep(0.05)
    caretaker.cancel()

    assert await registry.runs.get("old") is None


async def test_only_the_announcing_bot_sweeps(registry, monkeypatch):
    """A second bot leaves it alone."""
    monkeypatch.setattr("bot.caretaker.TURN_SECONDS", 0.01)
    await registry.runs.see("old")
    await registry._door.call("ZADD", "rw:runs", 1_000_000_000, "old")

    caretaker = asyncio.create_task(Caretaker(registry.upkeep, lambda: False, Retention()).run())
    await asyncio.sleep(0.3)
    caretaker.cancel()

    assert await registry.runs.names() == ["old"]
