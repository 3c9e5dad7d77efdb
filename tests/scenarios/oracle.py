"""Judges a night from what the workspace wrote down: what never came, and what came twice."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tests.scenarios.episodes import Entry, read


@dataclass(frozen=True, slots=True)
class Judgement:
    """What people read, against what happened."""

    entries: int
    """Messages there had to be."""
    lost: tuple[Entry, ...]
    """Happened, and nobody read of it."""
    twice: tuple[Entry, ...]
    """Read more than once."""
    strange: tuple[Entry, ...]
    """Told, and never happened."""
    repeats: int
    """Findings whose id stands in more than one message."""
    labelled: int
    """Messages that say of themselves that they may be a repeat."""
    charts: int
    """Pictures in threads."""
    other: Mapping[str, int] = field(default_factory=dict)
    """Everything else that was said, by its first words."""

    @property
    def is_clean(self) -> bool:
        """Nothing lost, nothing twice, nothing made up."""
        return not (self.lost or self.twice or self.strange or self.repeats)


def judge(messages: Mapping[str, Mapping[str, object]], expected: Iterable[Entry]) -> Judgement:
    """Compare a channel, by timestamp, with what had to be told in it."""
    wanted = set(expected)
    told: Counter[Entry] = Counter()
    ids: Counter[str] = Counter()
    other: Counter[str] = Counter()
    labelled = charts = 0
    for message in messages.values():
        entry = read(message, messages)
        if entry is not None:
            told[entry] += 1
        elif message.get("files"):
            charts += 1
        else:
            other[str(message.get("text", ""))[:60]] += 1
        payload = (message.get("metadata") or {}).get("event_payload") or {}
        if "event" in payload:
            ids[payload["event"]] += 1
        labelled += "may be a repeat" in str(message.get("blocks"))
    return Judgement(
        entries=len(wanted),
        lost=tuple(sorted(wanted - told.keys())),
        twice=tuple(sorted(entry for entry, times in told.items() if times > 1)),
        strange=tuple(sorted(told.keys() - wanted)),
        repeats=sum(times > 1 for times in ids.values()),
        labelled=labelled,
        charts=charts,
        other=other,
    )
