"""Keeps the Home of everybody who looks at it as things stand now."""

import asyncio
import json
import logging
import time
from typing import Any

from bot.slack import Slack
from handlers.command import Desk, Who
from handlers.home import home_of
from handlers.messages.languages import speaking
from handlers.tongues import languages_for
from registry.errors import RegistryError

logger = logging.getLogger(__name__)

EVERY_SECONDS = 30.0
LOOKS_FOR_SECONDS = 1800.0
"""Slack does not tell when somebody looks away."""
MOST_PEOPLE = 100


class Homes:
    """Who looked lately, and what they were shown."""

    def __init__(self, desk: Desk, slack: Slack, *, every_seconds: float = EVERY_SECONDS) -> None:
        self._desk = desk
        self._slack = slack
        self._every = every_seconds
        self._looking: dict[str, tuple[Who, float]] = {}
        self._shown: dict[str, str] = {}

    async def opened(self, who: Who) -> None:
        """Somebody looks now."""
        self._looking.pop(who.user, None)
        self._looking[who.user] = (who, time.monotonic())
        for user in list(self._looking)[:-MOST_PEOPLE]:
            self._forget(user)
        await self.show(who, anyway=True)

    async def changed_by(self, who: Who) -> None:
        """Somebody did something there: show what came of it."""
        if who.user in self._looking:
            await self.show(who, anyway=True)

    async def run(self) -> None:
        """Show what changed, for as long as somebody looks."""
        while True:
            await asyncio.sleep(self._every)
            for user, (who, since) in list(self._looking.items()):
                if time.monotonic() - since > LOOKS_FOR_SECONDS:
                    self._forget(user)
                    continue
                try:
                    await self.show(who)
                except RegistryError as away:
                    logger.info("Homes wait for the registry: %s", away)
                    break

    async def show(self, who: Who, *, anyway: bool = False) -> None:
        """Publish the Home of one person, when it differs from what they see."""
        _, mine = await languages_for(self._desk, who.user, "")
        with speaking(mine):
            view = await home_of(self._desk, who)
        said = _without_moment(view)
        if not anyway and self._shown.get(who.user) == said:
            return
        answer = await self._slack.show("views.publish", {"user_id": who.user, "view": view})
        if answer.is_ok:
            self._shown[who.user] = said
        else:
            logger.warning("The Home of %s could not be shown: %s", who.user, answer.error)

    def _forget(self, user: str) -> None:
        self._looking.pop(user, None)
        self._shown.pop(user, None)


def _without_moment(view: dict[str, Any]) -> str:
    return json.dumps(view["blocks"][:-1] if len(view["blocks"]) > 1 else view["blocks"], sort_keys=True)
