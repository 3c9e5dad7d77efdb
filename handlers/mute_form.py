"""The form that asks what shall be quiet, and until when."""

from collections.abc import AsyncIterator
from dataclasses import replace

from diagnosis.incidents import Incident, Mute
from handlers.admission import admitted, not_done
from handlers.command import Asked, Desk, Modal, Reply, Right, Say, whisper
from handlers.find_incident import get_incident
from handlers.messages.modals import MUTE_FORM, SCOPE, SPAN, TEXT
from handlers.messages.mutes import muted
from handlers.messages.pressed import over, unknown_incident
from handlers.mutes import LONGEST_SECONDS, add_mute, read_span, reason_of


async def answer(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """The root shows until when, and who asked."""
    kept = await get_incident(desk, asked.thread_incident or "")
    if kept is None:
        yield whisper(unknown_incident)
        return
    if not kept.incident.is_open:
        yield whisper(over)
        return
    now = await desk.registry.now()
    mute = mute_from(kept.incident, asked, now)
    if mute.node:
        # It reaches into other runs.
        refusal = await admitted(desk, replace(asked, words=f"node {mute.node}"), Right.OPERATE, "mute_node")
        if refusal is not None:
            await not_done(desk, asked, MUTE_FORM, Right.RESPOND)
            yield Say(refusal, is_private=True)
            return
    await add_mute(desk, mute)
    yield whisper(muted, mute, now)


def mute_from(incident: Incident, asked: Asked, now: float) -> Mute:
    """What was chosen in the form."""
    scope, _, node = asked.values.get(SCOPE, "").partition(":")
    seconds = LONGEST_SECONDS if scope == "incident" else read_span(asked.values.get(SPAN, ""))
    mute = Mute(incident.run, now + seconds, asked.who.user, reason=reason_of(asked.values.get(TEXT, "")))
    match scope:
        case "incident":
            return replace(mute, incident=incident.id)
        case "trouble":
            return replace(mute, trouble=incident.trouble)
        case "node":
            return replace(mute, run="", node=node)
        case _:
            return mute


FORM = Modal(MUTE_FORM, answer, Right.RESPOND)
