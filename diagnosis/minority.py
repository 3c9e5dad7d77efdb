"""Who stands elsewhere: most ranks of a stuck or slow run wait in the same place, and the one they wait for does not.

A single look misleads, because every rank passes through many places in a step. So a rank's place is where most of
several looks found it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

MIN_LOOKS = 3
USUAL_SHARE = 0.6
"""A rank is in one place when so many of its looks found it there."""
FEW = 1 / 3
"""At most this share of the ranks may be called the odd ones."""
MIN_RANKS = 3


@dataclass(frozen=True, slots=True)
class Minority:
    """The ranks that stand elsewhere, and where everybody is."""

    ranks: tuple[int, ...]
    places: Mapping[int, str]
    """Odd rank → its place."""
    common: str
    others: int
    looks: int
    """How often each was looked at, at least."""

    def sentence(self) -> str:
        """`rank 2 stood in locks_lock_inode_wait in 9 looks, where 3 others waited in sk_wait_data`."""
        first = self.ranks[0]
        names = f"rank {first}" if len(self.ranks) == 1 else f"ranks {', '.join(map(str, self.ranks[:4]))}"
        return (
            f"{names} {_say(self.places[first])} in {self.looks} looks, "
            f"while {self.others} others {_say(self.common, many=True)}"
        )


def place_of(state: str, wchan: str | None) -> str:
    """Where a process is: what it waits for in the kernel, or that it runs."""
    if state in {"sleeping", "disk-sleep", "idle"} and wchan:
        # The compiler's suffixes of a kernel function tell nothing.
        return wchan.split(".")[0]
    return state


def find_minority(looks: Mapping[int, Sequence[str]]) -> Minority | None:
    """The odd ones among ranks that were looked at several times; None: all alike, or too little is known."""
    usual = {rank: place for rank, places in looks.items() if (place := _usual(places)) is not None}
    unsettled = set(looks) - set(usual)
    counts = Counter(usual.values())
    if len(looks) < MIN_RANKS or not counts:
        return None
    common, most = counts.most_common(1)[0]
    odd = tuple(sorted(rank for rank, place in usual.items() if place != common))
    if not odd or unsettled or most * 2 <= len(looks) or len(odd) > max(1, len(looks) * FEW):
        return None
    fewest = min(len(places) for places in looks.values())
    return Minority(odd, {rank: usual[rank] for rank in odd}, common, most, fewest)


def _usual(places: Iterable[str]) -> str | None:
    seen = list(places)
    if len(seen) < MIN_LOOKS:
        return None
    place, count = Counter(seen).most_common(1)[0]
    return place if count >= USUAL_SHARE * len(seen) else None


def _say(place: str, *, many: bool = False) -> str:
    if place == "running":
        return "ran" if many else "was found running"
    if place in {"stopped", "tracing-stop", "zombie", "gone", "dead", "sleeping", "disk-sleep"}:
        return f"{'were' if many else 'was'} {place}"
    return f"{'waited' if many else 'stood'} in {place}"
