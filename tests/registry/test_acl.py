"""Rights: each role can do all it does, and nothing else."""

import asyncio
import re
import shlex
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from redis import Redis
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import NoPermissionError

from registry import Refused, connect, keys
from registry.access import ACCESS, WITHOUT_KEY, Role
from registry.acl import line, rules, user_name
from tests.registry import lives
from tests.topologies import ClusterOf, Node, short_home

NODE = "node1"
DEBIANS = Path("/usr/bin/redis-server")


def give_rights(client: Redis, *, is_old: bool = False, nodes: Sequence[str] = (NODE,)) -> None:
    """Make a user of each role, from the printed lines, with a password each."""
    for role in Role:
        for node in nodes if role is Role.WATCHER else ("*",):
            client.execute_command(*shlex.split(line(role, node, is_old=is_old)))
            client.execute_command("ACL", "SETUSER", user_name(role, node), f">secret-{role}")


def url_for(role: Role, address: str, scheme: str = "redis") -> str:
    user = user_name(role, NODE if role is Role.WATCHER else "*")
    return f"{scheme}://{user}:secret-{role}@{address}"


@pytest.fixture(params=["selectors", "for redis 6.2"])
def server(request) -> Iterator[Node]:
    """A server with a user for each role; as Redis 7 takes them, and as 6.2 does."""
    with short_home() as home:
        node = Node(home / "server").start()
        give_rights(node.client(), is_old=request.param != "selectors")
        yield node
        node.stop()


@pytest.fixture
def strict() -> Iterator[Node]:
    with short_home() as home:
        node = Node(home / "server").start()
        give_rights(node.client())
        yield node
        node.stop()


async def lead_all_lives(urls: dict[Role, str], admin: Redis | None) -> None:
    watcher, bot, reader = (connect(urls[role], role) for role in (Role.WATCHER, Role.BOT, Role.READER))
    await lives.live_as_watcher(watcher)
    await lives.live_as_bot(bot)
    if admin is not None:
        await lives.sweep_as_bot(bot, admin)
    await asyncio.gather(lives.ask_as_bot(bot), lives.answer_as_watcher(watcher))
    await lives.live_as_reader(reader)
    for registry in (watcher, bot, reader):
        await registry.aclose()


async def test_every_role_can_do_all_it_does(server):
    """The whole life of watcher, bot and reader, each under its own user; nothing is refused on the way."""
    await lead_all_lives({role: url_for(role, server.address) for role in Role}, server.client())

    assert server.client().acl_log() == []


@pytest.mark.scenario
async def test_every_role_can_do_all_it_does_on_debians_redis():
    """The same on the Redis of Debian, which is no Valkey."""
    with short_home() as home:
        node = Node(home / "server", binary=DEBIANS).start()
        give_rights(node.client())
        await lead_all_lives({role: url_for(role, node.address) for role in Role}, node.client())
        assert node.client().acl_log() == []
        node.stop()


async def test_every_role_can_do_all_it_does_in_a_cluster():
    """A Cluster asks for two commands more."""
    with short_home() as home:
        cluster = ClusterOf(home)
        for node in cluster.nodes:
            give_rights(node.client())
        address = cluster.url.removeprefix("redis+cluster://")
        await lead_all_lives({role: url_for(role, address, "redis+cluster") for role in Role}, None)
        assert [entry for node in cluster.nodes for entry in node.client().acl_log()] == []
        cluster.stop()


