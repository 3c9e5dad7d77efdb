"""Quiet, asked for by a person: always with an end, always still recorded."""

from diagnosis.durations import parse_duration
from diagnosis.incidents import Mute
from diagnosis.redaction import mask
from handlers.arguments import WrongWords
from handlers.command import Desk
from registry import wire

DEFAULT_SECONDS = 3600.0
LONGEST_SECONDS = 7 * 86_400.0
LONGEST_REASON = 200
_FIELDS = ("run", "by", "trouble", "reason", "node", "incident")


def reason_of(text: str) -> str:
    """A reason as it may be shown to everybody: without secrets, and short."""
    return mask(text).text[:LONGEST_REASON]


def mute_id(mute: Mute) -> str:
    """The same for the same run, trouble, node or incident, so that a later mute replaces an earlier one."""
    if mute.incident:
        return f"incident:{mute.incident}"
    if mute.node:
        return f"node:{mute.node}"
    return f"{mute.run}/{mute.trouble}" if mute.trouble else mute.run


async def add_mute(desk: Desk, mute: Mute) -> None:
    """Write a mute; the announcing bot reads it within a second."""
    fields = {name: getattr(mute, name) for name in _FIELDS}
    await desk.registry.mutes.add(mute_id(mute), mute.until, {name: value for name, value in fields.items() if value})


async def active_mutes(desk: Desk) -> dict[str, Mute]:
    """Every mute that holds, by its id."""
    found = await desk.registry.mutes.active(await desk.registry.clock.estimate())
    return {name: mute for name, fields in found.items() if (mute := mute_of(fields)) is not None}


def mute_of(fields: dict[str, object]) -> Mute | None:
    """The mute in these fields; None: another version wrote it."""
    until = wire.number(fields.get("until"))
    told = {name: str(fields.get(name) or "") for name in _FIELDS}
    if until is None:
        return None
    mute = Mute(until=until, **told)
    return mute if mute.scope else None


def read_span(text: str) -> float:
    """How long, as typed.

    Raises:
        WrongWords: No duration, or longer than a week.
    """
    seconds = parse_duration(text)
    if not seconds:
        raise WrongWords(f"`{text}` is no time: `15m`, `1h` or `2d`.")
    if seconds > LONGEST_SECONDS:
        raise WrongWords("A mute ends after a week at the latest, so that nothing is forgotten: `7d`.")
    return seconds
