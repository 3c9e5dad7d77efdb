"""TLS: everything works over it, and whoever answers must be who the address says; each refusal names the remedy."""

import asyncio
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from registry import BadAddress, Refused, RegistryAway, connect
from registry.access import Role
from registry.door import Door
from tests.ports import HOST
from tests.registry import lives
from tests.registry.authority import Authority
from tests.registry.test_acl import DEBIANS, give_rights, lead_all_lives, url_for
from tests.topologies import ClusterOf, Node, Trio, short_home

pytestmark = pytest.mark.scenario


class TlsNode(Node):
    """A server that speaks nothing but TLS."""

    authority: Authority
    certificate: str = "server"
    wants_certificates: str = "no"

    @property
    def tls(self) -> tuple[str, ...]:
        home = self.authority.home
        return (
            *("--tls-port", str(self.port), "--port", "0", "--tls-replication", "yes", "--tls-cluster", "yes"),
            *("--tls-cert-file", f"{home}/{self.certificate}.pem", "--tls-key-file", f"{home}/{self.certificate}.key"),
            *("--tls-ca-cert-file", f"{home}/ca.pem", "--tls-auth-clients", self.wants_certificates),
        )

    def start(self, *, wait: bool = True) -> Node:
        kept, self.options = self.options, [*self.options, *self.tls]
        try:
            return super().start(wait=wait)
        finally:
            self.options = kept

    def client(self) -> Redis:
        home = self.authority.home
        return Redis(
            *(HOST, self.port),
            socket_timeout=5,
            ssl=True,
            ssl_cert_reqs="none",
            ssl_check_hostname=False,
            ssl_certfile=f"{home}/client.pem",
            ssl_keyfile=f"{home}/client.key",
        )


@pytest.fixture
def home() -> Iterator[Path]:
    with short_home() as made:
        yield made


@pytest.fixture
def authority(home) -> Authority:
    made = Authority(home / "ca")
    made.sign("server", HOST, "localhost")
    made.sign("client")
    return made


@pytest.fixture
def start(home, authority):
    started = []

    def begin(certificate="server", wants_certificates="no") -> TlsNode:
        node = TlsNode(home / f"server{len(started)}", binary=DEBIANS)
        node.authority, node.certificate, node.wants_certificates = authority, certificate, wants_certificates
        started.append(node)
        return node.start()

    yield begin
    for node in started:
        node.stop()


@pytest.fixture(autouse=True)
def trusting(authority, monkeypatch):
    """The authority is named by the environment, as on a node."""
    monkeypatch.setenv("REDIS_TLS_CA_FILE", str(authority.file))


async def refusal(url: str) -> str:
    door = Door(url, "test")
    with pytest.raises(Refused) as refused:
        await door.call("PING")
    await door.aclose()
    return str(refused.value)


async def not_taken(url: str) -> str:
    """What is said where the server does not take our certificate; its own reason may be lost on the way."""
    door = Door(url, "test")
    with pytest.raises((Refused, RegistryAway)) as said:
        await door.call("PING")
    await door.aclose()
    return str(said.value)


async def test_everything_works_over_tls_under_users_of_their_own(start):
    """All that watcher, bot and reader do, each with its user, its rights and the authority checked."""
    node = start()
    give_rights(node.client())

    await lead_all_lives({role: url_for(role, node.address, "rediss") for role in Role}, node.client())

    assert node.client().acl_log() == []


async def test_everything_works_in_a_cluster_over_tls(home, authority):
    """Three primaries and their copies, which talk TLS among themselves too; one dies on the way."""

    class Member(TlsNode):
        pass

    Member.authority = authority
    cluster = ClusterOf(home, binary=DEBIANS, make=Member)
    url = cluster.url.replace("redis+", "rediss+")
    watcher, bot = connect(url, "watcher", call_seconds=2), connect(url, "bot", call_seconds=2)
    await lives.live_as_watcher(watcher)
    await lives.live_as_bot(bot)

    doomed = cluster.owner("rw:runs")
    doomed.client().wait(1, 5000)
    doomed.kill()
    await asyncio.to_thread(cluster.await_failover, doomed, "rw:runs")

    assert await bot.runs.all()
    for registry in (watcher, bot):
        await registry.aclose()
    cluster.stop()


async def test_everything_works_behind_sentinels_over_tls(home, authority):
    """The sentinels are asked over TLS too."""

    class Member(TlsNode):
        pass

    Member.authority = authority
    trio = Trio(home, binary=DEBIANS, make=Member)
    registry = connect(trio.url.replace("redis+", "rediss+"), "test", call_seconds=2)
    await lives.live_as_watcher(registry)
    old = trio.primary
    old.client().wait(1, 5000)

    old.kill()
    await asyncio.to_thread(trio.await_failover, old)

    assert await registry.runs.all()
    await registry.aclose()
    trio.stop()