async def test_no_role_has_more_than_it_uses(server, monkeypatch):
    """What each role sent in all its life is exactly what the table gives it, key by key."""
    sent: dict[str, set[tuple[str, str]]] = defaultdict(set)
    pack = AbstractConnection.pack_commands

    def packed(connection, commands):
        commands = list(commands)
        role = connection.client_name.removeprefix("runwatch-")
        for command in commands:
            name = str(command[0]).replace(" ", "|")
            found = [str(word) for word in command[1:] if str(word).startswith(keys.PREFIX) and name != "PUBLISH"]
            sent[role] |= {(shape_of(key), name) for key in found} or {("", name)}
        return pack(connection, commands)

    monkeypatch.setattr(AbstractConnection, "pack_commands", packed)
    await lead_all_lives({role: url_for(role, server.address) for role in Role}, server.client())

    for role in Role:
        given = {(shape, command) for shape, access in ACCESS.items() for command in access.of(role)}
        assert {pair for pair in sent[role] if pair[0]} == given
        # These are sent by the client library, or only in a Cluster.
        rest = {"PING", "SELECT", "CLIENT|SETNAME", "CLUSTER|SLOTS", "ASKING", "SUBSCRIBE"}
        assert {command for shape, command in sent[role] if not shape} == set(WITHOUT_KEY[role].split()) - rest


def shape_of(key: str) -> str:
    """The key as the page shows it."""
    letters = {"run": "R", "hb": "W", "ev": "W", "floor": "W", "led": "W", "dead": "W", "req": "W"}
    kind = key.split(":")[1]
    letter = letters.get(kind, {"incident": "I", "ans": "Q", "lease": "NAME"}.get(kind, ""))
    shape = re.sub(r"\{[^}]*\}", f"{{{letter}}}", key)
    if kind == "ev":
        return shape.rpartition(":")[0] + ":EPOCH"
    return "rw:seen:NAME" if kind == "seen" else re.sub(r":roll:\d+$", ":roll:N", shape)


def test_every_key_of_the_page_has_its_rights():
    """A new key is a new row here, or nobody may touch it."""
    page = Path(keys.__file__).read_text(encoding="utf-8").split('"""')[1]
    listed = set(re.findall(r"^    (rw:\S+) +(?!pub/sub)\S", page, re.MULTILINE))

    assert set(ACCESS) == listed


DANGEROUS = (
    "KEYS *", "SCAN 0", "FLUSHALL", "FLUSHDB", "CONFIG GET *", "CONFIG SET maxmemory 1", "EVAL return(1) 0",
    "SCRIPT FLUSH", "FUNCTION LIST", "SHUTDOWN", "SAVE", "BGREWRITEAOF", "REPLICAOF NO ONE",
    "ACL LIST", "ACL SETUSER x on", "CLIENT LIST", "CLIENT KILL TYPE normal", "MONITOR", "MODULE LIST",
    "RANDOMKEY", "SWAPDB 0 1", "CLUSTER RESET", "SLOWLOG GET", "PUBLISH other x", "PSUBSCRIBE *",
    "DUMP rw:runs", "SORT rw:mutes", "OBJECT ENCODING rw:runs", "RENAME rw:runs rw:mutes", "COPY rw:runs rw:x",
    "GET other", "SET other 1", "DEL rw:lease", "MIGRATE h 1 rw:runs 0 1", "RESTORE rw:x 0 x",
)  # fmt: skip


@pytest.mark.parametrize("role", Role)
def test_what_nobody_needs_nobody_may(server, role):
    """Scripts, settings, listings, deletions and everybody else's keys are refused, to each role."""
    client = Redis.from_url(url_for(role, server.address))

    for command in DANGEROUS:
        with pytest.raises(NoPermissionError):
            client.execute_command(*command.split())


FOREIGN = (
    "HSET rw:hb:{node2/run42} heartbeat x", "HGETALL rw:hb:{node2/run42}", "XADD rw:ev:{node2/run42}:e1 1-0 b x",
    "XRANGE rw:ev:{node2/run42}:e1 - +", "HSET rw:floor:{node2/run42} e1 9", "XREAD STREAMS rw:req:{node2/run42} 0",
    "HGETALL rw:hb:{node11/run42}", "XRANGE rw:ev:{node1}:e1 - +", "ZRANGE rw:runs 0 -1", "HGETALL rw:mutes",
    "HSET rw:mutes m {}", "GET rw:lease:{announcer}", "SET rw:lease:{announcer} me", "HGETALL rw:incident:{i1}",
    "HSET rw:incident:{i1} is_open false", "XADD rw:req:{node2/run42} * b x", "SET rw:seen:E1 1", "SUBSCRIBE rw:wake", "INFO memory",
)  # fmt: skip


