"""Many findings of one watcher settled side by side, as in a storm."""

import asyncio

from registry import Place, StreamId, wire
from tests.registry.values import finding

STREAM = StreamId("w0", "e1")


async def test_side_by_side_nobody_is_in_the_way_of_another(registry, redis_url):
    """Intents and settlements of one ledger take turns in one process: none has to begin again, none fails."""
    await registry.events.register(STREAM)
    for number in range(1, 101):
        found = finding(number)
        await registry.events.publish(STREAM.watcher, STREAM.epoch, number, wire.encode(found), found.key)
    events = await registry.events.read({STREAM: 0}, 200)

    async def tell(event):
        await registry.ledger.begin(event)
        await registry.ledger.intent(event, "C1")
        await registry.ledger.delivered(event, Place("C1", str(event.number)))

    await asyncio.gather(*(tell(event) for event in events))

    assert await registry.ledger.settled(STREAM) == 100
