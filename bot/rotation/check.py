"""Whether a rotated log is whole: the new file is written, old ones are packed, and no loss line is missing."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from bot.opening import FAILURES, is_packed, opened, reason_of
from bot.rotated import siblings
from bot.rotation.existing import about, stanzas_for
from diagnosis.formats.reader import LogReader
from diagnosis.formats.source_name import origin_of
from diagnosis.observations import StepSample
from watcher.log_writers import Writer, writers_of

CHUNK_BYTES = 1 << 20
MOST_STRIDES = 10_000
QUIET_SECONDS = 600.0
"""A log that nobody wrote to for so long says nothing about its rotation."""


@dataclass(frozen=True, slots=True)
class Counted:
    """One file of the log."""

    path: Path
    loss_lines: int
    first_step: float | None
    last_step: float | None
    is_packed: bool
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Hole:
    """Steps that stand in no file, between two of them."""

    before: Path
    after: Path
    last_step: float
    next_step: float
    lines: int


@dataclass(frozen=True, slots=True)
class Check:
    """What a look at a rotated log showed."""

    path: Path
    files: tuple[Counted, ...]
    holes: tuple[Hole, ...]
    writers: tuple[Writer, ...]
    is_growing: bool
    at_least: int | None = None
    problems: tuple[str, ...] = field(default=())
    """What is wrong, each a sentence."""

    @property
    def loss_lines(self) -> int:
        """Over live, rotated and packed files."""
        return sum(file.loss_lines for file in self.files)


def wait_for_lines(paths: Sequence[Path], seconds: float) -> dict[Path, bool]:
    """Which of the live files are being written: looked at together until all are, or the time is over."""
    before = {path: _state(path) for path in paths}
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and any(_state(path) == was for path, was in before.items()):
        time.sleep(0.2)
    return {path: _state(path) != was for path, was in before.items()}


def check(path: Path, *, at_least: int | None = None, is_growing: bool = False) -> Check:
    """Look at a log and its rotated files."""
    strides: list[float] = []
    files = tuple(_count(one, strides) for one in siblings(path))
    stride = sorted(strides)[len(strides) // 2] if strides else 1.0
    holes = tuple(_holes(files, stride))
    writers = tuple(writers_of(path))
    told = [problem for stanza in stanzas_for(path) for problem in about(stanza, writers)]
    problems = (*told, *_about_writers(path, writers, is_growing=is_growing), *_about_files(files, holes, at_least))
    return Check(path, files, holes, writers, is_growing, at_least, problems)


def _state(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


class _Steps:
    """Loss lines of one file, its first and last step, and how far apart steps usually are."""

    def __init__(self, strides: list[float]) -> None:
        self.count = 0
        self.first: float | None = None
        self.last: float | None = None
        self._strides = strides

    def take(self, seen: Iterable[object]) -> None:
        """What a reader found."""
        for one in seen:
            if not isinstance(one, StepSample) or one.loss is None:
                continue
            self.count += 1
            if one.step is None:
                continue
            if self.last is not None and one.step > self.last and len(self._strides) < MOST_STRIDES:
                self._strides.append(one.step - self.last)
            self.first = one.step if self.first is None else self.first
            self.last = one.step


def _count(path: Path, strides: list[float]) -> Counted:
    reader, steps = LogReader(str(path), origin_of(path.name)), _Steps(strides)
    packed, problem = False, ""
    try:
        packed = is_packed(path)
        with opened(path) as stream:
            while data := stream.read(CHUNK_BYTES):
                steps.take(reader.feed(data.replace(b"\0", b"")))
        steps.take(reader.close())
    except FAILURES as error:
        problem = f"{path.name} cannot be read: {reason_of(error)}"
    return Counted(path, steps.count, steps.first, steps.last, packed, problem)


def _holes(files: Sequence[Counted], stride: float) -> list[Hole]:
    found = []
    with_steps = [file for file in files if file.last_step is not None]
    for one, other in pairwise(with_steps):
        assert one.last_step is not None
        assert other.first_step is not None
        lines = round((other.first_step - one.last_step) / stride) - 1
        if lines > 0:
            found.append(Hole(one.path, other.path, one.last_step, other.first_step, lines))
    return found


def _about_writers(path: Path, writers: Sequence[Writer], *, is_growing: bool) -> list[str]:
    said = []
    for writer in writers:
        if writer.is_live:
            continue
        who, size = f"{writer.name} (process {writer.pid})", f"{writer.size:,} bytes"
        if writer.is_deleted:
            said.append(
                f"{who} writes into a file that was deleted: {size} are on no name. Save them now: "
                f"cp /proc/{writer.pid}/fd/{writer.descriptor} {path}.saved"
            )
        else:
            said.append(f"{who} writes on into {writer.path} and not into {path}: a rename without the job's knowing")
    if not path.exists():
        said.append(f"{path} is not there")
    elif not said and not is_growing and time.time() - path.stat().st_mtime > QUIET_SECONDS:
        said.append(f"{path} was not written for {(time.time() - path.stat().st_mtime) / 60:,.0f} minutes")
    return said


def _about_files(files: Sequence[Counted], holes: Sequence[Hole], at_least: int | None) -> list[str]:
    said = [file.problem for file in files if file.problem]
    plain = [file.path.name for file in files[:-2] if not file.is_packed and not file.problem]
    if plain:
        said.append(f"not compressed: {', '.join(plain[:6])}")
    said += [
        f"about {hole.lines:,} loss lines are in no file: {hole.before.name} ends at step {hole.last_step:,.0f}, "
        f"{hole.after.name} begins at step {hole.next_step:,.0f}"
        for hole in holes
    ]
    count = sum(file.loss_lines for file in files)
    if at_least is not None and count < at_least:
        said.append(f"{at_least - count:,} loss lines went missing: {at_least:,} before, {count:,} now")
    return said
