"""Who did what: one entry for every effect and every refusal, each chained to the one before it.

Fields of an entry: `b` its body as JSON, `p` the hash of the entry before, `h` the hash of both. Whoever changes a
byte, or takes an entry out, breaks the chain from there on; the newest hash also stands in the bot's own log. Where
the bots have a key that is not in Redis, the hash needs it (`k` says so): then nobody else can write the chain anew.
"""

import hashlib
import hmac
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from registry import keys, wire
from registry.clock import RegistryClock
from registry.door import Command, Door
from registry.errors import Overtaken, RegistryAway

KEPT_DAYS: Final = 90
ALLOWED: Final = "allowed"
NOT_DONE: Final = "not done"
"""The result of what was allowed and written down, and then could not be meant: it follows the entry that allowed."""
START: Final = "0" * 64
_ROUNDS = 20
_PAGE = 500

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the audit."""

    at: float
    """Unix seconds on the registry's clock."""
    user: str
    team: str
    role: str
    how: str
    """command, button, modal, shortcut, mention, home."""
    action: str
    target: str = ""
    """The run, incident or channel it concerns."""
    words: str = ""
    """What was typed, cut and with secrets masked."""
    result: str = ALLOWED
    """allowed, why it was refused, or that nothing came of it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a look at the whole chain says."""

    entries: int
    broken_at: str | None
    """Id of the first entry that does not fit; None: all fit."""
    head: str
    """The newest hash."""
    unchecked: int = 0
    """Entries that were made with a key that is not known here: only their order was checked."""
    keyless: int = 0
    """Entries from before the bots had the key."""


class Audit:
    """The door to the audit."""

    def __init__(self, door: Door, clock: RegistryClock, key: str = "") -> None:
        self._door = door
        self._clock = clock
        self._key = key

    async def write(self, entry: Entry) -> str:
        """Append an entry and return its hash; raises when it cannot be written, so that nothing is done unseen."""
        body = wire.dump(wire.plain(entry))
        # Entries older than this are let go, about a page at a time.
        oldest = max(0.0, await self._clock.estimate() - KEPT_DAYS * keys.DAY)
        keyed = ("k", "1") if self._key else ()
        newest: Command = ("XREVRANGE", keys.AUDIT, "+", "-", "COUNT", 1)
        for _ in range(_ROUNDS):
            with suppress(Overtaken):
                async with self._door.watching(keys.AUDIT, first=[newest]) as look:
                    before = look.first[0][0][1].get(b"h", b"").decode() if look.first[0] else START
                    made = hash_of(before, body, self._key)
                    add = ("XADD", keys.AUDIT, "*", "b", body, "p", before, "h", made, *keyed)
                    await look.commit([add, ("XTRIM", keys.AUDIT, "MINID", "~", f"{int(oldest * 1000)}-0")])
                logger.info("Audit %s: %s", made[:16], body.decode("utf-8", "replace"))
                return made
        raise RegistryAway("the audit keeps changing under us")

    async def newest(self, limit: int = 20) -> list[Entry]:
        """Return the newest entries, the newest first."""
        found = await self._door.call("XREVRANGE", keys.AUDIT, "+", "-", "COUNT", limit)
        return [entry for _, content in found if (entry := _entry(content)) is not None]

    async def all(self) -> AsyncIterator[tuple[str, Mapping[bytes, bytes]]]:
        """Yield every entry as it is stored, the oldest first."""
        after = "-"
        while True:
            found = await self._door.call("XRANGE", keys.AUDIT, after, "+", "COUNT", _PAGE)
            for entry_id, content in found:
                yield entry_id.decode(), content
            if len(found) < _PAGE:
                return
            after = f"({found[-1][0].decode()}"

    async def verify(self) -> Verdict:
        """Return whether every entry fits the one before it."""
        count, unchecked, keyless, before, broken = 0, 0, 0, None, None
        async for entry_id, content in self.all():
            count += 1
            told, made = content.get(b"p", b"").decode("latin-1"), content.get(b"h", b"").decode("latin-1")
            is_keyed = content.get(b"k") == b"1"
            keyless += self._key != "" and not is_keyed
            if is_keyed and not self._key:
                unchecked += 1
                fits = True
            else:
                key = self._key if is_keyed else ""
                fits = hmac.compare_digest(made.encode(), hash_of(told, content.get(b"b", b""), key).encode())
            # With the key, what was written without it may stand before the first entry that needs it, and not behind.
            fits = fits and before in (None, told) and (is_keyed or not self._key or keyless == count)
            broken = broken or (None if fits else entry_id)
            before = made
        return Verdict(count, broken, before or START, unchecked, keyless)


def settled(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries, the oldest first, without those of which a later one says that nothing came of them."""
    kept: list[Entry] = []
    for entry in entries:
        if entry.result == NOT_DONE:
            same = (place for place in reversed(range(len(kept))) if _is_same_act(kept[place], entry))
            place = next(same, None)
            if place is not None and kept[place].result == ALLOWED:
                del kept[place]
        kept.append(entry)
    return kept


def _is_same_act(one: Entry, other: Entry) -> bool:
    return (one.user, one.team, one.action, one.words) == (other.user, other.team, other.action, other.words)


def hash_of(before: str, body: bytes, key: str = "") -> str:
    """Return the hash of an entry that follows another; with a key, nobody without it can make it."""
    whole = before.encode() + b"\0" + body
    return hmac.digest(key.encode(), whole, "sha256").hex() if key else hashlib.sha256(whole).hexdigest()


def entry_of(content: Mapping[bytes, bytes]) -> dict[str, Any]:
    """Return a stored entry for export."""
    try:
        body = wire.load(content.get(b"b", b""))
    except wire.Unreadable:
        body = {"unreadable": True}
    return {**(body if isinstance(body, dict) else {}), "hash": content.get(b"h", b"").decode("latin-1")}


def _entry(content: Mapping[bytes, bytes]) -> Entry | None:
    try:
        return wire.build(Entry, wire.load(content[b"b"]))
    except (KeyError, wire.Unreadable):
        return None
