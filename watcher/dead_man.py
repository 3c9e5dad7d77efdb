"""Tells an address outside, again and again, that a process of ours really works; silence there calls somebody.

Nobody inside can tell that everything inside is dead. The address is named twice, as a URL and as a host that may be
asked, it speaks HTTPS, and a redirect is not followed. A ping that hangs holds up nothing but the next ping.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from watcher.worker import NoAnswer, Worker

LIMIT_SECONDS = 10.0
"""Total time of one ping."""
LARGEST_ANSWER = 1024
HERE = frozenset({"127.0.0.1", "localhost", "::1"})
"""A relay on this machine may be asked without TLS."""

logger = logging.getLogger(__name__)


class DeadMan:
    """Pings while `is_well`; the first failure in a row is logged, and the end of it."""

    def __init__(self, url: str, every_seconds: float, is_well: Callable[[], bool]) -> None:
        self._url = url
        self._every = every_seconds
        self._is_well = is_well
        self._worker = Worker("dead-man ping")
        self.problem: str | None = None
        """Why the newest ping was not taken; None: it was, or none was due yet."""
        self.taken = 0

    async def run(self) -> None:
        """For ever, until cancelled."""
        try:
            while True:
                if self._is_well():
                    await self._ping_once()
                await asyncio.sleep(self._every)
        finally:
            self._worker.close()

    async def _ping_once(self) -> None:
        try:
            await self._worker.call(lambda: _ping(self._url), what="the dead-man address", seconds=LIMIT_SECONDS)
        except (OSError, ValueError, NoAnswer) as failure:
            # The address is a secret: whoever knows it can keep the alarm quiet.
            said = str(failure) if isinstance(failure, NoAnswer) else type(failure).__name__
            if self.problem is None:
                logger.warning("The dead-man ping was not taken: %s.", said)
            self.problem = said
            return
        if self.problem is not None:
            logger.warning("The dead-man ping is taken again.")
        self.problem, self.taken = None, self.taken + 1


def why_refused(url: str, hosts: Sequence[str], name: str) -> str | None:
    """Why this address is not pinged, for whoever set it; None: it may be."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return f"{name} is no URL."
    if parts.scheme != "https" and not (parts.scheme == "http" and host in HERE):
        return f"{name} must begin with https://."
    if parts.username or parts.password:
        return f"{name} must hold no user and no password."
    if host not in HERE and host not in {one.lower() for one in hosts}:
        return f"{name} names the host {host[:100]!r}, which RUNWATCH_DEAD_MAN_HOSTS does not."
    return None


def _ping(url: str) -> None:
    """Ask once. Raises OSError (urllib's errors are such) when it was not taken."""
    # A watcher that pings nobody never loads this.
    import http.client  # noqa: PLC0415
    import urllib.request  # noqa: PLC0415

    class NoRedirect(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_args: object) -> None:
            return None

    opener = urllib.request.build_opener(NoRedirect())
    request = urllib.request.Request(url, headers={"User-Agent": "runwatch"})  # noqa: S310 - checked by why_refused
    try:
        with opener.open(request, timeout=LIMIT_SECONDS) as answer:
            answer.read(LARGEST_ANSWER)
    except http.client.HTTPException as garbled:
        raise OSError(type(garbled).__name__) from garbled
