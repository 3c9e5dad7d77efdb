"""What goes wrong in a made-up run, and word for word what people must read about it: once each, no more.

A run trains, its loss turns NaN and comes back a few times (each time a root message and a word that it is over), and
in the end the loss turns NaN for good and then the grad norm too (a root message and a reply in its thread).
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

HEALTHY = 30
"""Lines before the first trouble: a rule wants to know what is normal."""
PERIOD = 8
"""Steps from one trouble to the next."""
BACK = 3
"""Good steps after which a NaN is over."""


@dataclass(frozen=True, order=True, slots=True)
class Entry:
    """Something that must be read once: a root message or a reply, of one run and one step."""

    run: str
    step: int
    what: str
    """`nan`, `over`, `grad`."""


@dataclass(frozen=True, slots=True)
class Story:
    """One run's log: its lines with the time they are written at, and what they must lead to."""

    run: str
    lines: tuple[tuple[float, str], ...]
    entries: tuple[Entry, ...]

    @property
    def findings(self) -> int:
        """How many alerts it holds; the word that one is over is none."""
        return sum(entry.what != "over" for entry in self.entries)


def story(run: str, troubles: int, begins: float, every: float) -> Story:
    """A run with so many NaNs: the first at `begins`, one each `every` seconds; one finding more than that."""
    lines: list[tuple[float, str]] = [(0.0, good(step)) for step in range(HEALTHY)]
    entries: list[Entry] = []
    for number in range(troubles):
        first, at = HEALTHY + number * PERIOD, begins + number * every
        entries.append(Entry(run, first, "nan"))
        lines.append((at, line(first, "nan", "nan")))
        if number == troubles - 1:
            lines.append((at + every / 2, line(first + 1, "2.5", "nan")))
            entries.append(Entry(run, first + 1, "grad"))
            break
        lines += [(at + every / 2, good(step)) for step in range(first + 1, first + PERIOD)]
        entries.append(Entry(run, first + 1, "over"))
    return Story(run, tuple(lines), tuple(entries))


def script(stories: Mapping[str, Story]) -> Iterator[str]:
    """Lines for `writer.py`, in order of time: file → story."""
    everything = [
        (at, number, file, text) for file, one in stories.items() for number, (at, text) in enumerate(one.lines)
    ]
    for at, _, file, text in sorted(everything):
        yield json.dumps({"at": round(at, 3), "file": file, "text": text})


_ROOT = re.compile(
    r"(?P<run>[\w-]+) · (?:over (?:after [^:]+|at once): )?(?P<what>loss|grad norm) is NaN since step (?P<step>[\d,]+)"
)
_ALSO = re.compile(r"Also: \W*(?P<what>loss|grad norm) is NaN since step (?P<step>[\d,]+)")
_OVER = re.compile(r"Over (?:after [^:]+|at once): (?P<what>loss is finite again) at step (?P<step>[\d,]+)")
_WHAT = {"loss": "nan", "grad norm": "grad", "loss is finite again": "over"}


def read(message: Mapping[str, object], roots: Mapping[str, Mapping[str, object]]) -> Entry | None:
    """The entry a message tells; None: it is something else (a chart, say). `roots` are the messages by ts.

    Which of two findings opens the thread is not part of the promise: Redis may have lost the first of them for a while.
    """
    text = str(message.get("text", ""))
    root = roots.get(str(message.get("thread_ts", message["ts"])), message)
    opening = _ROOT.search(str(root.get("text", "")))
    if opening is None:
        return None
    found = opening if root is message else _ALSO.search(text) or _OVER.search(text)
    return Entry(opening["run"], _number(found["step"]), _WHAT[found["what"]]) if found else None


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def good(step: int) -> str:
    """A healthy line of a log."""
    return line(step, "2.5", "1.0")


def line(step: int, loss: str, grad_norm: str) -> str:
    """A line of a log."""
    return f"step={step} loss={loss} lr=0.0001 grad_norm={grad_norm}"
