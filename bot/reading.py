"""Reads log files and folders of evidence into a `Case`: each file once, streaming, recognised by its content."""

import io
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import IO

from bot.encodings import encoding_of
from bot.log_lines import Piece, Reading, Take, read_lines
from bot.opening import FAILURES, lies_plain, opened, reason_of
from bot.rotated import in_order, siblings
from bot.snapshot_manifest import Manifest, read_manifest
from bot.unfolding import unfolded
from diagnosis.case import Case, CaseFile
from diagnosis.exhibits import (
    HEAD,
    has_kernel_pids,
    kind_of,
    read_cgroup,
    read_dump,
    read_gpu_table,
    read_processes,
    read_ras,
    read_smi,
    read_stacks,
    what_it_is,
)
from diagnosis.formats.source_name import origin_of
from diagnosis.formats.timestamps import Clock
from diagnosis.observations import Origin

CHUNK = 1 << 18
WHOLE_FILE = 64 << 20
"""Bytes of an exhibit that is read in one piece; what is larger is cut there."""
MAX_FILES = 20_000
NO_ENCODING = "it is not UTF-8, and its encoding is not known: words beyond ASCII were not read"

_BY_LINE = frozenset({"training_log", "kernel_log", "scheduler", "table", "nvidia_smi"})
_OF_A_NODE = frozenset({"kernel_log", "nvidia_smi", "gpu_samples", "process_state", "cgroup"})
_KIND_WORDS = re.compile(
    r"(?i)(?<![a-z])(?:dmesg|kern(?:el)?|kmsg|journal(?:ctl)?|messages|syslog|nvidia[-_]smi|smi|gpus?(?![-_]?\d)|samples?|cgroup|memory|"
    r"events?|ps|proc(?:ess(?:es)?)?|stats?|metrics?|host|log|txt|out|csv)(?![a-z])"
)
_ENDINGS = re.compile(r"(?i)(?:\.(?:txt|log|csv|json|out|err|gz|xz|bz2))+$")
_NO_HOST = re.compile(r"(?i)(?:rank|attempt|run|job|try|restart|part|v|before|after|step|t)[-_]?\d")
_SINCE_BOOT = re.compile(r"\[ {0,12}(\d{1,10}\.\d{1,9})\] ")


def read_case(paths: Iterable[Path], take: Take | Reading) -> Case:
    """Every file under the paths; `take` gets each observation as it is read."""
    reading = take if isinstance(take, Reading) else Reading(take)
    case = Case()
    snapshots: dict[Path, Manifest] = {}
    paths = list(paths)
    case.unread += closed_folders(paths)
    for members in _sets_under(paths):
        if len(case.files) + len(members) > MAX_FILES:
            case.unread.append(f"more than {MAX_FILES} files: the rest was left out")
            return case
        folder = members[0][0].parent
        if folder not in snapshots:
            snapshots[folder] = read_manifest(folder)
        case.files += _read_set(members, snapshots[folder], case, reading)
    return case


def sizes_of(paths: Iterable[Path]) -> int:
    """Bytes on the disk that `read_case` would read."""
    return sum(path.stat().st_size for members in _sets_under(paths) for path, _ in members if path.is_file())


def closed_folders(roots: Iterable[Path]) -> list[str]:
    """Folders under the paths into which we may not look, each with the reason."""
    closed: list[OSError] = []
    for root in roots:
        for _ in os.walk(root, onerror=closed.append):
            pass
    return [
        f"{problem.filename}: {problem.strerror}" for problem in closed if not isinstance(problem, NotADirectoryError)
    ]


def _sets_under(paths: Iterable[Path]) -> Iterator[list[tuple[Path, str]]]:
    """Files to be read, each with the name that is shown; rotated ones together, the oldest first."""
    roots = list(paths)
    sets = {path: members for members in in_order(root for root in roots if not root.is_dir()) for path in members}
    seen: set[Path] = set()
    for root in roots:
        if root.is_dir():
            for members in in_order(_files_under(root)):
                yield [(path, str(path.relative_to(root))) for path in members]
        elif root not in seen:
            whole = siblings(root) if len(sets[root]) == 1 and root.exists() else sets[root]
            fresh = [path for path in whole if path not in seen]
            seen.update(fresh)
            yield [(path, path.name) for path in fresh]


def _files_under(root: Path) -> Iterator[Path]:
    for path in sorted(root.rglob("*"), key=lambda path: _natural(str(path.relative_to(root)))):
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(root).parts):
            yield path


