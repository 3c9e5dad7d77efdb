"""Loss, grad norm and learning rate of a run in a small file of its own on the node: it outlives every rotation."""

import os
from pathlib import Path

from diagnosis.formats.stretch import Point
from diagnosis.observations import StepSample
from watcher.bookmarks import file_name

HEAD = "attempt,step,loss,grad_norm,lr,time\n"
MOST_BYTES = 64 << 20
"""Then it is put aside once; so a run never takes more than twice that."""
MOST_WAITING = 100_000


class CurveFile:
    """One CSV for a run; lines are added, never changed."""

    def __init__(self, folder: Path, run: str) -> None:
        self.path = folder / f"{file_name(run)}.csv"
        self._waiting: list[str] = []

    @property
    def has_news(self) -> bool:
        """True when something waits to be written."""
        return bool(self._waiting)

    def add(self, seen: StepSample | Point, attempt: int) -> None:
        """Take the numbers of one step; they are written later."""
        if len(self._waiting) >= MOST_WAITING:
            return
        when = seen.time if seen.time is not None else seen.seen_at
        told = "" if when is None else f"{when:.3f}"
        row = f"{attempt},{seen.step},{seen.loss},{seen.grad_norm},{seen.lr},{told}\n"
        self._waiting.append(row.replace("None", ""))

    def write(self) -> None:
        """Add what waits; blocking. A torn last line of a crash is ended first.

        Raises:
            OSError: the disk did not take it; it waits on.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            size = os.fstat(descriptor).st_size
            is_torn = bool(size) and os.pread(descriptor, 1, size - 1) != b"\n"
            lines, text = len(self._waiting), "".join(self._waiting)
            data = (HEAD if not size else "\n" if is_torn else "") + text
            view = memoryview(data.encode())
            while view:
                view = view[os.write(descriptor, view) :]
        finally:
            os.close(descriptor)
        del self._waiting[:lines]
        if size + len(data) > MOST_BYTES:
            self.path.replace(self.path.with_suffix(".1.csv"))
