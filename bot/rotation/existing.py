"""What logrotate on this machine is already told to do with a log, and what that would cost its writer."""

import fnmatch
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from watcher.log_writers import Writer

PLACES = ("/etc/logrotate.conf", "/etc/logrotate.d")
MOST_BYTES = 1 << 20
_STANZA = re.compile(r"^([^#{}\n][^{}\n]*?(?:\n[^#{}\n]+?)*)\s*\{([^{}]*)\}", re.MULTILINE)
_WORD = re.compile(r"\"([^\"]+)\"|(\S+)")


@dataclass(frozen=True, slots=True)
class Stanza:
    """One block of a logrotate file."""

    file: Path
    patterns: tuple[str, ...]
    options: frozenset[str]


def stanzas_for(path: Path, places: Sequence[str] = PLACES) -> list[Stanza]:
    """The blocks that mean this log."""
    real = str(path.absolute())
    return [one for one in _stanzas(places) if any(fnmatch.fnmatch(real, pattern) for pattern in one.patterns)]


def about(stanza: Stanza, writers: Sequence[Writer]) -> list[str]:
    """What is wrong with it for these writers; nothing where nobody writes now."""
    redirected = [writer for writer in writers if writer.is_redirected]
    if not redirected:
        return []
    where = f"the rotation in {stanza.file}"
    if "copytruncate" in stanza.options:
        zeros = f"{where} cuts the file, but {redirected[0].name} does not append: each copy will be full of zeros"
        return [] if all(writer.appends for writer in redirected) else [zeros]
    if "compress" in stanza.options and "delaycompress" not in stanza.options:
        return [f"{where} renames and compresses at once: what {redirected[0].name} writes on will be deleted"]
    return [f"{where} renames the file, and {redirected[0].name} will not open the new one: it is rotated once only"]


def _stanzas(places: Sequence[str]) -> Iterator[Stanza]:
    for place in map(Path, places):
        files = sorted(place.iterdir()) if place.is_dir() else [place]
        for file in files:
            try:
                text = file.read_bytes()[:MOST_BYTES].decode("utf-8", "replace")
            except OSError:
                continue
            for found in _STANZA.finditer(text):
                patterns = tuple(quoted or plain for quoted, plain in _WORD.findall(found[1]))
                options = (line.split("#")[0].split() for line in found[2].splitlines())
                yield Stanza(file, patterns, frozenset(words[0] for words in options if words))
