"""One followed name through all the files that bear it: the live one, the renamed ones, the rotated copies."""

# Paths stay strings: they are looked at four times a second.
# ruff: noqa: PTH116, PTH120

import math
import os
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace

from watcher import rotation, writers
from watcher.identity import FileId, Place
from watcher.lingering import Lingering
from watcher.opening import Refused, open_log
from watcher.part import Part, Truncated
from watcher.pieces import START, Chunk, Continued, Ended, Piece, Rested, Start, Use


class Source:
    """Everything that is written under one name. Used by one thread at a time; `poll` may wait for the disk."""

    def __init__(
        self,
        path: str,
        *,
        real_path: str | None = None,
        beneath: str | None = None,
        start: Start = START,
        places: Sequence[Place] = (),
        chunk_bytes: int = 128 << 10,
    ) -> None:
        self.path = path
        self.problem: str | None = None
        self.is_gone = False
        """True when neither the name nor an open file is left."""
        self.has_more = False
        self.wants_wake_up = True
        """True when a change of the file is not being waited for yet."""
        self.real_path = real_path or path
        self._beneath = beneath
        self._start = start
        self._chunk_bytes = chunk_bytes
        self._places = tuple(places)
        self._parts: list[Part] = []
        self._finished: deque[Place] = deque(maxlen=32)
        self._lingering = Lingering(os.path.dirname(self.real_path))
        self._folder_changed_at = 0.0
        self._resting: tuple[Place, int, tuple[int, int]] | None = None

    @property
    def open_files(self) -> int:
        """How many descriptors it holds."""
        return len(self._parts)

    @property
    def grew_at(self) -> float:
        """When bytes came last (monotonic)."""
        return max((part.grew_at for part in self._parts), default=0.0)

    def poll(self, now: float) -> list[Piece]:
        """What was written since the last call, at most one chunk.

        Raises:
            OSError: the file cannot be read now.
            Refused: it is not a plain file.
        """
        self.has_more = False
        pieces = self._look_before_the_first_byte(now) if self._parts else self._begin(now)
        for part in list(self._parts):
            try:
                offset, caught_up_at = part.offset, part.caught_up_at
                data = part.read(self._chunk_bytes)
            except Truncated:
                pieces += self._after_truncation(part, now)
                self.has_more = True
                break
            if data:
                part.grew_at, part.written_at = now, part.changed_at()
                self.wants_wake_up = True
                if not part.unread_bytes():
                    part.caught_up_at = now
                unread_seconds = None if caught_up_at is None else now - caught_up_at
                pieces.append(self._chunk(part, part.offset - len(data), data, unread_seconds))
            if data or part.offset != offset:
                # Later files wait until the earlier one is read to its end: that is the order of the log.
                is_all = part is self._parts[-1] and 0 < len(data) < self._chunk_bytes
                self.has_more = not is_all
                break
            if part.looks_short:
                return pieces
            part.caught_up_at = now
            if self._lingering.is_over(part, self._parts, now, has_name=self._name_id() is not None):
                pieces.append(self._end(part))
        if self._parts and not self.has_more:
            pieces += self._look_at_name(now)
        self.is_gone = not self._parts and self._resting is None
        return pieces

    def unread_bytes(self) -> int:
        """What lies on the disk and was not read yet."""
        return sum(part.unread_bytes() for part in self._parts)

    def rest(self) -> Rested | None:
        """Give back the descriptor of a file that is read to its end, until it changes; None: it cannot rest now."""
        if len(self._parts) != 1 or not self._parts[0].is_at_end() or self._parts[0].file_id != self._name_id():
            return None
        if self._parts[0].offset == 0 and self._folder_changed_at != self._folder_time():
            return None
        part = self._parts.pop()
        self._resting = (part.place(), part.number, self._signature())
        part.close()
        return Rested(self.path, part.number)

    def has_changed(self) -> bool:
        """True when a resting file (or one never opened) is worth opening."""
        if self._resting is None or self._signature() != self._resting[2]:
            return True
        return self._resting[0].offset == 0 and self._folder_time() != self._folder_changed_at

    def close(self) -> None:
        """Let go of everything."""
        while self._parts:
            self._parts.pop().close()

    # -- beginning

    def _begin(self, now: float) -> list[Piece]:
        if self._resting is not None:
            return self._wake(now)
        pieces = self._resume(now) if self._places else []
        self._places = ()
        live = self._name_id()
        if live is None or not is_among(self._parts, live):
            pieces += self._open_name(now, self._start)
        return pieces

    def _wake(self, now: float) -> list[Piece]:
        """Go on with a file that was set aside; it may have been rotated meanwhile, as after a restart."""
        assert self._resting is not None
        place, number, _ = self._resting
        self._places, self._resting = (place,), None
        pieces: list[Piece] = []
        for piece in self._begin(now):
            if isinstance(piece, Chunk) and piece.use is Use.WARM_UP:
                pieces += [Continued(self.path, number, piece.part), replace(piece, use=Use.CONTEXT)]
            else:
                pieces.append(piece)
        if not any(isinstance(piece, Continued) for piece in pieces):
            pieces.insert(0, Ended(self.path, number))
        return pieces

    def _resume(self, now: float) -> list[Piece]:
        """Find every file that was being read, and those that came and went while nobody looked."""
        self._has_folder_changed()
        found: list[Part] = []
        # A place with nothing read is known by its inode alone, which may have been handed out again: those come last.
        for place in sorted(self._places, key=lambda place: place.offset == 0):
            part = rotation.find(place, self.real_path, self._beneath) or self._through_holder(place)
            if part is not None and is_among(found, part.file_id):
                part.close()
            elif part is not None:
                part.caught_up_at = place.caught_up_at
                found.append(part)
        live = self._name_id()
        if live is None or not is_among((part for part in found if part.offset), live):
            found += self._newer_copies(max(place.written_at for place in self._places), found)
        found.sort(key=lambda part: (part.file_id == live, part.written_at))
        for part in found:
            part.grew_at = now
            self._parts.append(part)
        return [piece for part in found for piece in self._warm_up(part)]

    def _through_holder(self, place: Place) -> Part | None:
        descriptor = writers.open_through_holder(place.file_id, os.path.dirname(self.real_path))
        if descriptor is None:
            return None
        if os.fstat(descriptor).st_size < place.offset or not place.fits(descriptor):
            os.close(descriptor)
            return None
        return Part(descriptor, self.real_path, offset=place.offset, line=place.line, head=place.head)

    def _open_live(self, now: float, start: Start) -> list[Piece]:
        self._has_folder_changed()  # from here on only
        descriptor = open_log(self.real_path, self._beneath)
        offset = start.offset(os.fstat(descriptor).st_size)
        if offset:
            offset = _line_start(descriptor, offset)
        part = Part(descriptor, self.real_path, offset=offset, line=None if offset else 1)
        part.grew_at = now
        self._parts.append(part)
        self.wants_wake_up = True
        return self._warm_up(part)

    def _warm_up(self, part: Part) -> list[Piece]:
        data = b"" if part.is_copy else part.read_back(self._start.warm_up_bytes)
        if not data:
            # An empty piece makes the file known, so that a bookmark can say "seen, nothing read yet".
            return [self._chunk(part, part.offset, b"")]
        line = None if part.line is None else max(1, part.line - data.count(b"\n"))
        start = part.offset - len(data)
        return [Chunk(self.path, part.number, start, data, part.place(), part.changed_at(), line, Use.WARM_UP)]

    # -- rotation

    def _look_at_name(self, now: float) -> list[Piece]:
        """Notice that another file bears our name, or that one came and went before we read anything of it."""
        live, last = self._name_id(), self._parts[-1]
        if live is None:
            return []
        if live == last.file_id:
            return []
        if is_among(self._parts, live):  # renamed back
            self._parts.sort(key=lambda part: part.file_id == live)
            return []
        missed = self._newer_copies(last.written_at, self._parts)
        pieces = self._open_name(now, Start("start")) + self._insert(missed, now)
        self.has_more = bool(pieces)
        return pieces

    def _look_before_the_first_byte(self, now: float) -> list[Piece]:
        """Before anything is read of the live file: was there something in it that a rotation took away?"""
        if self._parts and self._parts[-1].offset == 0 and self._has_folder_changed():
            return self._insert(self._newer_copies(self._parts[-1].written_at, self._parts), now)
        return []

    def _insert(self, parts: list[Part], now: float) -> list[Piece]:
        """Read copies before the live file; from here on bookmarks know of them."""
        if not parts:
            return []
        newest = max(part.written_at for part in parts)
        for part in parts:
            part.grew_at = now
            self._parts.insert(len(self._parts) - 1, part)
        empty = [part for part in self._parts if part.offset == 0]
        for part in empty:
            if part not in parts:
                part.written_at = max(part.written_at, math.nextafter(newest, math.inf))
        return [self._chunk(part, 0, b"") for part in empty]

    def _has_folder_changed(self) -> bool:
        changed_at = self._folder_time()
        has_changed, self._folder_changed_at = changed_at != self._folder_changed_at, changed_at
        return has_changed

    def _folder_time(self) -> float:
        return os.stat(os.path.dirname(self.real_path) or ".").st_mtime

    def _open_name(self, now: float, start: Start) -> list[Piece]:
        """Open what bears our name now; that it cannot be opened must not stop the files we already read."""
        try:
            pieces = self._open_live(now, start)
        except (OSError, Refused) as error:
            if not self._parts:
                raise
            self.problem = str(error)
            return []
        self.problem = None
        return pieces

    def _newer_copies(self, since: float, held: Sequence[Part]) -> list[Part]:
        """Copies written after `since` that hold something new, opened where reading of their bytes had ended."""
        parts: list[Part] = []
        for copy in rotation.copies_of(self.real_path):
            if copy.changed_at < since or is_among(held, copy.file_id) or copy.file_id == self._name_id():
                continue
            if any(rotation.holds(copy, part.mark(), self._beneath) for part in held):
                continue  # the rest of it comes through the descriptor that we hold
            read = (rotation.open_at(copy.path, place, self._beneath) for place in self._finished if place.offset)
            part = next(filter(None, read), None) or rotation.open_copy(copy, self._beneath)
            if part is not None:
                parts.append(part)
        return parts

    def _after_truncation(self, part: Part, now: float) -> list[Piece]:
        at = self._parts.index(part)
        place = part.place()
        copy = rotation.find(place, self.real_path, self._beneath)
        if copy is not None and is_among((other for other in self._parts if other is not part), copy.file_id):
            copy.close()
            copy = None
        others = [other for other in self._parts if other is not part]
        afresh = Part(part.reopened(), part.path)
        afresh.written_at, afresh.caught_up_at = max(afresh.written_at, part.written_at), part.caught_up_at
        pieces: list[Piece]
        if copy is not None:
            copy.caught_up_at = part.caught_up_at
            following = [copy, *self._newer_copies(copy.written_at, [*others, copy, afresh])]
            pieces = [Continued(self.path, part.number, copy.number)]
        else:
            following = self._newer_copies(part.written_at, [*others, afresh])
            pieces = [Ended(self.path, part.number)]
        for new in (*following, afresh):
            new.grew_at = now
        pieces += [self._chunk(new, new.offset, b"") for new in (*following, afresh)]
        self._parts[at : at + 1] = [*following, afresh]
        part.close()
        return pieces

    def _end(self, part: Part) -> Piece:
        self._finished.append(part.place())
        self._lingering.forget(part)
        self._parts.remove(part)
        part.close()
        return Ended(self.path, part.number)

    # -- small things

    def _chunk(self, part: Part, offset: int, data: bytes, unread_seconds: float | None = None) -> Chunk:
        place, changed_at = part.place(), part.changed_at()
        return Chunk(self.path, part.number, offset, data, place, changed_at, part.line, unread_seconds=unread_seconds)

    def _name_id(self) -> FileId | None:
        try:
            status = os.stat(self.real_path, follow_symlinks=False)
        except OSError:
            return None
        return FileId.of(status)

    def _signature(self) -> tuple[int, int]:
        try:
            status = os.stat(self.real_path, follow_symlinks=False)
        except OSError:
            return (0, 0)
        return (status.st_ino, status.st_size)


def _line_start(descriptor: int, offset: int) -> int:
    """The start of the line that `offset` lies in, if it is near."""
    start = max(0, offset - 65536)
    data = os.pread(descriptor, offset - start, start)
    return start + data.rfind(b"\n") + 1 if b"\n" in data else offset


def is_among(parts: Iterable[Part], file_id: FileId) -> bool:
    """True when one of the parts is that file."""
    return any(part.file_id == file_id for part in parts)
