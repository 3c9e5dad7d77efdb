"""A watcher's own /healthz, /metrics and dead-man ping: only where somebody set them, and holding up nothing."""

import asyncio
import json
import subprocess
import sys
from dataclasses import replace

import pytest

from tests.ports import free_port
from tests.watcher.conftest import until
from tests.watcher.following import lines
from watcher import dead_man
from watcher.dead_man import DeadMan, why_refused
from watcher.settings import WatcherSettings


async def ask(port, line):
    """What a bare connection gets: status and body."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(line)
    await writer.drain()
    answer = await asyncio.wait_for(reader.read(), 60)
    writer.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]) if head else None, body


@pytest.fixture
async def page(watching, settings, log):
    """A watcher with a page, on a port that was free."""
    log.write_bytes(lines(0, 50))
    with_page = replace(settings, watcher_port=free_port(), metrics=True)

    async def start():
        agent = await watching(with_page)
        await until(lambda: agreed(agent.page is not None and agent.page.port))
        return agent

    return start


async def agreed(value):
    return value


async def test_a_watcher_that_observes_is_well(page):
    """200 with the facts: runs, files, what waits; a watcher that sees no log says 503."""
    agent = await page()
    await until(lambda: agreed(any(run.files for run in agent.runs)))

    status, body = await ask(agent.page.port, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    told = json.loads(body)
    assert (status, told["well"], told["node"], told["registry"]) == (200, True, "node17", "answers")
    assert told["runs"] == {"run42": {"files": 1, "lag_bytes": 0}}

    agent.runs[0].files = 0
    assert (await ask(agent.page.port, b"GET /healthz HTTP/1.0\r\n\r\n"))[0] == 503


async def test_prometheus_can_read_it(page):
    """In the format its own parser reads, with the process's memory beside it."""
    parser = pytest.importorskip("prometheus_client.parser")
    agent = await page()

    status, body = await ask(agent.page.port, b"GET /metrics HTTP/1.1\r\n\r\n")

    families = {one.name: one for one in parser.text_string_to_metric_families(body.decode())}
    assert status == 200
    assert families["runwatch_watcher_registry_up"].samples[0].value == 1.0
    assert families["runwatch_watcher_log_files"].samples[0].labels == {"run": "run42"}
    assert "process_resident_memory_bytes" in families


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (b"POST /healthz HTTP/1.1\r\n\r\n", 405),
        (b"GET /etc/passwd HTTP/1.1\r\n\r\n", 404),
        (b"GET /healthz/../metrics HTTP/1.1\r\n\r\n", 404),
        (b"\r\n", 400),
        (b"\xff\xfe\x00 \x01 \r\n", 405),
        (b"x" * 100_000 + b"\r\n\r\n", None),
    ],
)
async def test_whatever_else_is_asked_harms_nothing(page, line, status):
    """A status or a closed connection, and the next one is answered."""
    agent = await page()

    with_answer = await ask(agent.page.port, line) if status else None
    if status is None:
        with pytest.raises((OSError, IndexError, AssertionError)):
            assert (await ask(agent.page.port, line))[0] is not None
    else:
        assert with_answer[0] == status
    assert (await ask(agent.page.port, b"GET /healthz HTTP/1.0\r\n\r\n"))[0] in (200, 503)


async def test_a_port_that_is_taken_is_a_problem_and_no_end(watching, settings, log):
    """The watcher goes on, and its heartbeat says why the page is missing."""
    log.write_bytes(lines(0, 50))
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    async with server:
        agent = await watching(replace(settings, watcher_port=server.sockets[0].getsockname()[1]))
        await until(lambda: agreed("the health page" in agent.failing))
        await until(lambda: agreed(any(run.files for run in agent.runs)))


