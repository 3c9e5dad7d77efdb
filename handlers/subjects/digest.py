"""`/runwatch digest daily|weekly|off [09:00] [ZONE]`: this channel hears of all its runs, if it wants to."""

from collections.abc import AsyncIterator
from dataclasses import asdict

from handlers.arguments import WrongWords
from handlers.command import Asked, Desk, Reply, Right, Say, whisper
from handlers.digests import Digest, digest_of, read_time, read_zone
from handlers.messages.digest import digest_off, digest_set, digest_state
from handlers.subjects.subject import Subject


async def digest(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """Set, end or show what this channel asked for."""
    words = asked.words.split()
    known = (await desk.registry.digests.all()).get(asked.channel)
    if not words:
        yield whisper(digest_state, digest_of(asked.channel, known) if known else None)
        return
    every = words.pop(0).lower()
    if every == "off":
        await desk.registry.digests.remove(asked.channel)
        yield Say(digest_off())
        return
    if every not in ("daily", "weekly"):
        raise WrongWords("`/runwatch digest daily`, `digest weekly 09:00 Europe/Paris` or `digest off`.")
    hour, minute = read_time(words.pop(0)) if words else (9, 0)
    zone = read_zone(words.pop(0)) if words else "UTC"
    if words:
        raise WrongWords(f"I do not know what to do with `{' '.join(words)[:60]}`.")
    now = await desk.registry.now()
    wanted = Digest(asked.channel, every, hour, minute, zone, asked.who.user, now)
    fields = {name: value for name, value in asdict(wanted).items() if name != "channel"}
    await desk.registry.digests.put(asked.channel, fields)
    yield Say(digest_set(wanted))


SUBJECTS = (
    Subject(
        "digest",
        "[daily|weekly|off] [09:00] [ZONE]",
        "a summary in this channel, each day or week",
        digest,
        Right.ADMINISTER,
    ),
)
