"""One thing goes wrong for a while, and then it is well again: what was found meanwhile is read once."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from tests.ports import free_port
from tests.scenarios.episodes import HEALTHY, Entry, good, line
from tests.scenarios.oracle import judge
from tests.scenarios.product import Product
from tests.scenarios.room import until

pytestmark = pytest.mark.scenario

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
HOST, NODE = "10.213.77.1", "10.213.77.2"


@pytest.fixture
def product(tmp_path) -> Iterator[Product]:
    with Product(tmp_path) as made:
        yield made


class Log:
    """A run's log that the test writes."""

    def __init__(self, product: Product, run: str) -> None:
        self.run = run
        self.path = product.home / f"{run}.log"
        self.say(*(good(number) for number in range(HEALTHY)))

    def say(self, *lines: str) -> None:
        with self.path.open("a") as file:
            file.writelines(f"{text}\n" for text in lines)

    def goes_wrong(self, number: int) -> Entry:
        """The loss is NaN at this step; what must be read of it."""
        self.say(line(number, "nan", "nan"))
        return Entry(self.run, number, "nan")

    def comes_back(self, number: int) -> Entry:
        """Three good steps; what must be read of it."""
        self.say(*(good(number + more) for more in range(3)))
        return Entry(self.run, number, "over")


def told(product: Product, *entries: Entry, seconds: float = 60):
    """Wait until these were read, and no longer."""
    until(lambda: not judge(product.slack.written(), entries).lost, seconds, what=str(entries))


def is_clean(product: Product, *entries: Entry) -> bool:
    """These were read once each, and nothing else."""
    time.sleep(4)
    judgement = judge(product.slack.written(), entries)
    assert judgement.is_clean, str(judgement)
    return True


def spooled(product: Product, node: str) -> int:
    """Bytes of findings that wait on a node's disk."""
    return sum(path.stat().st_size for path in product.state_of(node).rglob("*.seg"))


def test_slack_says_too_many_requests(product):
    """Nobody asks again before Slack's time is over, and everything arrives in the end."""
    product.open(rate_limit=True)
    product.slack.change(
        "faults", method="chat.postMessage", fault="rate_limited", **{"with": {"retry_after": 3}}, times=4
    )
    logs = [Log(product, f"run{number}") for number in range(6)]
    product.start_bot(RUNWATCH_CHANNEL_INTERVAL="1s")
    product.start_watcher("node0", {log.run: str(log.path) for log in logs})
    product.connected()

    entries = [log.goes_wrong(HEALTHY) for log in logs]

    told(product, *entries)
    assert is_clean(product, *entries)
    assert early(product.slack.look("calls", method="chat.postMessage"), 3.0) == []


def early(calls, seconds: float) -> list[float]:
    """How long after each refusal the next call of its channel came, where that was too soon."""
    gaps = []
    for before, after in pairwise(calls):
        # Timestamps are taken at the workspace, once it has answered.
        if before["status"] == 429 and (gap := after["at"] - before["at"]) < seconds - 0.05:
            gaps.append(gap)
    return gaps


def test_everything_starts_while_slack_and_redis_are_away(product):
    """Bot and watcher wait for both, however long; what was found meanwhile is told when they come."""
    product.open()
    log = Log(product, "run0")
    with product.redis_away(0):
        product.kill("slack")
        product.start_bot()
        product.start_watcher("node0", {log.run: str(log.path)})
        time.sleep(4)
        entry = log.goes_wrong(HEALTHY)
        until(lambda: spooled(product, "node0") > 0, what="the finding is on the node's disk")
        time.sleep(4)
        assert product.are_alive("bot0", "node0")
        product.again("slack")

    told(product, entry)
    assert is_clean(product, entry)


