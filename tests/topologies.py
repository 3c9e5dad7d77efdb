"""Real servers in the shapes people run: a primary with sentinels, and a Cluster; any of them may be killed."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from redis import Redis
from redis.crc import key_slot
from redis.exceptions import RedisError

from registry.embedded import _LEASH
from tests.ports import HOST, free_port, free_ports
from tests.servers import TEST_SERVER

# The kernel ends a server with the thread that started it, so one thread starts them all and stays.
_KEEPER = ThreadPoolExecutor(1, "keeper")


class Node:
    """One server process on a port of its own."""

    def __init__(self, home: Path, *options: str, port: int = 0, binary: Path | None = None) -> None:
        self.home = home
        self.port = port or free_port()
        self.binary = binary or TEST_SERVER
        self.options = [*options]
        self.plain_options = len(options)
        self.process: subprocess.Popen[bytes] | None = None
        home.mkdir(parents=True, exist_ok=True)

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"

    def start(self, *, wait: bool = True) -> "Node":
        command = [
            *(sys.executable, "-ISc", _LEASH, str(os.getpid()), str(self.binary), *self._arguments()),
            *("--port", str(self.port), "--bind", HOST, "--dir", str(self.home)),
            *("--logfile", str(self.home / "log"), "--daemonize", "no", *self.options),
        ]
        self.process = _KEEPER.submit(
            subprocess.Popen, command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        ).result()
        if wait:
            until(self.answers, f"{self.home.name} does not answer")
        return self

    def answers(self) -> bool:
        with contextlib.suppress(RedisError, OSError):
            return bool(self.client().ping())
        return False

    def client(self) -> Redis:
        return Redis(host=HOST, port=self.port, socket_timeout=5)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)
        assert self.process is not None
        self.process.wait()

    def pause(self) -> None:
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.kill()

    def role(self) -> str:
        return str(self.client().info("replication")["role"])

    def _arguments(self) -> Sequence[str]:
        return ("--appendonly", "yes", "--save", "", "--repl-diskless-sync-delay", "0")

    def _signal(self, number: int) -> None:
        assert self.process is not None
        self.process.send_signal(number)


class Sentinel(Node):
    """One sentinel; it writes what it learns into its own configuration."""

    def __init__(self, home: Path, name: str, primary: Node, *, binary: Path | None = None) -> None:
        super().__init__(home, "--sentinel", binary=binary)
        (home / "sentinel.conf").write_text(
            f"sentinel monitor {name} {HOST} {primary.port} 2\n"
            f"sentinel down-after-milliseconds {name} 500\n"
            f"sentinel failover-timeout {name} 6000\n"
        )

    def _arguments(self) -> Sequence[str]:
        return (str(self.home / "sentinel.conf"),)


class Trio:
    """Two servers, one copying the other, and three sentinels that agree on who leads."""

    NAME = "runwatch"

    def __init__(self, home: Path, *options: str, binary: Path | None = None, make: type[Node] = Node) -> None:
        self.nodes = [make(home / f"server{n}", *options, binary=binary) for n in range(2)]
        first, second = self.nodes
        first.start()
        second.options += ("--replicaof", f"{HOST} {first.port}")
        second.start()
        until(lambda: _link(second) == "up", "the replica does not copy")
        sentinel = Sentinel if make is Node else type("SentinelToo", (Sentinel, make), {})
        self.sentinels = [sentinel(home / f"sentinel{n}", self.NAME, first, binary=binary) for n in range(3)]
        for sentinel in self.sentinels:
            sentinel.start()
        until(self.is_ready, "the sentinels do not find each other")

    @property
    def url(self) -> str:
        return f"redis+sentinel://{','.join(one.address for one in self.sentinels)}/{self.NAME}/0"

    @property
    def primary(self) -> Node:
        """The server that leads by the word of the sentinels."""
        _, port = self.sentinels[0].client().sentinel_get_master_addr_by_name(self.NAME)
        return next(node for node in self.nodes if node.port == port)

    @property
    def replica(self) -> Node:
        primary = self.primary
        return next(node for node in self.nodes if node is not primary)

    def is_ready(self) -> bool:
        """True when every sentinel knows all of it, so that a failover would succeed."""
        for sentinel in self.sentinels:
            known = sentinel.client().sentinel_master(self.NAME)
            if (known["num-slaves"], known["num-other-sentinels"]) != (1, 2):
                return False
            replica = sentinel.client().sentinel_slaves(self.NAME)[0]
            if replica["is_sdown"] or replica["master-link-status"] != "ok":
                return False
        return True

    def await_failover(self, old: Node) -> float:
        """Wait until another server leads and takes writes; how long that took."""
        began = time.monotonic()
        until(lambda: self.primary is not old and self.primary.role() == "master", "no failover")
        return time.monotonic() - began

    def restore(self, node: Node) -> None:
        """Bring a killed server back, as a copy of the new primary; the sentinels would see to it in half a minute."""
        del node.options[node.plain_options :]
        node.options += ("--replicaof", f"{HOST} {self.primary.port}")
        node.start()
        until(lambda: node.role() == "slave" and _link(node) == "up", "the old primary does not join")

    def cut_off(self, replica: Node) -> None:
        """Let a copy grow stale: it hears no more of its primary, though the sentinels still trust it."""
        replica.client().replicaof(HOST, free_port())

    def stop(self) -> None:
        for node in (*self.sentinels, *self.nodes):
            node.stop()


class ClusterOf:
    """Three primaries and a replica of each."""

    def __init__(self, home: Path, *options: str, binary: Path | None = None, make: type[Node] = Node) -> None:
        cluster = ("--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--cluster-node-timeout", "1000")
        more = ("--cluster-allow-replica-migration", "no", *options)
        ports = free_ports(6)
        self.nodes = [make(home / f"node{n}", *cluster, *more, port=ports[n], binary=binary) for n in range(6)]
        for node in self.nodes:
            node.start(wait=False)
        for node in self.nodes:
            until(node.answers, f"{node.home.name} does not answer")
        share = 16_384 // 3 + 1
        for number, node in enumerate(self.nodes[:3]):
            first = number * share
            node.client().execute_command("CLUSTER", "ADDSLOTSRANGE", first, min(first + share, 16_384) - 1)
            node.client().execute_command("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        for node in self.nodes[1:]:
            self.nodes[0].client().execute_command("CLUSTER", "MEET", HOST, node.port)
        until(lambda: all(len(_known(node)) == 6 for node in self.nodes), "the servers do not meet")
        for primary, replica in zip(self.nodes[:3], self.nodes[3:], strict=True):
            until(lambda r=replica, p=primary: _replicate(r, p), "a replica does not follow")
        until(self.is_ready, "the Cluster does not settle")

    @property
    def url(self) -> str:
        return f"redis+cluster://{self.nodes[0].address},{self.nodes[4].address}"

    def owner(self, key: str) -> Node:
        """The primary that owns this key's slot, by the word of any server that lives."""
        slot = key_slot(key.encode())
        for node in self.nodes:
            with contextlib.suppress(RedisError, OSError):
                for first, last, (_, port, *_rest), *_replicas in node.client().execute_command("CLUSTER", "SLOTS"):
                    if first <= slot <= last:
                        return next(one for one in self.nodes if one.port == port)
        raise AssertionError("nobody owns it")

    def replica_of(self, primary: Node) -> Node:
        index = self.nodes.index(primary)
        return self.nodes[(index + 3) % 6]

    def is_ready(self) -> bool:
        """True when every server is content and lists all of them, and every replica copies."""
        for node in self.nodes:
            if len(_listed(node)) < len(self.nodes):
                return False
            if b"cluster_state:ok" not in node.client().execute_command("CLUSTER", "INFO", NEVER_DECODE=[]):
                return False
            if node.role() == "slave" and _link(node) != "up":
                return False
        return sum(node.role() == "slave" for node in self.nodes) == 3

    def await_failover(self, old: Node, key: str) -> float:
        """Wait until another server owns the key; how long that took."""
        began = time.monotonic()
        until(lambda: self.owner(key) is not old, "no failover")
        return time.monotonic() - began

    def restore(self, node: Node) -> None:
        """Bring a killed server back."""
        node.start()
        until(self.is_ready, "the Cluster does not heal")

    def begin_move(self, key: str, target: Node) -> tuple[int, Node, Node]:
        """Open a slot for moving; its keys stay where they are for now."""
        slot, source = key_slot(key.encode()), self.owner(key)
        target.client().execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", _id(source))
        source.client().execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", _id(target))
        return slot, source, target

    def end_move(self, move: tuple[int, Node, Node]) -> None:
        """Move the keys of an open slot, and close it."""
        slot, source, target = move
        while found := source.client().execute_command("CLUSTER", "GETKEYSINSLOT", slot, 100):
            source.client().execute_command("MIGRATE", HOST, target.port, "", 0, 5000, "KEYS", *found)
        for node in (target, source, *self.nodes[:3]):
            with contextlib.suppress(RedisError):
                node.client().execute_command("CLUSTER", "SETSLOT", slot, "NODE", _id(target))

    def stop(self) -> None:
        for node in self.nodes:
            node.stop()


