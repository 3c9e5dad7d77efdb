"""Incidents that Slack has not taken for long: they go to a webhook, once each, so that somebody hears of them.

Only while Slack takes nothing at all: a long queue that moves is no reason. The threads follow when Slack is back.
"""

import asyncio
import logging
from collections.abc import Sequence

import aiohttp

from bot.slack import Slack
from diagnosis import wording
from diagnosis.incidents import Incident
from handlers.messages.incident import headline
from registry import Registry
from registry.errors import RegistryError

logger = logging.getLogger(__name__)

LOOK_EVERY_SECONDS = 5.0
SEND_SECONDS = 20.0
LONGEST_WAIT_SECONDS = 60.0
MOST_AT_ONCE = 10
"""Incidents in one message to the webhook."""
KEPT_SECONDS = 7 * 86_400
_HARMLESS = str.maketrans({"<": "‹", ">": "›", "@": "＠"})
"""Whatever is behind the webhook, text of a log calls nobody and links nowhere."""


class Unheard:
    """Knows which incidents still wait for their thread, and since when."""

    def __init__(self, registry: Registry, slack: Slack, webhook: str = "", after_seconds: float = 600.0) -> None:
        self._registry = registry
        self._slack = slack
        self._webhook = webhook
        self._after = after_seconds
        self._waiting: dict[str, Incident] = {}
        self._since: dict[str, float] = {}
        self._heard_at = float("-inf")
        self._taken: set[str] = set()
        """Incidents that this process may send: nobody did before."""
        self._told: set[str] = set()

    def waits(self, incident: Incident) -> None:
        """This one is to be told."""
        self._waiting[incident.id] = incident
        self._since.setdefault(incident.id, _now())

    def heard(self, incident: str) -> None:
        """Slack took something of this one."""
        self._heard_at = _now()
        self._waiting.pop(incident, None)
        self._since.pop(incident, None)

    def leave(self) -> None:
        """Another bot tells them now, or this one begins anew: what then waits has waited since it first did."""
        self._waiting.clear()

    async def run(self) -> None:
        """Look and tell until cancelled; without a webhook there is nothing to do."""
        wait = LOOK_EVERY_SECONDS
        while self._webhook:
            await asyncio.sleep(wait)
            overdue = await self._overdue()
            is_sent = not overdue or await self._send(overdue)
            wait = LOOK_EVERY_SECONDS if is_sent else min(LONGEST_WAIT_SECONDS, wait * 2)

    async def _overdue(self) -> list[Incident]:
        before = _now() - self._after
        if self._heard_at > before:
            return []
        late = [one for one in self._waiting.values() if self._since[one.id] <= before and one.id not in self._told]
        return [one for one in late[:MOST_AT_ONCE] if await self._may_send(one.id)]

    async def _may_send(self, incident: str) -> bool:
        """Whether no bot, this one before a restart too, sent it already."""
        if incident in self._taken:
            return True
        try:
            is_first = await self._registry.seen.first(f"unheard/{incident}", KEPT_SECONDS)
        except RegistryError as away:
            logger.warning("Telling %s without the registry's word: %s", incident, away)
            is_first = True
        (self._taken if is_first else self._told).add(incident)
        return is_first

    async def _send(self, incidents: Sequence[Incident]) -> bool:
        body = {"text": self._text(incidents)}
        try:
            async with (
                aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=SEND_SECONDS), trust_env=True) as session,
                session.post(self._webhook, json=body) as answer,
            ):
                if not answer.ok:
                    logger.warning("The fallback webhook answers with status %s.", answer.status)
                    return False
        except (aiohttp.ClientConnectorError, aiohttp.InvalidURL, ValueError) as failure:
            logger.warning("The fallback webhook is not reachable (%s).", type(failure).__name__)
            return False
        except (aiohttp.ClientError, TimeoutError, OSError) as failure:
            # It may have been taken, and Slack tells it all the same: no second call.
            logger.warning("The fallback webhook did not answer (%s).", type(failure).__name__)
        self._told.update(one.id for one in incidents)
        logger.warning("Told %d incidents to the fallback webhook, because Slack takes nothing.", len(incidents))
        return True

    def _text(self, incidents: Sequence[Incident]) -> str:
        trouble = self._slack.last_trouble
        why = f" ({trouble.error})" if trouble is not None and trouble.error else ""
        patience = wording.duration(self._after)
        return "\n".join(
            (
                f"Slack has taken nothing from Runwatch for {patience}{why}. This would be in its channel:",
                *(headline(one).plain.translate(_HARMLESS) for one in incidents),
            )
        )


def _now() -> float:
    return asyncio.get_running_loop().time()
