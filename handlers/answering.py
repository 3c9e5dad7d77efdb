"""From a question to its answers: who may ask, is the registry there, and what went wrong, each said once here."""

import asyncio
import logging
from collections.abc import AsyncIterator

from charts.painter import ChartFailed
from diagnosis.errors import Mistake
from handlers.admission import not_done, record, refusal_for
from handlers.authorise import authorise
from handlers.command import Asked, Button, Command, Desk, Modal, Reply, Say, Shortcut, whisper
from handlers.find_run import what_is_meant
from handlers.messages import mistakes
from registry.errors import RegistryError

logger = logging.getLogger(__name__)

AskedFor = Command | Button | Modal | Shortcut
REGISTRY_SECONDS = 0.6
"""A registry that says nothing for so long is away: people get a word within a second."""


async def answers(desk: Desk, asked_for: AskedFor, asked: Asked) -> AsyncIterator[Reply]:
    """Everything a command or a button answers; mistakes and failures become words for the asker alone."""
    action = asked_for.name if isinstance(asked_for, Command) else asked_for.action
    ruling = await authorise(desk, asked.who, asked_for.right)
    refusal = await refusal_for(desk, asked, ruling, action)
    if refusal is not None:
        yield Say(refusal, is_private=True)
        return
    try:
        async with asyncio.timeout(REGISTRY_SECONDS):
            await desk.registry.now()
    except (TimeoutError, RegistryError) as away:
        logger.warning("The registry does not answer: %s", away)
        yield whisper(mistakes.registry_away)
        return
    try:
        await record(desk, asked, ruling, action, asked_for.right)
        async for reply in asked_for.answer(desk, asked):
            yield reply
    except Mistake as mistake:
        await not_done(desk, asked, action, asked_for.right)
        yield whisper(mistakes.explain, await what_is_meant(desk, mistake), asked_for, desk.prefix)
    except ChartFailed as failed:
        yield whisper(mistakes.sentence, str(failed))
    except RegistryError as away:
        logger.warning("The registry went away while answering: %s", away)
        yield whisper(mistakes.registry_away)
    except Exception:
        logger.exception("Our own failure while answering")
        yield whisper(mistakes.own_failure)
