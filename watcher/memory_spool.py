"""Where findings wait when the disk takes none: in memory, in a stream of their own.

Its epoch is new with every process, so its numbers can never meet those of the disk or of a former life. What
is only here is gone if we are killed; that is why the bookmark waits, and the line is read again after a restart.
"""

import secrets
from collections.abc import Sequence

from diagnosis.findings import Cleared, Finding
from registry import wire
from watcher.records import Record
from watcher.spool import key_of

MOST_RECORDS = 1000


class MemorySpool:
    """The same as a Spool, without its promise."""

    def __init__(self) -> None:
        self.epoch = f"m{secrets.token_hex(6)}"
        self.delivered = 0
        self.last_number = 0
        self.dropped = 0
        """Findings that had to go because too many waited."""
        self._pending: dict[int, Record] = {}
        self._keys: dict[str, int] = {}

    def accept(self, verdict: Finding | Cleared) -> int:
        """Keep a finding and return its number; the oldest goes when there are too many."""
        key = key_of(verdict)
        if key in self._keys:
            return self._keys[key]
        self._add(Record(self.last_number + 1, key, wire.encode(verdict)))
        return self.last_number

    def knows(self, verdict: Finding | Cleared) -> bool:
        """Return True when this very finding is or was here."""
        return key_of(verdict) in self._keys

    def pending(self, after: int = 0) -> list[Record]:
        """Return findings that are not known to be settled, above a number, in order."""
        return [record for number, record in self._pending.items() if number > after]

    def drop_delivered(self, upto: int) -> None:
        """Say that everything up to a number is settled."""
        self.delivered = max(self.delivered, min(upto, self.last_number))
        for number in [number for number in self._pending if number <= self.delivered]:
            del self._pending[number]

    def renumber(self, records: Sequence[Record], above: int) -> list[Record]:
        """Give findings new numbers above one that is taken."""
        self.last_number = max(self.last_number, above)
        renewed = []
        for record in records:
            self._pending.pop(record.number, None)
            renewed.append(self._add(Record(self.last_number + 1, record.key, record.body)))
        return renewed

    def renew_epoch(self) -> str:
        """Start a new epoch and go on counting."""
        self.epoch = f"m{secrets.token_hex(6)}"
        return self.epoch

    def _add(self, record: Record) -> Record:
        if len(self._pending) >= MOST_RECORDS:
            del self._pending[next(iter(self._pending))]
            self.dropped += 1
        self._pending[record.number] = record
        self._keys[record.key] = record.number
        while len(self._keys) > 4 * MOST_RECORDS:
            del self._keys[next(iter(self._keys))]
        self.last_number = record.number
        return record
