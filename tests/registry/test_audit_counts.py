"""The audit at its full counts: one entry per action through a hundred kills, and no byte that can change unseen."""

import asyncio
import sys
from collections import Counter

import pytest

from registry import keys
from registry.audit import entry_of
from tests.counts import count, say
from tests.registry.test_audit import WRITER, entry

ACTIONS, WRITER_KILLS = count(60, 10_000), count(2, 100)
TAMPERED = count(60, 1_000)


@pytest.mark.figure
@pytest.mark.timeout(60 + ACTIONS // 5)
async def test_each_of_many_actions_stands_once_although_writers_are_killed(registry, redis_url):
    """Every action that a writer was told is written stands in the chain, once; kills break nothing (A39)."""
    told, first = [], 0
    while len(told) < ACTIONS:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", WRITER, redis_url, str(first), stdout=asyncio.subprocess.PIPE
        )
        told += [int(await process.stdout.readline()) for _ in range(ACTIONS // WRITER_KILLS)]
        process.kill()
        await process.wait()
        first = told[-1] + 1000

    verdict = await registry.audit.verify()
    numbers = Counter([entry_of(content)["words"] async for _, content in registry.audit.all()])
    say("A39", f"{len(told)} actions, {WRITER_KILLS} kills: {verdict.entries} entries, broken at {verdict.broken_at}")
    assert verdict.broken_at is None
    assert numbers.keys() >= {str(number) for number in told}
    assert set(numbers.values()) == {1}


@pytest.mark.figure
@pytest.mark.timeout(60 + TAMPERED)
async def test_any_byte_that_is_changed_is_found(registry):
    """Each byte of each field of an entry in the middle, every bit of them in turn (A39)."""
    for number in range(3):
        await registry.audit.write(entry(number))
    rows = [one async for one in registry.audit.all()]
    name, content = rows[1]
    places = [(field, at) for field in (b"b", b"p", b"h") for at in range(len(content[field]))]
    unseen = []
    for field, at in places[:: max(1, len(places) // TAMPERED)]:
        changed = bytearray(content[field])
        changed[at] ^= 1 << (at % 8)
        await registry._door.call("DEL", keys.AUDIT)
        for place, (one, row) in enumerate(rows):
            fields = {**row, field: bytes(changed)} if place == 1 else row
            await registry._door.call("XADD", keys.AUDIT, one, *(part for pair in fields.items() for part in pair))
        if (await registry.audit.verify()).broken_at not in (name, rows[2][0]):
            unseen.append((field, at))

    say("A39", f"{len(places[:: max(1, len(places) // TAMPERED)])} bytes of one entry changed, unseen: {len(unseen)}")
    assert unseen == []
