"""Every log that is followed: its head, its end, and what surrounds the trouble; the first thing that is lost."""

import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from watcher import process_tree
from watcher.bins import Bin
from watcher.evidence.collector import Outcome, Result, Scene
from watcher.excerpts import GAPS_BYTES, copy, is_foreign, spans
from watcher.identity import FileId
from watcher.opening import Refused, open_log

LOG_BYTES = 8 << 20
MOST_LOGS = 2000
FIRST_BYTES, LEAST_BYTES = 1 << 20, 64 << 10
"""Of the first log, by which the node's pace is seen; and of each, whatever the pace."""
EASY_BYTES = 32 << 20
"""So much is saved in time on any node."""
CAUTION = 0.7
"""A node that is busy now may be busier in ten seconds."""


class LogTails:
    """At most 8 MiB of each log, less where there are many."""

    name = "log_tails"
    seconds = 25.0
    bytes = 192 << 20

    def collect(self, scene: Scene, into: Bin) -> Result:
        """Copy what is there now; what is written meanwhile is not waited for."""
        missed: list[str] = []
        share = min(LOG_BYTES, into.left // max(1, min(MOST_LOGS, len(scene.logs)))) - GAPS_BYTES
        owners, name_of = owners_of(scene), names_of(scene.logs)
        pace = _Pace(share, min(MOST_LOGS, len(scene.logs)), into)
        for at, path in enumerate(_most_telling_first(scene)):
            if at == MOST_LOGS:
                missed.append(f"{len(scene.logs) - at:,} more logs were left: a snapshot holds {MOST_LOGS:,}")
                break
            if into.is_late:
                missed.append(f"no time was left for {len(scene.logs) - at:,} more logs")
                break
            try:
                _save(scene, path, pace.share(at), owners, into, name=name_of(path))
            except (OSError, Refused) as error:
                missed.append(f"{path.name}: {getattr(error, 'strerror', None) or error}")
        if not into.files:
            return Result(Outcome.FAILED if missed else Outcome.EMPTY, said(missed) or "no log is followed")
        return Result(Outcome.COLLECTED, said(missed))


class _Pace:
    """How much of each log there is time for: a busy node saves less of each, not nothing of most."""

    def __init__(self, share: int, count: int, into: Bin) -> None:
        self._share = share
        self._count = count
        self._into = into
        self._began = time.monotonic()
        self._left = into.left

    def share(self, done: int) -> int:
        """For the next log, when so many are done."""
        if done == 0:
            return min(self._share, max(FIRST_BYTES, EASY_BYTES // max(1, self._count)))
        per_second = (self._left - self._into.left) / max(1e-3, time.monotonic() - self._began)
        allowed = per_second * self._into.seconds_left / max(1, self._count - done)
        return min(self._share, max(LEAST_BYTES, int(CAUTION * allowed)))


def _most_telling_first(scene: Scene) -> list[Path]:
    """The logs that told of trouble, then the others."""
    telling = {moment.file for moment in scene.moments}
    return sorted(scene.logs, key=lambda log: str(log) not in telling)


def owners_of(scene: Scene) -> frozenset[int]:
    """Whose files may be part of the evidence: the job's, ours, and root's."""
    jobs = {uid for pid in scene.pids if (uid := process_tree.uid_of(pid)) is not None}
    return frozenset({*jobs, os.getuid(), 0})


def names_of(logs: Sequence[Path]) -> Callable[[Path], str]:
    """What logs are called in a snapshot: their names, with the folders before them where two share one."""
    counts = Counter(log.name for log in logs)
    above = Path(os.path.commonpath([str(log.parent) for log in logs])) if logs else Path()

    def name_of(path: Path) -> str:
        return path.name if counts[path.name] < 2 else "+".join(path.relative_to(above).parts)

    return name_of


def said(missed: list[str]) -> str:
    """What was missed, not endless."""
    return "; ".join(missed[:20]) + (f"; and {len(missed) - 20:,} more" if len(missed) > 20 else "")


def _save(scene: Scene, path: Path, share: int, owners: frozenset[int], into: Bin, *, name: str) -> None:
    descriptor = open_log(str(path), scene.roots.get(str(path)))
    try:
        status = os.fstat(descriptor)
        if is_foreign(status, owners):
            raise Refused(str(path), "is a second name of somebody else's file")
        places = [moment.places[str(path)] for moment in scene.moments if str(path) in moment.places]
        moments = [offset for file_id, offset in places if file_id == FileId.of(status)]
        parts = spans(status.st_size, share, moments)
        with into.file(name, source=str(path)) as file:
            copy(descriptor, file, parts, status.st_size)
            file.is_cut = file.is_cut or sum(part.end - part.start for part in parts) < status.st_size
    finally:
        os.close(descriptor)
