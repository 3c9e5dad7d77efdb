"""Slack sends again what it is not sure of: every delivery is handled once, by whichever bot has it first."""

import asyncio
import logging
from collections import OrderedDict

from registry import Registry
from registry.errors import RegistryError

logger = logging.getLogger(__name__)

KEPT = 4096
ASK_SECONDS = 0.25
"""The acknowledgement waits for this answer, and Slack for the acknowledgement."""


class Repeats:
    """Knows what was taken: in the registry for every bot, and here for when the registry is away."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._taken: OrderedDict[str, None] = OrderedDict()

    def is_first_here(self, name: str) -> bool:
        """Take a delivery that only this process can get again; False: it did before."""
        if name in self._taken:
            return False
        self._taken[name] = None
        while len(self._taken) > KEPT:
            self._taken.popitem(last=False)
        return True

    async def is_first(self, name: str) -> bool:
        """Take a delivery; False: this or another bot took it before."""
        if not self.is_first_here(name):
            return False
        try:
            async with asyncio.timeout(ASK_SECONDS):
                return await self._registry.seen.first(name[:150])
        except (RegistryError, TimeoutError) as away:
            logger.warning("Taking %s without the registry's word: %s", name[:40], away)
            return True
