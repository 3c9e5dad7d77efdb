"""Puts the lines of Python tracebacks together again: what was raised, where, and what it followed from."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from diagnosis.observations import Category, Evidence, Role, Symptom

MAX_OPEN = 4096
"""Ranks whose tracebacks are followed at once."""

_SOURCE = re.compile(
    r"^(?:\[[^\]\n]{1,60}\]:? ?|\d{1,6}: ?|\([^)\n]{1,80}\) ?){0,3}(?: {4,12}[^\s\d\[(|{]|│ {1,8}(?:❱ {1,4})?\d{1,6} │)"
)
"""Four blanks or more behind the envelopes (no numbers or braces: metrics), or a numbered line of a box."""

_UNKNOWN = re.compile(
    r"(?!\S{1,120}\.(?:py|sh|c|cc|cpp|cu|log|json|ya?ml)\b)(?P<type>(?:[A-Za-z_]\w{0,60}\.){1,8}[A-Za-z_]\w{0,60}|"
    r"[A-Z][a-z0-9]{1,40}[A-Z]\w{0,60})(?:: (?P<message>[^\n]{0,300}))?\s{0,4}$"
)
"""A dotted name, or one of several words in one: an exception of somebody's own, at the end of a traceback."""
_OPENING = "Traceback (most recent call last)"

_DISTRIBUTED = ("torch/distributed/", "gloo", "torch/nn/parallel/distributed")
_TEARDOWN = ("destroy_process_group", "_shutdown_workers", "__del__", "atexit", "_exit_function", "shutdown")
_LAUNCHERS = ("torch/distributed/elastic", "torch/distributed/run.py", "torch/distributed/launcher", "bin/torchrun",
              "accelerate/commands", "deepspeed/launcher", "torch/distributed/launch.py",
              "bin/accelerate", "bin/deepspeed")  # fmt: skip
_RECORDS = "elastic/multiprocessing/errors/__init__.py"
"""The frame that torch's `@record` puts around anybody's main function."""
_EXITS = frozenset({"container_exit", "batch_exit", "script_exit"})
"""Rows that tell how the whole of a process ended: what it raised stands above."""
_NEAR = 3
"""So many lines below `Exception ignored in` its traceback begins; a broken pipe has none."""
_SPAWNERS = ("multiprocessing/spawn.py",)
"""A launcher only where it raised itself: the same file is the outermost frame of what its child ran."""


@dataclass(frozen=True, slots=True)
class Place:
    """One frame: where the code was."""

    path: str
    at: int
    function: str
    line: int | None = None
    """Line of the log."""

    def __str__(self) -> str:
        return f"{self.function} ({self.path.rsplit('/', 1)[-1]}:{self.at})"

    @property
    def is_library(self) -> bool:
        """True for code that the person did not write."""
        return any(part in self.path for part in ("site-packages/", "dist-packages/", "/lib/python", "<frozen"))


@dataclass(slots=True)
class Raised:
    """One exception with its frames, outermost first."""

    opened: Symptom
    frames: list[Place] = field(default_factory=list)
    is_chained: bool = False
    """It was raised while another one was handled, or because of it: that one is the evidence."""
    is_ignored: bool = False
    """Python itself said that nobody will hear of it, as with what a `__del__` raises."""
    exception: Symptom | None = None
    """The line that names it; None for a traceback that was cut."""

    @property
    def where(self) -> Place | None:
        """The innermost frame of the person's own code, or else the innermost one."""
        own = [frame for frame in self.frames if not frame.is_library]
        return own[-1] if own else (self.frames[-1] if self.frames else None)

    @property
    def is_launcher(self) -> bool:
        """A launcher's own traceback: it only reports that a worker failed."""
        has_spawned = any(part in frame.path for frame in self.frames[-1:] for part in _SPAWNERS)
        outermost = [frame for frame in self.frames if _RECORDS not in frame.path][:3]
        return has_spawned or any(part in frame.path for frame in outermost for part in _LAUNCHERS)

    @property
    def is_communication(self) -> bool:
        """Raised inside a collective or its teardown: this rank waited for somebody."""
        last = self.frames[-1:]
        return any(part in frame.path for frame in last for part in _DISTRIBUTED) or any(
            part in frame.function for frame in last for part in _TEARDOWN
        )

    def passes(self, *parts: str) -> bool:
        """True when one of these stands in a path or function of any frame."""
        return any(part in frame.path or part in frame.function for frame in self.frames for part in parts)


class TracebackReader:
    """Follows the traceback of every rank through the symptoms of one file."""

    def __init__(self) -> None:
        self._open: dict[int | None, Raised] = {}
        self._chained: set[int | None] = set()
        self._ignored: dict[int | None, int] = {}
        """The line on which Python said so."""

    def observe(self, seen: Symptom) -> Raised | None:
        """Take one symptom in order; a traceback that has just got its exception."""
        rank = seen.origin.rank
        if seen.signature == "traceback":
            if len(self._open) < MAX_OPEN:
                self._open[rank] = Raised(seen, is_chained=rank in self._chained, is_ignored=self._is_ignored(seen))
            self._chained.discard(rank)
            self._ignored.pop(rank, None)
            return None
        if seen.signature == "traceback_chained":
            self._chained.add(rank)
            return None
        if seen.signature == "traceback_ignored":
            self._ignored[rank] = seen.evidence.line or 0
            return None
        raised = self._open.get(rank)
        if raised is None:
            return None
        if is_source(seen):
            return None
        if seen.signature == "traceback_frame":
            if len(raised.frames) < 200:
                raised.frames.append(
                    Place(
                        seen.fields["path"],
                        int(seen.fields["at"]),
                        seen.fields.get("function", "").strip(),
                        seen.evidence.line,
                    )
                )
            return None
        if not ends_traceback(seen):
            return None
        del self._open[rank]
        raised.exception = seen
        return raised

    def unfinished(self) -> Iterator[Raised]:
        """Tracebacks that nothing has ended."""
        yield from self._open.values()

    def is_open(self, rank: int | None) -> bool:
        """True while a traceback of this rank has no exception yet."""
        return rank in self._open

    def _is_ignored(self, traceback: Symptom) -> bool:
        said = self._ignored.get(traceback.origin.rank)
        return said is not None and (traceback.evidence.line or 0) - said <= _NEAR


def is_source(seen: Symptom) -> bool:
    """True for a line of source code that a traceback quotes: what it says was not printed by anybody."""
    return seen.signature != "traceback_frame" and _SOURCE.match(seen.evidence.text) is not None


def ends_traceback(seen: Symptom) -> bool:
    """True for a line that can be the last of a traceback."""
    is_raised = seen.role is not Role.CONTEXT or seen.signature == "python_exception"
    return is_raised and seen.signature not in _EXITS


def ended_unknown(raised: Raised, lines: Sequence[Evidence]) -> Symptom | None:
    """The exception that no row knows (no `Error` in its name), among the lines behind its traceback's last frame.

    None where the lines end within the traceback: what it would have said is not known.
    """
    before = raised.opened.evidence.text.find(_OPENING)
    last = max([raised.opened.evidence.line or 0, *(frame.line or 0 for frame in raised.frames)])
    for line in lines:
        bare = line.text[before:]
        if (line.line or 0) > last and bare[:1].strip():
            break
    else:
        return None
    found = _UNKNOWN.match(bare)
    if before < 0 or found is None:
        return None
    fields = {name: value for name, value in found.groupdict().items() if value is not None}
    return replace(
        raised.opened,
        signature="python_exception",
        role=Role.ROOT,
        category=Category.RANK_CRASH,
        evidence=line,
        fields=MappingProxyType(fields),
    )