def _natural(text: str) -> list[tuple[int, str]]:
    """rank2 before rank10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d{1,12})", text)]


def _read_set(members: list[tuple[Path, str]], snapshot: Manifest, case: Case, reading: Reading) -> list[CaseFile]:
    """One file, or the files of a rotated log."""
    files: list[CaseFile] = []
    with ExitStack() as streams:
        pieces: list[Piece] = []
        for path, shown in members:
            try:
                piece = _piece(path, shown, snapshot, streams)
            except FAILURES as error:
                files.append(_unreadable(shown, error, case))
                continue
            piece.is_part = len(members) > 1
            files.append(piece.file)
            pieces.append(piece)
            if piece.file.kind in _BY_LINE and encoding_of(piece.head) is None:
                case.unread.append(f"{shown}: {NO_ENCODING}")
        is_log = len(pieces) > 1 and all(piece.file.kind == pieces[-1].file.kind for piece in pieces)
        for together in [pieces] if is_log and pieces[-1].file.kind == "training_log" else [[one] for one in pieces]:
            try:
                _read_pieces(together, snapshot, reading)
            except FAILURES as error:
                place = next(at for at, file in enumerate(files) if file is together[-1].file)
                files[place] = _unreadable(files[place].path, error, case)
    return files


def _unreadable(shown: str, error: Exception, case: Case) -> CaseFile:
    reason = reason_of(error)
    case.unread.append(f"{shown}: {reason}")
    return CaseFile(shown, "unknown", problem=reason)


def _piece(path: Path, shown: str, snapshot: Manifest, streams: ExitStack) -> Piece:
    stream = streams.enter_context(opened(path))
    head = stream.read(HEAD)
    kind = snapshot.kind_of(shown) or kind_of(head, shown)
    lines = unfolded(head, stream) if kind == "training_log" else None
    if lines is not None:
        head, stream = lines.read(HEAD), lines
    origin = origin_of(snapshot.source_of(shown) or shown)
    if origin.node is None and snapshot.node is not None:
        origin = replace(origin, node=snapshot.node)
    elif kind in _OF_A_NODE and origin.node is None and origin.rank is None:
        origin = replace(origin, node=_node_of(shown, kind))
    file = CaseFile(shown, kind, node=origin.node, rank=origin.rank)
    if origin.rank is not None:
        file.ranks = (origin.rank,)
    packed = lines is not None or not lies_plain(path)
    return Piece(file, origin, head, stream, path.stat().st_size, is_packed=packed, path=path)


def _read_pieces(pieces: list[Piece], snapshot: Manifest, reading: Reading) -> None:
    piece = pieces[-1]
    file, kind = piece.file, piece.file.kind
    if kind == "gpu_samples":
        _read_gpus(file, piece.head, piece.stream, piece.origin)
    elif kind == "nvidia_smi":
        text = _whole(piece)
        piece.head, piece.stream = text, io.BytesIO()
        read_lines(pieces, reading)
        file.smi = read_smi(text.decode("utf-8", "replace").splitlines(), piece.origin.node)
    elif kind in _BY_LINE:
        read_lines(pieces, reading)
        if kind == "kernel_log" and snapshot.booted is not None:
            _date(file, snapshot.booted)
    elif kind == "unknown":
        file.problem = file.problem or what_it_is(piece.head)
    elif kind != "manifest":
        _read_whole(file, _whole(piece), piece.origin)


def _whole(piece: Piece) -> bytes:
    """All of it, as far as it can be read."""
    text = piece.head
    try:
        while len(text) < WHOLE_FILE and (more := piece.stream.read(WHOLE_FILE - len(text))):
            text += more
    except FAILURES as failure:
        piece.file.problem = reason_of(failure)
    return text


def _node_of(shown: str, kind: str) -> str | None:
    """The host in `gpu17-dmesg.txt`: what is left of the name without the words for what the file is."""
    stem = _ENDINGS.sub("", shown.replace("\\", "/").rsplit("/", 1)[-1])
    left = _KIND_WORDS.sub("", stem).strip("-_. ")
    if not re.fullmatch(r"[A-Za-z][A-Za-z-]{0,40}\d[\w.-]{0,60}", left) or _NO_HOST.match(left):
        return None
    return None if kind in {"gpu_samples", "nvidia_smi"} and re.fullmatch(r"(?i)gpu[-_]?\d{1,2}", left) else left


def _read_gpus(file: CaseFile, head: bytes, stream: IO[bytes], origin: Origin) -> None:
    lines = _Lines(head, stream)
    file.gpus = tuple(read_gpu_table(lines, origin.node, Clock().read).values())
    file.lines = lines.count


class _Lines:
    """Text lines of a stream whose first bytes are already here."""

    def __init__(self, head: bytes, stream: IO[bytes]) -> None:
        self.count = 0
        self._head = head
        self._stream = stream

    def __iter__(self) -> Iterator[str]:
        rest = self._head
        while rest or self._head is not None:
            *lines, rest = rest.split(b"\n")
            for line in lines:
                self.count += 1
                yield line[:65_536].decode("utf-8", "replace")
            more = self._stream.read(CHUNK)
            if not more:
                break
            rest = rest[-(1 << 20) :] + more
        if rest:
            self.count += 1
            yield rest[:65_536].decode("utf-8", "replace")


def _read_whole(file: CaseFile, data: bytes, origin: Origin) -> None:
    if file.kind == "flight_recorder":
        file.dump = read_dump(data, file.path)
        if file.dump is None:
            file.problem = "could not be read as a flight-recorder dump"
        elif file.dump.rank is not None:
            file.ranks, file.rank = (file.dump.rank,), file.dump.rank
        return
    text = data.decode("utf-8", "replace")
    file.lines = text.count("\n")
    if file.kind == "stacks":
        file.stacks = tuple(read_stacks(text, file.path, origin.rank))
        file.ranks = tuple(sorted({stack.rank for stack in file.stacks if stack.rank is not None}))
    elif file.kind == "process_state":
        file.processes = tuple(read_processes(text))
        file.has_kernel_pids = has_kernel_pids(text)
        file.ranks = tuple(sorted({process.rank for process in file.processes if process.rank is not None}))
    elif file.kind == "cgroup":
        file.cgroup = read_cgroup(text.splitlines())
    elif file.kind == "nccl_ras":
        file.ras = read_ras(text)


def _date(file: CaseFile, booted: float) -> None:
    """Times of a kernel log that counts from the start of its node."""
    for sighting in file.log.sightings if file.log is not None else ():
        counted = _SINCE_BOOT.match(sighting.symptom.evidence.text)
        if counted is not None:
            sighting.time = booted + float(counted[1])
            sighting.symptom = replace(sighting.symptom, time=sighting.time)
