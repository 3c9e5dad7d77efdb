"""What waits to be said in one channel, the most urgent first.

Roots come before replies, replies before edits, criticals before the rest; a reply waits for its root, and many
edits of one root are one edit. One trouble of one run is told in the order in which it came and went: told out of
order, a bot that takes over in between would take the end of the earlier time for the end of the later one.
"""

import itertools
from collections import deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from diagnosis.findings import Severity
from diagnosis.incidents import Announcement, Opened


class Act(StrEnum):
    """What is to be done in Slack."""

    ROOT = "root"
    REPLY = "reply"
    EDIT = "edit"


@dataclass(frozen=True, slots=True)
class Work:
    """One thing to do in Slack, and the findings that are settled by it."""

    act: Act
    incident: str
    events: tuple[str, ...]
    said: Announcement | None = None
    is_urgent: bool = False


@dataclass(slots=True)
class _Waiting:
    """What waits for one incident."""

    opened: Announcement | None = None
    replies: deque[Announcement] = field(default_factory=deque)
    edit_events: list[str] = field(default_factory=list)
    is_dirty: bool = False
    retry_at: float = 0.0
    edit_at: float = 0.0
    """Edits of one root keep their distance; roots and replies do not wait for that."""
    is_urgent: bool = False
    order: int = 0
    """Who waits longest goes first."""
    tells_news: bool = False
    """What left the queue last was a root or a reply."""
    line: tuple[str, str] = ("", "")
    """Run and trouble: in one line nobody overtakes."""

    @property
    def has_work(self) -> bool:
        return self.opened is not None or bool(self.replies) or self.is_dirty

    @property
    def is_edit(self) -> bool:
        return self.opened is None and not self.replies

    @property
    def due(self) -> float:
        return max(self.retry_at, self.edit_at) if self.is_edit else self.retry_at


class Outbox:
    """The queue of one channel. Nothing is ever dropped; what cannot be done now is put back."""

    def __init__(self, edit_interval_seconds: float = 3.0) -> None:
        self._edit_interval = edit_interval_seconds
        self._waiting: dict[str, _Waiting] = {}
        self._order = itertools.count()

    def put(self, said: Announcement) -> None:
        """Something to say."""
        waiting = self._find(said.incident.id)
        waiting.line = (said.incident.run, said.incident.trouble)
        waiting.is_urgent = said.incident.severity is Severity.CRITICAL
        if isinstance(said, Opened):
            waiting.opened = said
        elif said.speaks:
            waiting.replies.append(said)
            waiting.is_dirty = True
        else:
            waiting.is_dirty = True
            waiting.edit_events.extend(said.events)

    def touch(self, incident: str) -> None:
        """The root of this incident must be shown anew."""
        self._find(incident).is_dirty = True

    def put_back(self, work: Work, now: float, seconds: float) -> None:
        """It could not be done; try again, not before so many seconds from now."""
        # It keeps its place: nothing of its line may overtake it now.
        waiting = self._waiting.setdefault(work.incident, _Waiting())
        waiting.retry_at = max(waiting.retry_at, now + seconds)
        if work.act is Act.ROOT and work.said is not None:
            waiting.opened = work.said
            # What joined it meanwhile is settled by this root, whenever it is posted.
            waiting.edit_events[:0] = [name for name in work.events if name not in work.said.events]
        elif work.act is Act.REPLY and work.said is not None:
            waiting.replies.appendleft(work.said)
        else:
            waiting.is_dirty = True
            waiting.edit_events[:0] = work.events

    def next(
        self, now: float, busy: Collection[str] = (), *, may_tell: bool = True, may_edit: bool = True
    ) -> Work | None:
        """The most urgent thing that can be done now; it leaves the queue. One incident does one thing at a time."""
        is_free = self._free(busy, may_tell=may_tell, may_edit=may_edit)
        ready = [
            (self._rank(item), name)
            for name, item in self._waiting.items()
            if item.has_work and now >= item.due and name not in busy and is_free(name, item)
        ]
        if not ready:
            return None
        _, name = min(ready)
        return self._take(name, self._waiting[name], now)

    def seconds_to_next(
        self, now: float, busy: Collection[str] = (), *, may_tell: bool = True, may_edit: bool = True
    ) -> float | None:
        """How long until something can be done; None: nothing waits."""
        is_free = self._free(busy, may_tell=may_tell, may_edit=may_edit)
        waits = [
            max(0.0, item.due - now)
            for name, item in self._waiting.items()
            if item.has_work and name not in busy and is_free(name, item)
        ]
        return min(waits, default=None)

    def _heads(self, busy: Collection[str]) -> dict[tuple[str, str], str]:
        """Line → the incident whose news is told now, or goes next."""
        heads: dict[tuple[str, str], tuple[int, str]] = {}
        for name, item in self._waiting.items():
            is_told_now = name in busy and item.tells_news
            if is_told_now or (item.has_work and not item.is_edit):
                mine = (-1 if is_told_now else item.order, name)
                heads[item.line] = min(mine, heads.get(item.line, mine))
        return {line: name for line, (_, name) in heads.items()}

    def _free(self, busy: Collection[str], *, may_tell: bool, may_edit: bool) -> Callable[[str, _Waiting], bool]:
        """Whether there is room for what an incident does next, and nothing of its line before it."""
        heads = self._heads(busy)
        return lambda name, item: may_edit if item.is_edit else may_tell and heads[item.line] == name

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits."""
        return not any(item.has_work for item in self._waiting.values())

    @property
    def waiting(self) -> set[str]:
        """The incidents of which something waits."""
        return {name for name, item in self._waiting.items() if item.has_work}

    def forget(self, incidents: Iterable[str]) -> None:
        """Drop the pacing of incidents that are over; what still waits for them stays."""
        for name in incidents:
            if name in self._waiting and not self._waiting[name].has_work:
                del self._waiting[name]

    def _find(self, incident: str) -> _Waiting:
        waiting = self._waiting.setdefault(incident, _Waiting())
        if not waiting.has_work:
            waiting.order = next(self._order)
        return waiting

    def _take(self, name: str, item: _Waiting, now: float) -> Work:
        item.tells_news = not item.is_edit
        if item.opened is not None:
            opened, item.opened = item.opened, None
            # A root shows everything that is known when it is posted.
            events, item.edit_events = (*opened.events, *item.edit_events), []
            item.is_dirty = bool(item.replies)
            item.edit_at = now + self._edit_interval
            return Work(Act.ROOT, name, events, opened, item.is_urgent)
        if item.replies:
            said = item.replies.popleft()
            return Work(Act.REPLY, name, said.events, said, item.is_urgent)
        item.is_dirty, item.edit_at = False, now + self._edit_interval
        events, item.edit_events = tuple(item.edit_events), []
        return Work(Act.EDIT, name, events, None, item.is_urgent)

    @staticmethod
    def _rank(item: _Waiting) -> tuple[int, int]:
        act = 0 if item.opened is not None else 2 if item.replies else 4
        return act + (0 if item.is_urgent else 1), item.order
