"""The rotated copies beside the logs: a list of all of them, and the newest one's end where the live log is short."""

import os
import time
import zlib
from collections import deque
from pathlib import Path

from watcher.bins import CHUNK_BYTES, Bin
from watcher.evidence.collector import Outcome, Result, Scene
from watcher.evidence.log_tails import LOG_BYTES, names_of, owners_of, said
from watcher.excerpts import GAPS_BYTES, copy, is_foreign, spans
from watcher.identity import FileId
from watcher.opening import Refused, open_log
from watcher.rotation import Copy, copies_beside

SHORT_BYTES = 1 << 20
"""A live log shorter than this was rotated a moment ago, so the trouble may stand in the copy."""
UNPACKED_BYTES = 512 << 20
"""So much of a compressed copy is unpacked to find its end; what is longer is named and left."""


class RotatedLogs:
    """What the log was before it was rotated."""

    name = "rotated_logs"
    seconds = 15.0
    bytes = 64 << 20

    def collect(self, scene: Scene, into: Bin) -> Result:
        """One line for each copy, then the copies that matter."""
        copies = {Path(path): found for path, found in copies_beside(map(str, scene.logs)).items()}
        lines = [_line(copy) for found in copies.values() for copy in found]
        if not lines:
            return Result(Outcome.EMPTY, "no rotated copy lies beside the logs")
        into.write("rotated-logs.txt", "".join(lines))
        missed: list[str] = []
        name_of = names_of(scene.logs)
        wanted = [(path, found[-1]) for path, found in copies.items() if found and _matters(scene, path, found[-1])]
        share = min(LOG_BYTES, into.left // max(1, len(wanted))) - GAPS_BYTES
        for at, (path, newest) in enumerate(wanted):
            if into.is_late:
                missed.append(f"no time was left for {len(wanted) - at:,} more copies")
                break
            try:
                _save(scene, path, newest, share, into, name=name_of(path))
            except (OSError, Refused, zlib.error) as error:
                missed.append(f"{Path(newest.path).name}: {getattr(error, 'strerror', None) or error}")
        return Result(Outcome.COLLECTED, said(missed))


def _line(copy: Copy) -> str:
    changed = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(copy.changed_at))
    return f"{changed} {copy.size:>14,} {copy.path}\n"


def _matters(scene: Scene, path: Path, newest: Copy) -> bool:
    try:
        size = path.stat().st_size
    except OSError:
        size = 0
    places = [moment.places.get(str(path)) for moment in scene.moments]
    return size < SHORT_BYTES or any(place is not None and place[0] == newest.file_id for place in places)


def _save(scene: Scene, path: Path, newest: Copy, share: int, into: Bin, *, name: str) -> None:
    root = scene.roots.get(str(path))
    # A root is given for the log's real path; its copies lie in the same folder.
    descriptor = open_log(newest.path, root)
    try:
        status = os.fstat(descriptor)
        if is_foreign(status, owners_of(scene)):
            raise Refused(newest.path, "is a second name of somebody else's file")
        name += Path(newest.path).name.removeprefix(path.name)
        if newest.is_compressed:
            _save_unpacked(descriptor, newest.path, name.removesuffix(".gz"), share, into)
            return
        places = [moment.places[str(path)] for moment in scene.moments if str(path) in moment.places]
        moments = [offset for file_id, offset in places if file_id == FileId.of(status)]
        parts = spans(status.st_size, share, moments)
        with into.file(name, source=newest.path) as file:
            copy(descriptor, file, parts, status.st_size)
            file.is_cut = file.is_cut or sum(part.end - part.start for part in parts) < status.st_size
    finally:
        os.close(descriptor)


def _save_unpacked(descriptor: int, source: str, name: str, share: int, into: Bin) -> None:
    """The end of a compressed copy as text: packed bytes cannot be masked."""
    inflate, kept, length, at = zlib.decompressobj(wbits=31), deque[bytes](), 0, 0
    held = 0
    while not inflate.eof:
        into.check()
        packed = inflate.unconsumed_tail or os.pread(descriptor, 65536, at)
        at += 0 if inflate.unconsumed_tail else len(packed)
        text = inflate.decompress(packed, CHUNK_BYTES)
        if not packed and not text:
            break
        length += len(text)
        if length > UNPACKED_BYTES:
            raise Refused(source, f"holds more than {UNPACKED_BYTES >> 20} MiB, too much to unpack now")
        kept.append(text)
        held += len(text)
        while held - len(kept[0]) >= share:
            held -= len(kept.popleft())
    text = b"".join(kept)[-share:]
    with into.file(name, source=source) as file:
        file.write(text if length <= share else text[text.find(b"\n") + 1 :])
        file.is_cut = file.is_cut or length > share
