"""Which language is spoken to whom: chosen by a person for themselves, by an admin for a channel, else the workspace's.

Whoever has their Slack in another language of ours hears that one, until they choose; Slack in English says nothing,
because many have it so who read something else.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from handlers.command import Desk, NotKnownNow
from handlers.messages.languages import ENGLISH, LANGUAGES
from registry import Registry
from registry.errors import RegistryError

PATIENCE_SECONDS = 0.3
"""A registry that says nothing for so long: the workspace's language."""
WORKSPACE = ""
"""What stands for the workspace's own language."""


async def chosen_languages(registry: Registry) -> Mapping[str, Mapping[str, Any]]:
    """Person or channel → what was chosen; nothing where nobody can be asked."""
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await registry.languages.all()
    except (TimeoutError, RegistryError):
        return {}


async def channel_language(registry: Registry, channel: str) -> str:
    """What is spoken in a channel; empty: the workspace's language."""
    return _of(await chosen_languages(registry), channel)


async def languages_for(desk: Desk, user: str, channel: str) -> tuple[str, str]:
    """What all in the channel read, and what this person alone reads; empty: the workspace's language."""
    chosen = await chosen_languages(desk.registry)
    return _of(chosen, channel), _of(chosen, user) or await own_language(desk, user)


async def own_language(desk: Desk, user: str) -> str:
    """The language of somebody's Slack, where it is one of ours and not English."""
    try:
        locale = await desk.people.locale_of(user)
    except NotKnownNow:
        return WORKSPACE
    language = locale.replace("_", "-").partition("-")[0].lower()
    return language if language in LANGUAGES and language != ENGLISH else WORKSPACE


def _of(chosen: Mapping[str, Mapping[str, Any]], whose: str) -> str:
    language = str(chosen.get(whose, {}).get("language") or "")
    return language if language in LANGUAGES else WORKSPACE
