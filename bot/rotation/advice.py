"""What each way of rotating loses for a writer, and which way fits it (measured: docs/snapshot.md)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from watcher.log_writers import Writer


class Way(StrEnum):
    """How logrotate takes the old content away."""

    COPYTRUNCATE = "copytruncate"
    RENAME = "rename"
    RENAME_AND_COMPRESS = "rename, compress at once"


class Kind(StrEnum):
    """How a writer keeps its file."""

    APPENDS = "appends"
    """A redirection with `>>`, or a file opened for appending."""
    OVERWRITES = "overwrites"
    """A redirection with `>`."""
    UNKNOWN = "unknown"
    """Nobody writes now, or /proc does not let us see who."""


@dataclass(frozen=True, slots=True)
class Loss:
    """What one way loses."""

    way: Way
    text: str
    is_fit: bool


def kind_of(writers: Sequence[Writer]) -> Kind:
    """The worst of them decides."""
    if not writers:
        return Kind.UNKNOWN
    return Kind.APPENDS if all(writer.appends for writer in writers) else Kind.OVERWRITES


_TRUNCATED = "the few lines written between the copy's end and the truncation: under one in a rotation at 50 lines/s"
_NEVER_REOPENS = "the job does not open its file anew: it goes on writing into the renamed one"


def losses(kind: Kind) -> tuple[Loss, ...]:
    """What each way would lose for this writer."""
    cut = f"{_TRUNCATED}, one to five hundred at 20,000 lines/s"
    if kind is Kind.OVERWRITES:
        cut = f"{cut}; and the job goes on at its old offset, so the file becomes sparse and each copy is full of zeros"
    renamed = f"nothing, but {_NEVER_REOPENS}, the new file stays empty and nothing is rotated any more"
    packed = f"nearly everything: {_NEVER_REOPENS}, which gzip then deletes (91 % of the log was gone when measured)"
    return (
        Loss(Way.COPYTRUNCATE, cut, kind is not Kind.OVERWRITES),
        Loss(Way.RENAME, renamed, is_fit=False),
        Loss(Way.RENAME_AND_COMPRESS, packed, is_fit=False),
    )


def sentence(kind: Kind, writers: Sequence[Writer]) -> str:
    """Who writes, and what that means."""
    if kind is Kind.UNKNOWN:
        return (
            "Nobody writes this log now (or /proc does not show who), so what follows takes a job started with "
            "`nohup … >> LOG 2>&1` for granted."
        )
    named = ", ".join(f"{writer.name} (process {writer.pid})" for writer in writers[:3])
    if kind is Kind.APPENDS:
        return f"Written by {named}, which appends: it may be cut while it is written."
    return (
        f"Written by {named}, which does not append (`>`): after a cut it goes on at its old offset. Start the job "
        "with `>>` the next time; until then do not rotate this log, or live with zeros in it."
    )