@AS_ROOT
def test_the_disk_of_a_watcher_is_full(product):
    """Findings go straight on, a killed watcher reads its lines again, and the spool comes back by itself."""
    with small_disk(product.state_of("node0")) as disk:
        product.open()
        log = Log(product, "run0")
        product.start_bot()
        product.start_watcher("node0", {log.run: str(log.path)})
        product.connected()
        first = log.goes_wrong(HEALTHY)
        told(product, first)

        filling = fill(disk)
        second = log.comes_back(HEALTHY + 1), log.goes_wrong(HEALTHY + 8)
        told(product, first, *second)
        product.kill("node0")
        product.again("node0")
        third = log.comes_back(HEALTHY + 9), log.goes_wrong(HEALTHY + 16)
        told(product, first, *second, *third)
        assert "not spooled" in product.said("node0") or "no spool" in product.said("node0")

        filling.unlink()
        fourth = log.comes_back(HEALTHY + 17), log.goes_wrong(HEALTHY + 24)
        told(product, first, *second, *third, *fourth)
        assert is_clean(product, first, *second, *third, *fourth)
        assert product.are_alive()


@AS_ROOT
@pytest.mark.skipif(not (shutil.which("ip") and shutil.which("nft")), reason="needs ip and nft")
def test_the_network_between_a_node_and_redis_is_cut(product):
    """Packets vanish without a word; healed, what waited on the node's disk is told, once."""
    with own_network() as inside:
        port = free_port()
        product.open(redis=("--port", str(port), "--bind", HOST, "--protected-mode", "no"))
        log, other = Log(product, "run0"), Log(product, "run1")
        product.start_bot()
        product.start_watcher("node0", {log.run: str(log.path)}, launcher=inside, REDIS_URL=f"redis://{HOST}:{port}/0")
        product.start_watcher("node1", {other.run: str(other.path)})
        product.connected()
        first = log.goes_wrong(HEALTHY)
        told(product, first)

        with cut(inside, port):
            second = log.comes_back(HEALTHY + 1), log.goes_wrong(HEALTHY + 8)
            until(lambda: spooled(product, "node0") > 0, what="the finding is on the node's disk")
            neighbour = other.goes_wrong(HEALTHY)
            told(product, neighbour)
            time.sleep(8)
            assert set(judge(product.slack.written(), second).lost) == set(second)
            product.kill("node0")
            product.again("node0")
            time.sleep(2)

        told(product, first, neighbour, *second)
        assert is_clean(product, first, neighbour, *second)


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A file system of one MiB there."""
    folder.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill(disk: Path) -> Path:
    """A file that leaves no room."""
    path = disk / "filling"
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return path


@contextmanager
def own_network() -> Iterator[tuple[str, ...]]:
    """A network of a node's own, joined to ours by one cable: what to put before a command to run it there."""
    name = f"rw{os.getpid()}"
    inside = ("ip", "netns", "exec", name)
    run("ip", "netns", "add", name)
    try:
        run("ip", "link", "add", f"{name}a", "type", "veth", "peer", "name", f"{name}b", "netns", name)
        run("ip", "addr", "add", f"{HOST}/30", "dev", f"{name}a")
        run("ip", "link", "set", f"{name}a", "up")
        run(*inside, "ip", "addr", "add", f"{NODE}/30", "dev", f"{name}b")
        run(*inside, "ip", "link", "set", f"{name}b", "up")
        run(*inside, "ip", "link", "set", "lo", "up")
        yield inside
    finally:
        run("ip", "netns", "del", name)


@contextmanager
def cut(inside: tuple[str, ...], port: int) -> Iterator[None]:
    """Nothing gets from there to a port, and nobody is told so."""
    run(*inside, "nft", "add table inet cut")
    run(*inside, "nft", "add chain inet cut out { type filter hook output priority 0 ; }")
    run(*inside, "nft", f"add rule inet cut out tcp dport {port} drop")
    try:
        yield
    finally:
        run(*inside, "nft", "delete table inet cut")


def run(*words: str) -> None:
    subprocess.run(words, check=True)
