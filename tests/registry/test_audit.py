"""The audit: one line per effect, and no byte of it can change unseen."""

import asyncio
import sys

import pytest

from registry import connect, keys
from registry.audit import NOT_DONE, START, Entry, Verdict, hash_of, settled


def entry(number, **more):
    return Entry(float(number), "U0ALICE", "T0HOME", "responder", "button", "mute_1h", words=f"word {number}", **more)


async def test_what_is_written_is_read_back_in_order(registry):
    """The newest first, as it was written."""
    for number in range(3):
        await registry.audit.write(entry(number))

    assert [one.at for one in await registry.audit.newest(2)] == [2.0, 1.0]
    assert (await registry.audit.newest(1))[0] == entry(2)


async def test_many_at_once_are_one_unbroken_chain(registry, redis_url):
    """Several bots write at the same moment: nobody overwrites the link of another."""
    others = [connect(redis_url) for _ in range(3)]
    await asyncio.gather(*(door.audit.write(entry(n)) for n in range(5) for door in (registry, *others)))

    verdict = await registry.audit.verify()

    assert (verdict.entries, verdict.broken_at) == (20, None)
    for door in others:
        await door.aclose()


def test_what_nothing_came_of_takes_the_place_of_its_permission():
    """The newest of the same act alone; what was done before, or refused, stays."""
    done, refused = entry(1), entry(1, result="the role viewer may not")
    undone = entry(1, result=NOT_DONE)

    assert settled([done, done, entry(2), undone]) == [done, entry(2), undone]
    assert settled([refused, undone]) == [refused, undone]
    assert settled([done, undone, undone]) == [undone, undone]


@pytest.mark.parametrize("field", ["b", "p", "h"])
async def test_a_changed_byte_is_found(registry, field):
    """Whoever can write Redis cannot rewrite the past without breaking the chain."""
    for number in range(4):
        await registry.audit.write(entry(number))
    entries = [one async for one in registry.audit.all()]
    second, content = entries[1]
    changed = {name.decode(): value for name, value in content.items()}
    changed[field] = changed[field][:-1] + bytes([changed[field][-1] ^ 1])
    await registry._door.call("DEL", keys.AUDIT)
    for place, (name, one) in enumerate(entries):
        fields = changed if place == 1 else {key.decode(): value for key, value in one.items()}
        await registry._door.call("XADD", keys.AUDIT, name, *(part for pair in fields.items() for part in pair))

    assert (await registry.audit.verify()).broken_at in (second, entries[2][0])


async def test_an_entry_taken_out_is_found(registry):
    """A gap in the chain is a break."""
    for number in range(4):
        await registry.audit.write(entry(number))
    names = [name async for name, _ in registry.audit.all()]
    await registry._door.call("XDEL", keys.AUDIT, names[1])

    assert (await registry.audit.verify()).broken_at == names[2]


KEY = "a key that is in no Redis"


async def rewritten(registry, change, key=""):
    """Somebody with all of Redis writes the whole chain anew, every hash included, as far as they can."""
    entries = [content async for _, content in registry.audit.all()]
    await registry._door.call("DEL", keys.AUDIT)
    before = START
    for place, content in enumerate(entries):
        body = change(place, content[b"b"])
        made = hash_of(before, body, key)
        mark = ("k", "1") if b"k" in content else ()
        await registry._door.call("XADD", keys.AUDIT, "*", "b", body, "p", before, "h", made, *mark)
        before = made


@pytest.fixture
async def keyed(redis_url):
    """A bot with the key."""
    opened = connect(redis_url, audit_key=KEY)
    yield opened
    await opened.aclose()


async def test_without_the_key_nobody_writes_the_chain_anew(registry, keyed):
    """Every hash worked out again, with no key or another one: the bot that has it finds the first wrong entry."""
    for number in range(3):
        await keyed.audit.write(entry(number))
    assert (await keyed.audit.verify()) == Verdict(3, None, (await keyed.audit.verify()).head)

    for key in ("", "some other key, just as long"):
        await rewritten(registry, lambda place, body: body.replace(b"word 1", b"word 9") if place == 1 else body, key)
        assert (await keyed.audit.verify()).broken_at is not None


async def test_control_without_a_key_a_chain_can_be_written_anew(registry):
    """What the key is for: without one, only the head in the bot's log tells."""
    for number in range(3):
        await registry.audit.write(entry(number))
    head = (await registry.audit.verify()).head
    await rewritten(registry, lambda _, body: body.replace(b"word 1", b"word 9"))

    verdict = await registry.audit.verify()

    assert verdict.broken_at is None
    assert verdict.head != head


async def test_a_key_may_begin_and_nothing_keyless_comes_after(registry, keyed):
    """Older entries are told of as such; one that is slipped in behind is a break."""
    await registry.audit.write(entry(1))
    await keyed.audit.write(entry(2))
    verdict = await keyed.audit.verify()
    assert (verdict.broken_at, verdict.keyless) == (None, 1)
    assert (await registry.audit.verify()).unchecked == 1

    await registry.audit.write(entry(3))

    assert (await keyed.audit.verify()).broken_at is not None


WRITER = """
import asyncio, sys
from registry import connect
from registry.audit import Entry
async def main():
    registry = connect(sys.argv[1])
    for number in range(int(sys.argv[2]), 10**6):
        await registry.audit.write(Entry(float(number), "U1", "T1", "admin", "button", "mute", words=str(number)))
        print(number, flush=True)
asyncio.run(main())
"""


async def test_a_writer_that_is_killed_breaks_nothing(registry, redis_url):
    """Killed at any moment, again and again: each entry once, in order, and the chain holds."""
    first = 0
    for _ in range(5):
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", WRITER, redis_url, str(first), stdout=asyncio.subprocess.PIPE
        )
        for _ in range(7):
            first = int(await process.stdout.readline())
        process.kill()
        await process.wait()
        first += 1000

    verdict = await registry.audit.verify()
    numbers = [int(one.words) for one in reversed(await registry.audit.newest(10_000))]
    assert verdict.broken_at is None
    assert numbers == sorted(set(numbers))
    assert len(numbers) >= 35
