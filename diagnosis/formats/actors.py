"""Which rank a Ray actor is: some of its lines tell it, most bear only its class and pid."""

import re

_RANK = re.compile(r"\[[Rr]ank[ :_=-]?(\d{1,6})\]")
_PROCESS = re.compile(r" pid=(?P<pid>\d{1,10})(?:, ip=(?P<node>[\w.:-]+))?$")
_HEAD = 160
LISTENS = 256
"""Lines of an actor that are searched for its rank; a tag of PyTorch's own is always seen."""
MOST = 65_536


class Actors:
    """Actors (`WorkerDict pid=19740, ip=10.0.0.2`) and their ranks, as far as nothing contradicts them."""

    def __init__(self) -> None:
        self._ranks: dict[str, int | None] = {}
        self._holders: dict[int, str] = {}
        self._heard: dict[str, int] = {}

    def rank_of(self, actor: str | None) -> int | None:
        """The rank of an actor; None where it told none, or where two actors say to be the same."""
        return self._ranks.get(actor) if actor is not None else None

    def by_process(self) -> dict[tuple[str | None, int], int]:
        """(node, pid) → rank of every actor whose rank is known."""
        found = ((_PROCESS.search(actor), rank) for actor, rank in self._ranks.items())
        return {(said["node"], int(said["pid"])): rank for said, rank in found if said and rank is not None}

    def listen(self, actor: str, text: str) -> bool:
        """Look for the rank inside a line; True when something was learnt."""
        if len(self._heard) > MOST:
            self._heard.clear()
        self._heard[actor] = self._heard.get(actor, 0) + 1
        found = _RANK.search(text, 0, _HEAD)
        return found is not None and self.learn(actor, int(found[1]))

    def is_settled(self, actor: str) -> bool:
        """True once it need not be listened to any longer."""
        return actor in self._ranks or self._heard.get(actor, 0) >= LISTENS

    def learn(self, actor: str, rank: int) -> bool:
        """An actor says which rank it is; True when that is news.

        A newer process of the same class takes a rank over. Two classes with the same rank (a trainer and an
        inference engine) count in worlds of their own: neither is believed, nor is an actor that says two ranks.
        """
        if actor in self._ranks:
            if self._ranks[actor] in {rank, None}:
                return False
            self._ranks[actor] = None
            return True
        if len(self._ranks) > MOST:
            return False
        holder = self._holders.get(rank)
        is_other_world = holder is not None and _class_of(holder) != _class_of(actor)
        if holder is not None:
            self._ranks[holder] = None
        self._ranks[actor] = None if is_other_world else rank
        self._holders[rank] = actor
        return True


def _class_of(actor: str) -> str:
    return actor.partition(" pid=")[0]