@contextlib.contextmanager
def short_home() -> Iterator[Path]:
    """A directory whose name leaves room for what stands in it."""
    home = Path(tempfile.mkdtemp(prefix="rw-"))
    try:
        yield home
    finally:
        shutil.rmtree(home, ignore_errors=True)


def until(holds: Callable[[], bool], otherwise: str) -> None:
    """Wait a minute until something holds; a server that does not answer yet does not hold."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with contextlib.suppress(RedisError, OSError, KeyError):
            if holds():
                return
        time.sleep(0.05)
    raise AssertionError(otherwise)


def _link(node: Node) -> str:
    return str(node.client().info("replication").get("master_link_status"))


def _known(node: Node) -> list[bytes]:
    said: bytes = node.client().execute_command("CLUSTER", "NODES", NEVER_DECODE=[])
    return [line for line in said.splitlines() if line]


def _id(node: Node) -> str:
    return str(node.client().execute_command("CLUSTER", "MYID").decode())


def _listed(node: Node) -> set[int]:
    """The ports a server gives to whoever asks it for the map: a replica it has not heard of is not among them."""
    slots = node.client().execute_command("CLUSTER", "SLOTS")
    return {port for _first, _last, *servers in slots for (_host, port, *_rest) in servers}


def _replicate(replica: Node, primary: Node) -> bool:
    replica.client().execute_command("CLUSTER", "REPLICATE", _id(primary))
    return True
