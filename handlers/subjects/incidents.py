"""`/runwatch take|release|note|close|reopen`: the life of an incident in words, for threads and keyboards."""

from collections.abc import AsyncIterator

from diagnosis.incidents import Act
from handlers.acts import do_act
from handlers.arguments import first_name
from handlers.command import Answer, Asked, Desk, Reply, Right, Say, whisper
from handlers.find_incident import find_closed, find_incident
from handlers.messages.pressed import acknowledged, changed, done_in_thread, noted
from handlers.subjects.subject import Subject


def _act(kind: str) -> Answer:
    async def answer(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
        run, text = (None, asked.words) if asked.thread_incident else _split(asked.words)
        find = find_closed if kind == "reopen" else find_incident
        kept = await find(desk, asked, run)
        is_there = asked.how == "mention" and asked.thread_incident == kept.incident.id
        done = await do_act(desk.registry, kept.incident.id, Act(kind, asked.who.user, text, is_there))
        said = acknowledged(done, asked.who.user) if kind == "acknowledge" else changed(done, kind)
        if said is not None:
            yield Say(said, is_private=True)
        elif kind == "note" and is_there:
            yield whisper(noted)
        elif not asked.thread_incident:
            yield whisper(done_in_thread, kept.incident.run)

    return answer


def _split(words: str) -> tuple[str | None, str]:
    """Outside a thread the run comes first."""
    name, text = first_name(words)
    return name or None, text


SUBJECTS = (
    Subject("take", "[RUN]", "you have its incident: reminders stop", _act("acknowledge"), Right.ACKNOWLEDGE),
    Subject("release", "[RUN]", "you give it back", _act("release"), Right.ACKNOWLEDGE),
    Subject("note", "[RUN] TEXT", "a line in its thread and report", _act("note"), Right.ACKNOWLEDGE),
    Subject("close", "[RUN] [what helped]", "it is over", _act("resolve"), Right.RESPOND),
    Subject("reopen", "[RUN]", "it is not over", _act("reopen"), Right.RESPOND),
)
