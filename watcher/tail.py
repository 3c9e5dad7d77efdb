"""All logs of one run, followed in small fair pieces through every kind of rotation."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from watcher.bookmarks import Places
from watcher.globs import Globs, Match
from watcher.opening import Refused
from watcher.pieces import START, Chunk, Piece, Start
from watcher.source import Source
from watcher.wakeup import WakeUp

POLL_BYTES = 1 << 20
"""So much is read in one call at most, so that nothing waits long for its turn."""
RESCAN_SECONDS, LONGEST_RESCAN_SECONDS = 1.0, 10.0
"""How soon new files are looked for again, and how late where that costs much."""
SCAN_COSTS = 50
"""A folder of thousands of files takes one part in so many of a core, as far as these bounds let it."""
RETRY_SECONDS = 5.0
COVER_SECONDS = 10.0
"""Files that are not held open are looked at in turn, all of them within this time."""
LAG_SECONDS = 2.0
MOST_PROBLEMS = 5


@dataclass(frozen=True, slots=True)
class Batch:
    """What one poll found."""

    pieces: tuple[Piece, ...] = ()
    has_more: bool = False
    """True: more is waiting, poll again at once."""
    files: int = 0
    """How many files are followed."""
    lag_bytes: int = 0
    """What lies unread on the disk, of the files that are open; measured now and then."""
    problems: tuple[str, ...] = ()


class Tail:
    """The followed files of one run. One thread at a time may poll it."""

    def __init__(
        self,
        patterns: Sequence[str],
        *,
        start: Start = START,
        places: Places | None = None,
        chunk_bytes: int = 128 << 10,
        most_open: int = 256,
        wake_up: WakeUp | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.doing: str | None = None
        """The path that is being touched at this moment."""
        self._patterns = patterns
        self._globs = Globs(patterns)
        self._start = start
        self._places = dict(places or {})
        self._chunk_bytes = chunk_bytes
        self._most_open = most_open
        self._wake_up = wake_up
        self._clock = clock
        self._sources: dict[str, Source] = {}
        self._open: deque[Source] = deque()
        self._closed: deque[Source] = deque()
        self._retry: list[tuple[float, Source]] = []
        self._left_out: set[str] = set()
        self._empty: list[str] = []
        self._is_first_scan = True
        self._scan_at = self._polled_at = clock()
        self._lag_at, self._lag_bytes = float("-inf"), 0
        self._said: tuple[str, ...] = ()
        self._problems: tuple[str, ...] = ()
        self._may_rest = False
        self._news_at = 0.0
        self._is_abandoned = False

    def poll(self) -> Batch:
        """Read what is new: at most one chunk of a file and `POLL_BYTES` in all."""
        now = self._clock()
        if now >= self._scan_at:
            self._scan()
            self._problems = self._what_is_wrong()
        pieces: list[Piece] = []
        size, has_more = 0, False
        for source in self._due(now, pieces):
            for piece in self._poll_one(source, now):
                pieces.append(piece)
                size += len(piece.data) if isinstance(piece, Chunk) else 0
            has_more = has_more or source.has_more
            if self._is_abandoned:
                source.close()
                return Batch()
            if size >= POLL_BYTES:
                has_more = True
                break
        if not has_more:
            self._arm()
        return Batch(tuple(pieces), has_more, len(self._sources), self._lag(now), self._problems)

    def wait(self, longest: float, *, every: float, at_least: float) -> Batch:
        """Poll `every` so often until there is news, or for so many seconds; not sooner than `at_least` after news.

        The waiting is done here, in the reading thread: a quiet log then costs the rest of the process nothing.
        """
        ends = self._clock() + longest
        while True:
            sleeper = self._wake_up if longest and self._may_rest else None
            if sleeper is not None and sleeper.sleep(every, self._news_at + at_least):
                return Batch(files=len(self._sources), lag_bytes=self._lag_bytes, problems=self._said)
            batch = self.poll()
            has_news = batch.pieces or batch.problems != self._said
            if batch.pieces:
                self._news_at = time.monotonic()
            self._may_rest, self._said = not batch.has_more, batch.problems
            if has_news or batch.has_more or self._is_abandoned or self._clock() >= ends:
                return batch

    def rescan(self) -> None:
        """Look for new files at the next poll."""
        self._scan_at = 0.0

    def left_behind(self) -> "tuple[Tail, str]":
        """A tail that goes on without the path whose call did not return, and that path.

        The old one is left to the stuck thread and does nothing more when that comes back.
        """
        stuck = self.doing or "a log folder"
        self._is_abandoned = True
        heir = Tail(
            self._patterns,
            start=self._start,
            chunk_bytes=self._chunk_bytes,
            most_open=self._most_open,
            wake_up=self._wake_up,
            clock=self._clock,
        )
        heir._is_first_scan = False
        heir._left_out = self._left_out | {stuck}
        heir._places = self._places
        for source in list(self._sources.values()):
            if source.path != stuck:
                heir._sources[source.path] = source
                (heir._open if source.open_files else heir._closed).append(source)
        return heir, stuck

    def take_back(self, path: str, places: Places) -> None:
        """Follow a path again that had been left out, from where its reading stood."""
        self._left_out.discard(path)
        self._places.update(places)
        self.rescan()

    def close(self) -> None:
        """Let go of all files."""
        for source in self._sources.values():
            source.close()

    # -- which files

    def _scan(self) -> None:
        began, spent = self._clock(), time.thread_time()
        matches: dict[str, Match] = {}
        self._empty = []
        for pattern in self._globs.patterns:
            if pattern in self._left_out:
                continue
            self.doing = pattern
            found = self._globs.matches(pattern)
            matches |= {match.path: match for match in found}
            if not found:
                self._empty.append(pattern)
        if self._is_abandoned:
            return
        for path in self._places if self._is_first_scan else ():
            # The file may have been renamed away while nobody looked; its rest is in a rotated copy.
            match = self._globs.means(path)
            if match is not None:
                matches.setdefault(path, match)
        for path, match in sorted(matches.items()):
            if path not in self._sources and path not in self._left_out:
                self._add(match)
        self._is_first_scan = False
        # On a busy machine a listing that costs nothing may take seconds: it is no reason not to look for a minute.
        ends = self._clock()
        costs = max(SCAN_COSTS * (time.thread_time() - spent), ends - began)
        self._scan_at = ends + min(max(RESCAN_SECONDS, costs), LONGEST_RESCAN_SECONDS)

    def _add(self, match: Match) -> None:
        source = Source(
            match.path,
            real_path=match.real_path,
            beneath=match.beneath,
            start=self._start if self._is_first_scan else Start("start", warm_up_bytes=self._start.warm_up_bytes),
            places=self._places.pop(match.path, ()),
            chunk_bytes=self._chunk_bytes,
        )
        self._sources[match.path] = source
        (self._open if len(self._open) < self._most_open else self._closed).append(source)

    # -- whose turn

    def _due(self, now: float, pieces: list[Piece]) -> Iterator[Source]:
        for source in list(self._open):
            self._open.rotate(-1)
            yield source
        while self._retry and self._retry[0][0] <= now:
            self._closed.appendleft(self._retry.pop(0)[1])
        elapsed, self._polled_at = now - self._polled_at, now
        for _ in range(min(len(self._closed), 1 + int(len(self._closed) * elapsed / COVER_SECONDS))):
            source = self._closed.popleft()
            self.doing = source.path
            if source.has_changed() and self._make_room(pieces):
                self._open.append(source)
                yield source
            else:
                self._closed.append(source)

    def _make_room(self, pieces: list[Piece]) -> bool:
        if sum(source.open_files for source in self._open) < self._most_open:
            return True
        for source in sorted(self._open, key=lambda source: source.grew_at):
            self.doing = source.path
            rested = source.rest()
            if rested is not None:
                pieces.append(rested)
                self._open.remove(source)
                self._closed.append(source)
                return True
        return False

    def _poll_one(self, source: Source, now: float) -> list[Piece]:
        self.doing = source.path
        try:
            pieces = source.poll(now)
        except FileNotFoundError:
            pieces = []
            source.is_gone = True
        except (OSError, Refused) as error:
            source.problem = _in_words(source.path, error)
            pieces = []
            self._open.remove(source)
            self._retry.append((now + RETRY_SECONDS, source))
            self._problems = self._what_is_wrong()
        if source.is_gone and not self._is_abandoned:
            self._open.remove(source)
            self._sources.pop(source.path, None)
        return pieces

    def _arm(self) -> None:
        if self._wake_up is None:
            return
        for source in self._open:
            if source.wants_wake_up:
                self.doing = source.path
                self._wake_up.arm(source.real_path)
                source.wants_wake_up = False

    def _lag(self, now: float) -> int:
        if now - self._lag_at >= LAG_SECONDS:
            self._lag_at, self._lag_bytes = now, 0
            for source in self._open:
                self.doing = source.path
                self._lag_bytes += source.unread_bytes()
        self.doing = None
        return self._lag_bytes

    def _what_is_wrong(self) -> tuple[str, ...]:
        said = [source.problem for source in self._sources.values() if source.problem]
        said += [_no_file(pattern) for pattern in self._empty]
        said += [f"{path} does not answer (hung file system?)" for path in sorted(self._left_out)]
        if len(said) > MOST_PROBLEMS:
            said[MOST_PROBLEMS:] = [f"and {len(said) - MOST_PROBLEMS} more files that cannot be read"]
        return tuple(said)


def _no_file(pattern: str) -> str:
    if Path(pattern).is_dir():
        return f"{pattern} is a folder; name the logs in it, as in '{pattern}/*.log'"
    return f"no file matches {pattern} yet"


def _in_words(path: str, error: OSError | Refused) -> str:
    if isinstance(error, Refused):
        return str(error)
    return f"{path} is not readable: {(error.strerror or str(error)).lower()}"