def test_nothing_of_it_is_loaded_where_nobody_asked():
    """An idle watcher brings neither the page nor the ping, nor what they need."""
    code = (
        "import sys, watcher.agent, watcher.launched; from watcher.settings import WatcherSettings; WatcherSettings();"
        "print(*sorted(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    unwanted = {"prometheus_client", "urllib.request", "http.client", "watcher.dead_man", "watcher.health_page"}
    assert unwanted & set(found) == set()


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("https://ping.example.com/abc", None),
        ("https://PING.example.com:8443/abc", None),
        ("http://127.0.0.1:9/abc", None),
        ("http://ping.example.com/abc", "https://"),
        ("ftp://ping.example.com/abc", "https://"),
        ("https://evil.example.net/abc", "DEAD_MAN_HOSTS"),
        ("https://ping.example.com.evil.net/", "DEAD_MAN_HOSTS"),
        ("https://ping.example.com@evil.example.net/", "no user"),
        ("https://u:p@ping.example.com/", "no user"),
        ("https://[::1", "no URL"),
        ("", "https://"),
        ("file:///etc/passwd", "https://"),
    ],
)
def test_only_an_address_that_was_allowed_is_asked(url, why):
    """Named twice, over TLS, and nothing in it that leads elsewhere."""
    said = why_refused(url, ("ping.example.com",), "RUNWATCH_DEAD_MAN_URL")

    assert (said is None) if why is None else why in said


def test_a_watcher_refuses_to_start_with_another_one():
    """At the start, not on the bad night; the address itself is not said."""
    with pytest.raises(ValueError, match="RUNWATCH_DEAD_MAN_HOSTS") as refused:
        WatcherSettings(watcher_dead_man_url="https://evil.example.net/secret-path")

    assert "secret-path" not in str(refused.value)


async def serve(*answers):
    """An address outside that answers so, the last one again and again; what it was asked."""
    asked = []

    async def answer(reader, writer):
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answers[min(len(asked), len(answers)) - 1])
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    return server, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/secret-path", asked


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


async def test_it_pings_while_all_is_well_and_only_then():
    """When the watcher no longer observes, the silence outside tells."""
    well = [True]
    server, url, asked = await serve(OK)
    ping = DeadMan(url, 0.02, lambda: well[0])
    running = asyncio.create_task(ping.run())
    async with server:
        await until(lambda: agreed(ping.taken >= 2))
        well[0] = False
        await asyncio.sleep(1.0)  # one may be on its way
        count = len(asked)
        await asyncio.sleep(0.3)
        assert len(asked) == count
        running.cancel()
    assert asked[0].startswith(b"GET /secret-path ")


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/elsewhere\r\nContent-Length: 0\r\n\r\n",
        b"rubbish\r\n\r\n",
        b"",
    ],
)
async def test_what_is_not_taken_is_said_once_without_the_address(answer, caplog):
    """A failure, a redirect, rubbish: no harm, one line in the log, and one when it is over."""
    server, url, _ = await serve(answer, answer, answer, OK)
    ping = DeadMan(url, 0.02, lambda: True)
    running = asyncio.create_task(ping.run())
    async with server:
        await until(lambda: agreed(ping.taken >= 1))
        running.cancel()

    said = [record.getMessage() for record in caplog.records if record.name == "watcher.dead_man"]
    assert [text.split(":")[0].split(" is ")[0] for text in said] == [
        "The dead-man ping was not taken",
        "The dead-man ping",
    ]
    assert "secret-path" not in str(said)


async def test_an_address_that_never_answers_holds_up_nothing(monkeypatch):
    """The ping is left behind at its limit; the loop goes on all the while."""
    monkeypatch.setattr(dead_man, "LIMIT_SECONDS", 3.0)
    stop = asyncio.Event()

    async def hang(_reader, writer):
        await stop.wait()
        writer.close()

    server = await asyncio.start_server(hang, "127.0.0.1", 0)
    ping = DeadMan(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/x", 0.02, lambda: True)
    running, turns = asyncio.create_task(ping.run()), 0
    async with server:
        while ping.problem is None:
            await asyncio.sleep(0.01)
            turns += 1
        running.cancel()
        stop.set()

    assert turns > 3