def test_a_watcher_may_not_touch_what_is_not_its_own(server):
    """Not another node's stream, heartbeat or requests, no lease, no incident, no mute."""
    client = Redis.from_url(url_for(Role.WATCHER, server.address))

    for command in FOREIGN:
        with pytest.raises(NoPermissionError):
            client.execute_command(*command.split())


OWN = (
    "XTRIM rw:ev:{node1/run42}:e1 MAXLEN 0", "DEL rw:ev:{node1/run42}:e1", "XDEL rw:ev:{node1/run42}:e1 1-0",
    "HSET rw:led:{node1/run42} e1:1:d x", "HDEL rw:led:{node1/run42} e1:w", "HGETALL rw:dead:{node1/run42}",
    "DEL rw:run:{run42}", "HGETALL rw:run:{run42}", "GET rw:hb:{node1/run42}", "ZREM rw:watchers node2/run42",
    "ZREMRANGEBYSCORE rw:watchers -inf +inf", "XADD rw:req:{node1/run42} * b x", "XREAD STREAMS rw:ans:{q} 0", "XREAD STREAMS rw:ev:{node1/run42}:e1 0", "EXPIRE rw:run:{run42} 1",
)  # fmt: skip


def test_a_watcher_may_not_do_to_its_own_what_it_never_does(strict):
    """From Redis 7 on: no trimming, no deleting, no mark that something was told."""
    client = Redis.from_url(url_for(Role.WATCHER, strict.address))

    for command in OWN:
        with pytest.raises(NoPermissionError):
            client.execute_command(*command.split())


def test_a_reader_writes_nothing(server):
    """Its rights hold no command that changes anything."""
    writing = set(server.client().execute_command("ACL", "CAT", "write"))
    ours = {
        command.partition("|")[0].lower().encode() for access in ACCESS.values() for command in access.of(Role.READER)
    }

    assert ours & writing == set()


def test_a_watcher_may_be_held_to_its_runs(strict):
    """With a pattern of runs it cannot write the numbers of others."""
    client = strict.client()
    client.execute_command(*shlex.split(line(Role.WATCHER, "node2", "llama-*")))
    client.execute_command("ACL", "SETUSER", "runwatch-watcher-node2", ">s")
    watcher = Redis.from_url(f"redis://runwatch-watcher-node2:s@{strict.address}")

    watcher.hset(keys.run("llama-7b"), "owner", '"x"')
    with pytest.raises(NoPermissionError):
        watcher.hset(keys.run("gpt"), "owner", '"x"')


@pytest.mark.parametrize("node", ["a}:*", "[x]", "two words", "训练 节点", "*?"])
def test_no_name_of_a_node_widens_its_rights(strict, node):
    """Brackets, stars and braces in a name stand for themselves, or for one character at most."""
    words = rules(Role.WATCHER, node)
    strict.client().execute_command("ACL", "SETUSER", "odd", *words, ">s")
    watcher = Redis.from_url(f"redis://odd:s@{strict.address}")

    watcher.hset(keys.heartbeat(f"{node}/all"), "heartbeat", "x")
    with pytest.raises(NoPermissionError):
        watcher.hset(keys.heartbeat("node2/all"), "heartbeat", "x")


async def test_a_right_that_is_missing_is_named(strict):
    """Somebody took a command away: the words say which, and no password."""
    strict.client().execute_command("ACL", "SETUSER", user_name(Role.BOT), "clearselectors")
    registry = connect(url_for(Role.BOT, strict.address), "bot")

    with pytest.raises(Refused, match="hgetall") as refused:
        await registry.runs.get("run42")

    assert "secret" not in str(refused.value)
    await registry.aclose()
