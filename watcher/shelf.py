"""The folder where a node keeps its snapshots: what is whole, what was interrupted, what is too old or too much."""

import calendar
import re
import shutil
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from watcher.bookmarks import file_name

PART = ".part"
"""The ending of a folder that is not whole yet."""
KEEP_SECONDS = 7 * 86400.0
_NAME = re.compile(r"(\d{8}T\d{6})Z-[0-9a-f]{6}")


@dataclass(frozen=True, slots=True)
class Shelf:
    """The snapshots of all runs on this node; each run has its own folder in it."""

    folder: Path
    keep_bytes: int = 2 << 30
    keep_seconds: float = KEEP_SECONDS

    def home(self, run: str) -> Path:
        """The folder of one run; whatever a run is called, it lies here."""
        return self.folder / file_name(run)

    def whole(self, run: str) -> list[Path]:
        """The whole snapshots of a run, oldest first."""
        return _oldest_first(self.home(run).glob("*"))

    def taken_since(self, run: str, moment: float) -> list[Path]:
        """Those begun after a moment (Unix seconds)."""
        return [path for path in self.whole(run) if _begun(path.name) >= moment]

    def remove_interrupted(self, run: str) -> None:
        """Remove what a kill or a power cut left of this run; nobody else takes its snapshots."""
        for path in self.home(run).glob(f"*{PART}"):
            shutil.rmtree(path, ignore_errors=True)

    def remove_old(self) -> None:
        """Keep within the bounds of time and size; the newest stays as long as it can."""
        whole = _oldest_first(self.folder.glob("*/*"))
        sizes = {path: sum(file.stat().st_size for file in path.iterdir() if file.is_file()) for path in whole}
        while whole and (
            sum(sizes[path] for path in whole) > self.keep_bytes
            or time.time() - whole[0].stat().st_mtime > self.keep_seconds
        ):
            _remove(whole.pop(0))


def _oldest_first(paths: Iterable[Path]) -> list[Path]:
    """Those that are whole."""
    return sorted((path for path in paths if _NAME.fullmatch(path.name)), key=_age)


def _age(snapshot: Path) -> tuple[str, int]:
    """The end of a name is chance: within one second the folder's own time decides."""
    changed_ns = 0
    with suppress(OSError):  # removed just now
        changed_ns = snapshot.stat().st_mtime_ns
    return snapshot.name.partition("-")[0], changed_ns


def _remove(snapshot: Path) -> None:
    """First it loses its name: a removal that is interrupted must not leave half of it as if it were whole."""
    part = snapshot.with_name(f"{snapshot.name}.old{PART}")
    with suppress(OSError):
        snapshot.rename(part)
        shutil.rmtree(part, ignore_errors=True)


def _begun(name: str) -> float:
    found = _NAME.match(name)
    return float(calendar.timegm(time.strptime(found[1], "%Y%m%dT%H%M%S"))) if found else 0.0
