"""Dumps of PyTorch's flight recorder that lie on this node: which collective each rank was in."""

import os
from collections.abc import Iterator
from pathlib import Path

from diagnosis.redaction import mask
from watcher.bins import Bin
from watcher.evidence.collector import Outcome, Result, Scene
from watcher.evidence.log_tails import owners_of, said
from watcher.excerpts import open_owned
from watcher.job_environment import environment_of
from watcher.opening import Refused

MOST_FILES = 64
FILE_BYTES = 16 << 20
_NAMES = ("TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE")


class FlightRecorder:
    """The dumps as they are; nobody unpickles them here."""

    name = "flight_recorder"
    seconds = 8.0
    bytes = 64 << 20

    def collect(self, scene: Scene, into: Bin) -> Result:
        """Copy whole dumps of the job's owner."""
        missed: list[str] = []
        owners = owners_of(scene) - {0} or frozenset({os.getuid()})
        for at, path in enumerate(dict.fromkeys(_dumps(scene))):
            if at >= MOST_FILES or into.is_late:
                missed.append("more dumps were left where they are")
                break
            try:
                _save(path, owners, into)
            except (OSError, Refused) as error:
                missed.append(f"{path.name}: {getattr(error, 'strerror', None) or error}")
        if not into.files:
            return Result(Outcome.FAILED if missed else Outcome.EMPTY, said(missed) or "no dump was found")
        return Result(Outcome.COLLECTED, said(missed))


def _save(path: Path, owners: frozenset[int], into: Bin) -> None:
    descriptor = open_owned(str(path), str(path.parent), owners)
    try:
        size = os.fstat(descriptor).st_size
        if size > min(FILE_BYTES, into.left):
            raise Refused(str(path), f"has {size:,} bytes, more than there is room for")
        data = os.pread(descriptor, size, 0)
    finally:
        os.close(descriptor)
    # Masked bytes would be no pickle any more, so a dump with a secret stays where it is.
    if mask(data.decode("latin-1")).count:
        raise Refused(str(path), "holds what looks like a secret, and stays on the node")
    with into.file(path.name, is_raw=True) as file:
        file.write(data)


def _dumps(scene: Scene) -> Iterator[Path]:
    """Where PyTorch puts them: a prefix and the global rank."""
    for process in scene.processes:
        if process.rank is None:
            continue
        environment = environment_of(process.pid)
        prefixes = [environment[name] for name in _NAMES if environment.get(name, "").startswith("/")]
        cache = environment.get("XDG_CACHE_HOME", "")
        prefixes += [f"{cache}/torch/comm_lib_trace_rank_"] if cache.startswith("/") else []
        prefixes += [f"{_home_of(process.pid)}/.cache/torch/comm_lib_trace_rank_", "/tmp/nccl_trace_rank_"]  # noqa: S108
        for prefix in prefixes:
            path = Path(f"{prefix}{process.rank}")
            if path.is_file() and not path.is_symlink():
                yield path


def _home_of(pid: int) -> str:
    import pwd  # noqa: PLC0415 - not everywhere, and only here

    try:
        return pwd.getpwuid(Path(f"/proc/{pid}").stat().st_uid).pw_dir.rstrip("/")
    except (OSError, KeyError):
        return "/nonexistent"
