"""May this be done, and is it written down? Asked before every answer, and again before every effect."""

import asyncio
from contextlib import suppress

from diagnosis.redaction import mask
from handlers.authorise import Ruling, authorise
from handlers.command import Asked, Desk, Right
from handlers.messages.blocks import Message
from handlers.messages.refusals import refused
from registry.audit import ALLOWED, NOT_DONE, Entry
from registry.errors import RegistryError

LONGEST_WORDS = 200
REFUSAL_SECONDS = 0.5
"""A refusal is said also when the registry cannot take it down in this time."""


async def admitted(desk: Desk, asked: Asked, right: Right, action: str) -> Message | None:
    """None: they may, and an effect stands in the audit; otherwise the refusal, for them alone.

    Raises:
        RegistryError: The effect cannot be written down, so it is not to be done.
    """
    ruling = await authorise(desk, asked.who, right)
    refusal = await refusal_for(desk, asked, ruling, action)
    if refusal is None:
        await record(desk, asked, ruling, action, right)
    return refusal


async def refusal_for(desk: Desk, asked: Asked, ruling: Ruling, action: str) -> Message | None:
    """The words of a refusal, taken down where that can be done; None: it is none."""
    if ruling.refusal is None:
        return None
    with suppress(RegistryError, TimeoutError):
        async with asyncio.timeout(REFUSAL_SECONDS):
            await _write(desk, asked, ruling, action)
    return refused(ruling)


async def record(desk: Desk, asked: Asked, ruling: Ruling, action: str, right: Right) -> None:
    """Take down an effect before it is done; reading leaves no trace.

    Raises:
        RegistryError: It cannot be written down.
    """
    if right is not Right.READ:
        await _write(desk, asked, ruling, action)


async def not_done(desk: Desk, asked: Asked, action: str, right: Right) -> None:
    """Take down that nothing came of an effect that `record` wrote: what was typed cannot be meant."""
    if right is Right.READ:
        return
    with suppress(RegistryError, TimeoutError):
        async with asyncio.timeout(REFUSAL_SECONDS):
            await _write(desk, asked, await authorise(desk, asked.who, right), action, NOT_DONE)


async def _write(desk: Desk, asked: Asked, ruling: Ruling, action: str, result: str = ALLOWED) -> None:
    entry = Entry(
        at=await desk.registry.clock.estimate(),
        user=asked.who.user[:40],
        team=asked.who.team[:40],
        role=ruling.role,
        how=asked.how,
        action=action,
        target=(asked.thread_incident or asked.thread_run or asked.channel or "")[:200],
        words=mask(asked.words[: 4 * LONGEST_WORDS]).text[:LONGEST_WORDS],
        result=ruling.refusal or result,
    )
    await desk.registry.audit.write(entry)
