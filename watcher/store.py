"""Bringing a snapshot to where all nodes' snapshots lie together: a shared folder, or an object store by URL.

The node keeps its own copy in any case. The manifest comes last, so whoever finds one finds all of it.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from watcher.bookmarks import file_name
from watcher.shelf import PART
from watcher.snapshot import MANIFEST, sync


class NotStored(Exception):
    """The copy could not be made, and why."""


@dataclass(frozen=True, slots=True)
class Store:
    """Where copies go: `/shared/snapshots`, `file:///…`, `s3://bucket/prefix`, `gs://…`, anything fsspec knows."""

    url: str

    def place(self, node: str, run: str, name: str, at: float | None) -> str:
        """Where a snapshot will lie: with those of the other nodes that were asked at the same moment."""
        moment, _, chance = name.partition("-")
        if at is not None:
            moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(at))
        return f"{self.url.rstrip('/')}/{file_name(run)}/{moment}/{file_name(node)}-{chance}"

    def put(self, snapshot: Path, place: str) -> str:
        """Copy a whole snapshot there; returns the place.

        Raises:
            NotStored: there is no such store, or it did not take all of it.
        """
        try:
            if place.startswith(("/", "file://")):
                _put_in_folder(snapshot, Path(place.removeprefix("file://")))
            else:
                _put_by_url(snapshot, place)
        except NotStored:
            raise
        except Exception as problem:  # whatever a store's library raises
            words = getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
            raise NotStored(f"{words:.300}") from problem
        return place


def files_at(place: str, most_bytes: int) -> Iterator[tuple[str, bytes]]:
    """The files of a stored snapshot, the manifest too, as long as they are no more than so many bytes together.

    Raises:
        NotStored: it cannot be read, or it is larger.
    """
    try:
        listed = _listed(place)
        if sum(size for _, size, _ in listed) <= most_bytes:
            yield from ((name, read()) for name, _, read in listed)
            return
    except NotStored:
        raise
    except Exception as problem:  # whatever a store's library raises
        raise NotStored(f"{getattr(problem, 'strerror', None) or problem or type(problem).__name__}"[:300]) from problem
    raise NotStored(f"it is larger than {most_bytes >> 20} MiB")


def _listed(place: str) -> list[tuple[str, int, Callable[[], bytes]]]:
    """Name, size, and how to read it."""
    if place.startswith(("/", "file://")):
        paths = sorted(Path(place.removeprefix("file://")).iterdir())
        return [(path.name, path.stat().st_size, path.read_bytes) for path in paths]
    system, root = _system_of(place)
    found = {str(item["name"]): int(item["size"] or 0) for item in system.ls(root, detail=True)}
    return [(PurePosixPath(name).name, size, partial(system.cat_file, name)) for name, size in sorted(found.items())]


def _put_in_folder(snapshot: Path, place: Path) -> None:
    if place.exists():
        return
    part = place.with_name(place.name + PART)
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True, mode=0o700)
    for source in sorted(snapshot.iterdir()):
        descriptor = os.open(part / source.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as into, source.open("rb") as file:
            shutil.copyfileobj(file, into, 1 << 20)
            into.flush()
            os.fsync(into.fileno())
    sync(part)
    part.rename(place)
    sync(place.parent)


def _put_by_url(snapshot: Path, place: str) -> None:
    system, root = _system_of(place)
    names = sorted((path.name for path in snapshot.iterdir()), key=lambda name: (name == MANIFEST, name))
    for name in names:
        system.makedirs(root, exist_ok=True)
        system.put_file(str(snapshot / name), str(PurePosixPath(root) / name))


def _system_of(place: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs  # noqa: PLC0415 - an optional extra
    except ImportError:
        raise NotStored("fsspec is not installed here: pip install 'runwatch[store]'") from None
    system, root = url_to_fs(place)
    return system, str(root)
