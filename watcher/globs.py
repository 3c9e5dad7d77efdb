"""The files that the user's patterns mean, with their rotated copies told apart."""

# Paths stay the strings that the user spelled.
# ruff: noqa: PTH100, PTH111, PTH112, PTH118, PTH207

import glob
import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePath

from watcher.rotation import is_copy_name, possible_originals

MOST_FILES = 20_000


@dataclass(frozen=True, slots=True)
class Match:
    """One file a pattern means."""

    path: str
    """As the user spells it."""
    real_path: str
    """With the pattern's own root resolved."""
    beneath: str
    """The resolved root: below it no symbolic link is followed."""


class Globs:
    """The patterns of one run. A root that is a symbolic link is resolved once: it was given by the user."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = [os.path.abspath(os.path.expanduser(pattern)) for pattern in patterns]
        self._roots: dict[str, str] = {}
        self._files: set[str] = set()
        """What was found not to be a folder; with ten thousand logs it is not asked again each second."""

    @property
    def patterns(self) -> Sequence[str]:
        """The patterns with their full path."""
        return self._patterns

    def matches(self, pattern: str) -> list[Match]:
        """The files that `pattern` means now, sorted, without directories and rotated copies."""
        root, rest = _split(pattern)
        real_root = self._resolved(root)
        if real_root is None:
            return []
        found = sorted(islice(self._expand(real_root, rest), MOST_FILES))
        names = set(found)
        return [
            Match(os.path.join(root, name), os.path.join(real_root, name), real_root)
            for name in found
            if not is_copy(name, names)
        ]

    def _expand(self, root: str, rest: str) -> Iterator[str]:
        if not glob.has_magic(rest):
            path = os.path.join(root, rest)
            if os.path.lexists(path) and not os.path.isdir(path):
                yield rest
            return
        for name in glob.iglob(rest, root_dir=root, recursive=True):
            path = os.path.join(root, name)
            if path in self._files:
                yield name
            elif not os.path.isdir(path):
                self._files.add(path)
                yield name

    def means(self, path: str) -> Match | None:
        """The match that `path` would be if it existed; None when no pattern means it."""
        for pattern in self._patterns:
            root, rest = _split(pattern)
            real_root = self._resolved(root)
            if real_root is None or not path.startswith(root.rstrip("/") + "/"):
                continue
            name = os.path.relpath(path, root)
            if "**" in rest or PurePath(name).match(rest):
                return Match(path, os.path.join(real_root, name), real_root)
        return None

    def _resolved(self, root: str) -> str | None:
        if root not in self._roots:
            if not os.path.isdir(root):
                return None
            self._roots[root] = os.path.realpath(root)
        return self._roots[root]


def _split(pattern: str) -> tuple[str, str]:
    """The directory part without wildcards, and the rest."""
    parts = pattern.split("/")
    fixed = next((at for at, part in enumerate(parts) if glob.has_magic(part)), len(parts) - 1)
    fixed = min(fixed, len(parts) - 1)
    return "/".join(parts[:fixed]) or "/", "/".join(parts[fixed:])


def is_copy(name: str, names: Collection[str]) -> bool:
    """True when another matched file is the live one that this was rotated from; compressed files always."""
    folder, base = os.path.split(name)
    if base.endswith((".gz", ".xz", ".bz2", ".zst", ".lz4")):
        return True
    return any(is_copy_name(base, live) and os.path.join(folder, live) in names for live in possible_originals(base))
