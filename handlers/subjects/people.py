"""`/runwatch roles|audit`: who may do what, and who did."""

from collections.abc import AsyncIterator

from handlers.arguments import WrongWords
from handlers.authorise import authorise
from handlers.command import Asked, Desk, Reply, Right, whisper
from handlers.messages.people import audit_list, roles_answer
from handlers.subjects.subject import Subject
from registry.audit import settled

MOST_ENTRIES = 20


async def roles(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """The table, with one's own role."""
    ruling = await authorise(desk, asked.who, Right.READ)
    yield whisper(roles_answer, ruling.role, desk.people.holders)


async def audit(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """The newest entries; `audit verify` checks the whole chain."""
    word = asked.words.strip().lower()
    if word not in ("", "verify"):
        raise WrongWords("`/runwatch audit` shows the newest entries, `/runwatch audit verify` checks all of them.")
    verdict = await desk.registry.audit.verify() if word else None
    newest = settled(list(reversed(await desk.registry.audit.newest(MOST_ENTRIES))))
    yield whisper(audit_list, list(reversed(newest)), verdict)


SUBJECTS = (
    Subject("roles", "", "who may do what, and what you may", roles, Right.READ),
    Subject("audit", "[verify]", "who did what", audit, Right.ADMINISTER),
)
