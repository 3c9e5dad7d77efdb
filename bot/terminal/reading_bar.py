"""A progress bar on stderr while files are read: only for a person, and only when it takes a while."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from bot.reading import sizes_of

SHOWN_FROM = 32 << 20
"""Bytes that take long enough for a bar."""


@contextmanager
def reading_bar(paths: Sequence[Path]) -> Iterator[Callable[[int], None] | None]:
    """What is to be told of bytes as they are read; None when nobody looks or it will be quick."""
    total = sizes_of(paths) if sys.stderr.isatty() else 0
    if total < SHOWN_FROM:
        yield None
        return
    columns = (TextColumn("reading"), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=total)
        yield lambda count: bar.advance(task, count)
