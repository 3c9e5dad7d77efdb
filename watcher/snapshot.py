"""A snapshot as a value: who asked for it, what came of each piece, and the manifest that stands in its folder."""

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from watcher.bins import Saved
from watcher.evidence import ESSENTIAL
from watcher.evidence.collector import Outcome
from watcher.moments import Moment

MANIFEST = "manifest.json"
_IS_IN = frozenset({Outcome.COLLECTED, Outcome.EMPTY, Outcome.UNAVAILABLE})
"""What cannot be had on this node is not waited for; it is named all the same."""


@dataclass(frozen=True, slots=True)
class Order:
    """Who asked for it, when, and why."""

    by: str = ""
    note: str = ""
    at: float | None = None
    """Unix seconds on the registry's clock."""
    seconds: float = 60.0
    """It is finished with what it has after this."""
    most_bytes: int = 256 << 20
    is_urgent: bool = False
    """Taken whatever the hour's count says: before a stop."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One kind of evidence in the manifest."""

    name: str
    outcome: Outcome
    why: str
    seconds: float
    files: tuple[Saved, ...] = ()

    @property
    def bytes(self) -> int:
        """How much was saved."""
        return sum(file.bytes for file in self.files)

    @property
    def is_essential(self) -> bool:
        """Whether a stop must wait for it."""
        return self.name in ESSENTIAL

    @property
    def is_in(self) -> bool:
        """Whether nothing more can be had of it."""
        return self.outcome in _IS_IN


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What came of it."""

    node: str
    run: str
    path: str
    pieces: tuple[Piece, ...]
    seconds: float
    error: str = ""
    moments: tuple[Moment, ...] = ()
    url: str = ""
    """Where a copy of it lies, besides on the node."""
    url_problem: str = ""

    @property
    def missing(self) -> tuple[str, ...]:
        """What a stop would have to wait for."""
        return tuple(piece.name for piece in self.pieces if piece.is_essential and not piece.is_in)

    def as_answer(self) -> dict[str, Any]:
        """For whoever asked, without the hashes."""
        return {
            "node": self.node,
            "run": self.run,
            "path": self.path,
            "url": self.url,
            "url_problem": self.url_problem,
            "error": self.error,
            "bytes": sum(piece.bytes for piece in self.pieces),
            "files": sum(len(piece.files) for piece in self.pieces),
            "masked": sum(file.masked for piece in self.pieces for file in piece.files),
            "seconds": round(self.seconds, 1),
            "essential_missing": list(self.missing),
            "pieces": [
                {
                    "name": piece.name,
                    "outcome": str(piece.outcome),
                    "why": piece.why[:500],
                    "bytes": piece.bytes,
                    "seconds": round(piece.seconds, 2),
                    "essential": piece.is_essential,
                }
                for piece in self.pieces
            ],
            "moments": [
                {
                    "kind": one.kind,
                    "text": one.text,
                    "file": one.file,
                    "line": one.line,
                    "quote": one.quote,
                    "at": one.at,
                }
                for one in self.moments
            ],
        }


def write_manifest(folder: Path, told: Mapping[str, Any]) -> None:
    """Put the manifest there at once: the one before, or this one, never a half."""
    new = folder / f".{MANIFEST}.new"
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(told, file, indent=1)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    new.rename(folder / MANIFEST)


def begun(node: str, run: str, order: Order) -> dict[str, Any]:
    """The manifest that stands there first: whoever finds the folder knows what it was to be."""
    return {
        "manifest": 1,
        "state": "being taken",
        "run": run,
        "node": node,
        "asked_by": order.by,
        "note": order.note,
        "asked_at": order.at,
        "begun_at": time.time(),
    }


def ended(begun: Mapping[str, Any], pieces: Sequence[Piece], seconds: float) -> dict[str, Any]:
    """The manifest that stands there last."""
    return {
        **begun,
        "state": "whole" if all(piece.is_in for piece in pieces) else "partial",
        "taken_at": time.time(),
        "seconds": round(seconds, 2),
        "bytes": sum(piece.bytes for piece in pieces),
        "masked": sum(file.masked for piece in pieces for file in piece.files),
        "pieces": [
            asdict(piece) | {"outcome": str(piece.outcome), "bytes": piece.bytes, "essential": piece.is_essential}
            for piece in pieces
        ],
    }


def seal(temporary: Path, final: Path, pieces: Sequence[Piece], manifest: Mapping[str, Any]) -> None:
    """Remove what no manifest names, write the manifest, make all of it last, give the folder its name."""
    known = {file.name for piece in pieces for file in piece.files} | {MANIFEST}
    for left in temporary.iterdir():
        if left.name not in known:  # of a collector that was left behind
            left.unlink()
    write_manifest(temporary, manifest)
    sync(temporary)
    temporary.rename(final)
    sync(final.parent)


def sync(folder: Path) -> None:
    """Make the names in a folder last."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
