"""What every test may ask for: a real server, emptied for each test, and the registry on it."""

import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from redis import Redis

from registry import Registry, connect
from registry.embedded import Embedded
from tests.counts import FUZZ, examples
from tests.servers import TEST_SERVER, Victim

# A busy machine is not a broken promise, and the suite's examples are the same for everybody (see `tests.counts`).
settings.register_profile(
    "runwatch",
    max_examples=examples(100),
    derandomize=not FUZZ,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("runwatch")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two more at once than there are cores: most of the suite's time is spent waiting, for what really takes its time."""
    return 2 + (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


@pytest.fixture(scope="session")
def redis_server() -> Iterator[Embedded]:
    """A real server with an append-only file, one for each test process.

    It has run for a moment: what is found in a server's first second is looked for before it is told.
    """
    home = Path(tempfile.mkdtemp(prefix="rw-"))
    try:
        with Embedded.start(home, binary=TEST_SERVER) as server:
            with Redis.from_url(server.url) as client:
                while client.info("server")["uptime_in_seconds"] < 2:
                    time.sleep(0.05)
            yield server
    finally:
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def redis_url(redis_server: Embedded) -> str:
    """The address of that server, empty."""
    with Redis.from_url(redis_server.url) as client:
        client.flushall()
    return redis_server.url


@pytest.fixture
async def registry(redis_url: str) -> AsyncIterator[Registry]:
    """A registry on an empty server."""
    opened = connect(redis_url, name="test")
    yield opened
    await opened.aclose()


@pytest.fixture
def victim(tmp_path: Path) -> Iterator[Victim]:
    """A server of the test's own, to be killed, paused and started again."""
    server = Victim(tmp_path / "redis")
    yield server
    server.stop()
