"""Sentinels: their newest word counts, a failover is followed, and nobody writes to a server that lost its office."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from registry import Refused, RegistryAway, connect, keys
from registry.door import Door
from tests.ports import HOST, free_port
from tests.registry.lives import answer_as_watcher, ask_as_bot, live_as_bot, live_as_reader, live_as_watcher
from tests.topologies import Node, Trio, short_home


@pytest.fixture
def trio() -> Iterator[Trio]:
    with short_home() as home:
        made = Trio(home)
        yield made
        made.stop()


@pytest.fixture
async def stand_in() -> AsyncIterator["StandIns"]:
    made = StandIns()
    yield made
    await made.aclose()


class StandIns:
    """Sentinels that say what a test wants, where real ones would agree too soon."""

    def __init__(self) -> None:
        self._servers: list[asyncio.Server] = []

    async def says(self, host: str, port: int, epoch: int) -> str:
        pairs = ("name", "m", "ip", host, "port", str(port), "flags", "master", "config-epoch", str(epoch))
        answer = f"*{len(pairs)}\r\n" + "".join(f"${len(word)}\r\n{word}\r\n" for word in pairs)
        return await self._serves(answer.encode())

    async def is_silent(self) -> str:
        return await self._serves(b"")

    async def _serves(self, answer: bytes) -> str:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while line := await reader.readline():
                if line.upper() == b"SETNAME\r\n":
                    writer.write(b"+OK\r\n")
                elif line.upper() == b"MASTER\r\n":
                    writer.write(answer)
                await writer.drain()
            writer.close()

        self._servers.append(await asyncio.start_server(serve, HOST, 0))
        return f"{HOST}:{self._servers[-1].sockets[0].getsockname()[1]}"

    async def aclose(self) -> None:
        for server in self._servers:
            server.close()


async def test_everything_works_behind_sentinels_and_goes_on_after_a_failover(trio):
    """The primary dies by kill -9 under calls; the next one is found, and what it copied is there."""
    watcher, bot = connect(trio.url, "watcher", call_seconds=1), connect(trio.url, "bot", call_seconds=1)
    await live_as_watcher(watcher)
    await live_as_bot(bot)
    await asyncio.gather(ask_as_bot(bot), answer_as_watcher(watcher))
    await live_as_reader(bot)
    assert len(await bot._door.everywhere("PING")) == 2
    old = trio.primary
    await asyncio.to_thread(until_copied, trio)

    old.kill()
    calls = await insist(watcher.runs.see("run43"), lambda: watcher.runs.see("run43"))
    await asyncio.to_thread(trio.await_failover, old)

    assert calls > 1
    assert [run.name for run in await bot.runs.all()] == ["run43", "run42"]
    assert await watcher._door.where(keys.RUNS) == trio.primary.address
    await watcher.aclose()
    await bot.aclose()


async def test_a_primary_that_lost_its_office_is_left_at_once(trio):
    """A planned failover: the old server is a replica now, takes no writes, and no caller notices."""
    door = Door(trio.url, "test")
    await door.call("SET", "rw:n", 1)
    old = trio.primary
    await asyncio.to_thread(until_copied, trio)

    trio.sentinels[0].client().sentinel_failover(trio.NAME)
    for _ in range(100):
        # Until the sentinels demote it, the old one takes writes that are lost: why findings are compared and re-sent.
        await door.call("INCR", "rw:n")
        if await door.where("rw:n") != old.address:
            break
        await asyncio.sleep(0.1)

    assert await door.where("rw:n") == trio.primary.address
    assert int(trio.primary.client().get("rw:n")) >= 2
    await door.aclose()


async def test_the_newest_word_of_the_sentinels_counts(stand_in, victim_port):
    """A sentinel that was cut off still names the old primary; the others know better."""
    stale = await stand_in.says(HOST, 1, epoch=3)
    fresh = await stand_in.says(HOST, victim_port, epoch=4)
    door = Door(f"redis+sentinel://{stale},{await stand_in.is_silent()},{fresh}/m", "test")

    assert await door.call("PING")
    await door.aclose()


async def test_sentinels_that_fall_silent_do_not_take_the_primary_with_them(stand_in, victim_port):
    """The primary that was found goes on being used while nobody can be asked for it."""
    sentinel = await stand_in.says(HOST, victim_port, epoch=1)
    door = Door(f"redis+sentinel://{sentinel}/m", "test")
    assert await door.call("PING")

    await stand_in.aclose()
    await door._topology.lost(await door._topology.server_for(""))

    assert await door.call("PING")
    await door.aclose()


async def test_a_name_that_no_sentinel_knows_is_said(trio):
    """A wrong name is a mistake of a person, told from sentinels that are away."""
    door = Door(trio.url.replace(trio.NAME, "nobody"), "test")

    with pytest.raises(Refused, match="know no nobody"):
        await door.call("PING")

    await door.aclose()


async def test_no_sentinel_is_an_absent_registry():
    """Nobody to ask: it may come back any second, and the password for the sentinels is not in the words."""
    door = Door(f"redis+sentinel://user:geheim@{HOST}:{free_port()}/m?sentinel_password=hush", "test")

    with pytest.raises(RegistryAway) as away:
        await door.call("PING")

    assert "geheim" not in str(away.value)
    assert "hush" not in str(away.value)
    await door.aclose()


async def test_a_reader_is_woken_behind_sentinels(trio):
    """The wake-up works there too; after a failover the reader hears the new primary."""
    registry = connect(trio.url, "test", call_seconds=1)
    old = trio.primary
    await heard(registry, trio)

    old.kill()
    await asyncio.to_thread(trio.await_failover, old)
    await insist(registry.now(), registry.now)
    await registry.events.wait(0.01)
    await heard(registry, trio)

    await registry.aclose()


async def heard(registry, trio) -> None:
    waiting = asyncio.create_task(registry.events.wait(30))
    while not trio.primary.client().pubsub_numsub(keys.WAKE)[0][1]:
        await asyncio.sleep(0.05)
    trio.primary.client().publish(keys.WAKE, "e1@w1")
    assert [stream.watcher for stream in await waiting] == ["w1"]


@pytest.fixture
def victim_port() -> Iterator[int]:
    with short_home() as home:
        node = Node(home / "server").start()
        yield node.port
        node.stop()


def until_copied(trio: Trio) -> None:
    trio.primary.client().wait(1, 5000)


async def insist(first, again) -> int:
    """Call until it succeeds; how many calls that took."""
    calls, call = 1, first
    for _ in range(300):
        try:
            await call
            return calls
        except RegistryAway:
            await asyncio.sleep(0.1)
            calls, call = calls + 1, again()
    raise AssertionError("it never came back")
