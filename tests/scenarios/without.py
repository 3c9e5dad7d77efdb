"""The product with one protection taken away, for negative controls: `python -m tests.scenarios.without WHAT bot …`.

A test that still passes without the protection proves nothing.
"""

import sys
import time
from dataclasses import replace

from slack_sdk.http_retry.builtin_async_handlers import AsyncConnectionErrorRetryHandler

import bot.slack
from bot import cli
from bot.looking import Looking
from registry.clock import RegistryClock
from watcher.publisher import Publisher


def look() -> None:
    """The channel is read, and nothing is seen there."""
    real = Looking.look

    async def blind(self, *place):
        return replace(await real(self, *place), found={})

    Looking.look = blind


def sdk() -> None:
    """Slack's library retries by itself, as it does by default."""
    real = bot.slack.AsyncWebClient

    def eager(*given, **named):
        return real(*given, **(named | {"retry_handlers": [AsyncConnectionErrorRetryHandler()]}))

    bot.slack.AsyncWebClient = eager


def spool() -> None:
    """A finding is said to be on the disk when it is only in memory."""

    def accept(self, verdict):
        self._news.set()
        self._memory.accept(verdict)
        return True

    Publisher.accept = accept
    Publisher.holds_bookmark = property(lambda _: False)


def refill() -> None:
    """Whether Redis still has what it was sent is asked once, and never again."""
    real = Publisher._compare

    async def compare(self, way):
        if way.sent:
            way.checked_at = time.monotonic()
        else:
            await real(self, way)

    Publisher._compare = compare


def clock() -> None:
    """Time is this machine's own wall clock, whoever sets it."""

    async def believed(self):
        return time.time()

    RegistryClock.estimate = believed


TAKEN = {taken.__name__: taken for taken in (look, sdk, spool, refill, clock)}


def main(words: list[str]) -> int:
    """Take it away, and be the product."""
    TAKEN[words[0]]()
    return cli.main(words[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