async def test_an_authority_nobody_trusts_is_refused(start, home, monkeypatch):
    """Somebody else's certificate: no byte of ours is sent, and the setting that names the authority is told."""
    node = start()
    monkeypatch.setenv("REDIS_TLS_CA_FILE", str(Authority(home / "other", "Another").file))

    said = await refusal(f"rediss://u:geheim@{node.address}")

    assert "nobody we trust has signed it" in said
    assert "REDIS_TLS_CA_FILE" in said
    assert "geheim" not in said


async def test_a_certificate_for_another_host_is_refused(start, authority):
    """It may be genuine and still not be the server we were sent to."""
    authority.sign("elsewhere", "redis.example", "10.9.9.9")
    node = start("elsewhere")

    assert "another address" in await refusal(f"rediss://{node.address}")
    assert "another host name" in await refusal(f"rediss://localhost:{node.port}")


async def test_the_host_may_be_left_unchecked_on_purpose(start, authority):
    """Behind sentinels that hand out bare addresses: the authority is still checked."""
    authority.sign("elsewhere", "redis.example")
    node = start("elsewhere")
    door = Door(f"rediss://{node.address}?tls_check_hostname=no", "test")

    assert await door.call("PING")
    await door.aclose()


async def test_an_expired_certificate_is_refused(start, authority):
    """And the word is that it has expired."""
    authority.sign("old", HOST, days=0)
    time.sleep(1.5)
    node = start("old")

    assert "has expired" in await refusal(f"rediss://{node.address}")


async def test_a_server_that_wants_to_know_us_says_so(start, authority, home, monkeypatch):
    """Without a certificate of ours the settings for it are named; with it, all is well."""
    node = start(wants_certificates="yes")
    assert "REDIS_TLS_CERT_FILE" in await not_taken(f"rediss://{node.address}")

    monkeypatch.setenv("REDIS_TLS_CERT_FILE", str(authority.home / "client.pem"))
    monkeypatch.setenv("REDIS_TLS_KEY_FILE", str(authority.home / "client.key"))
    door = Door(f"rediss://{node.address}", "test")
    assert await door.call("PING")
    await door.aclose()

    other = Authority(home / "other", "Another")
    other.sign("stranger")
    url = f"rediss://{node.address}?tls_cert_file={other.home}/stranger.pem&tls_key_file={other.home}/stranger.key"
    assert "REDIS_TLS_CERT_FILE" in await not_taken(url)


async def test_tls_to_a_plain_server_is_said(home):
    """`rediss://` where `redis://` was meant."""
    node = Node(home / "plain", binary=DEBIANS).start()

    door = Door(f"rediss://{node.address}", "test", call_seconds=1)
    with pytest.raises(RegistryAway, match="speaks no TLS: then the address begins with redis://"):
        await door.call("PING")
    await door.aclose()
    node.stop()


async def test_a_file_that_holds_no_certificate_is_said(start, home, monkeypatch):
    """Missing or wrong, the words name what is wrong with it."""
    node = start()
    (home / "empty.pem").write_text("nothing\n")
    monkeypatch.setenv("REDIS_TLS_CA_FILE", str(home / "empty.pem"))
    assert "no certificate" in await refusal(f"rediss://{node.address}")

    monkeypatch.setenv("REDIS_TLS_CA_FILE", str(home / "missing.pem"))
    with pytest.raises(BadAddress, match=r"REDIS_TLS_CA_FILE .* names .*missing\.pem, which cannot be read: No such"):
        connect(f"rediss://{node.address}")


async def test_a_renewed_authority_is_picked_up_without_a_restart(start, authority, home):
    """The server comes back under a new authority, our file is replaced: the same process goes on."""
    node = start()
    registry = connect(f"rediss://{node.address}", "test", call_seconds=2)
    await registry.runs.see("run42")
    node.kill()
    shutil.move(authority.home, home / "before")
    renewed = Authority(authority.home, "Renewed")
    renewed.sign("server", HOST)
    renewed.sign("client")

    node.start()
    deadline = time.monotonic() + 60
    while True:
        try:
            assert [run.name for run in await registry.runs.all()] == ["run42"]
            break
        except (Refused, RegistryAway):
            assert time.monotonic() < deadline
            await asyncio.sleep(0.2)
    await registry.aclose()


async def test_an_unchecked_certificate_is_warned_about(start):
    """Somebody switched the check off: they are told what that means."""
    node = start()
    registry = connect(f"rediss://{node.address}?ssl_cert_reqs=none", "test")

    assert any("anybody may answer" in warning for warning in await registry.check())
    await registry.aclose()
