"""The announcing bot looks after Redis: whether it is still safe to use, and that nothing piles up in it."""

import asyncio
import logging
from collections.abc import Callable, Mapping

from registry.broom import Retention
from registry.errors import RegistryError
from registry.upkeep import Upkeep

logger = logging.getLogger(__name__)

TURN_SECONDS = 10.0
"""How often there is a turn; each does what is due."""


class Caretaker:
    """Turns while this bot announces."""

    def __init__(self, upkeep: Upkeep, is_on_duty: Callable[[], bool], retention: Retention) -> None:
        self._upkeep = upkeep
        self._is_on_duty = is_on_duty
        self._retention = retention
        self.problems: Mapping[str, str] = {}
        """What is the matter with Redis → a sentence for people."""

    async def run(self) -> None:
        """Look after it until cancelled."""
        while True:
            if self._is_on_duty():
                try:
                    await self._turn()
                except RegistryError as away:
                    # Whoever reads findings says so already.
                    logger.debug("No upkeep: %s", away)
            else:
                self.problems = {}
            await asyncio.sleep(TURN_SECONDS)

    async def _turn(self) -> None:
        turn = await self._upkeep.turn(self._retention)
        for name, sentence in turn.problems.items():
            if name not in self.problems:
                logger.warning("%s", sentence)
        for name in self.problems.keys() - turn.problems.keys():
            logger.info("Over: the %s.", name)
        self.problems = turn.problems
        if turn.swept:
            logger.info(
                "Swept the registry: %d runs, %d streams, %d old attempts and %d small things went.",
                len(turn.swept.runs),
                len(turn.swept.streams),
                turn.swept.attempts,
                turn.swept.small_things,
            )
