"""Which runs are listed, in which order, which page: as typed, as a button carries it, and worked out."""

import difflib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, urlencode

from handlers.arguments import Arguments, Option, WrongWords
from handlers.messages.escaping import visible
from registry import Run

PAGE_SIZE = 20
FRESH_SECONDS = 900.0
"""A run that made no step for so long has no speed, and no end in sight."""
OPTIONS = (
    Option("sort", "active|name|state|loss|progress|eta|incidents"),
    Option("state", "running"),
    Option("owner", "NAME"),
    Option("label", "KEY=VALUE"),
    Option("page", "2"),
)
SORTS = ("active", "name", "state", "loss", "progress", "eta", "incidents")


@dataclass(frozen=True, slots=True)
class Listing:
    """What is wanted of the list of runs."""

    sort: str = "active"
    state: str = ""
    owner: str = ""
    label: str = ""
    page: int = 1

    @property
    def word(self) -> str:
        """As a button carries it."""
        told = {"sort": self.sort, "state": self.state, "owner": self.owner, "label": self.label}
        told["page"] = str(self.page)
        return urlencode({name: value for name, value in told.items() if value}, errors="replace")

    @property
    def is_choice(self) -> bool:
        """Whether only some runs are wanted."""
        return bool(self.state or self.owner or self.label)

    @property
    def needs(self) -> tuple[str, ...]:
        """The facts of a run that decide whether it is listed, and where; the name alone is known before."""
        wanted = [*_NEEDS.get(self.sort, ())]
        wanted += _STATE if self.state else ()
        wanted += ("owner",) if self.owner else ()
        wanted += ("labels",) if self.label else ()
        return tuple(dict.fromkeys(wanted))

    def within(self, count: int) -> "Listing":
        """The same list, on a page that there is."""
        return self.turned(min(self.page, max(1, math.ceil(count / PAGE_SIZE))))

    def turned(self, page: int) -> "Listing":
        """Another page of the same list."""
        return replace(self, page=page)


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the list."""

    runs: Sequence[Run]
    listing: Listing
    found: int
    """How many runs fit."""
    known: int
    """How many there are."""
    wanted: int = 0
    """The number of the page that was asked for; 0: the one it is."""

    @property
    def last(self) -> int:
        """The number of the last page."""
        return max(1, math.ceil(self.found / PAGE_SIZE))


def read_listing(given: Arguments) -> Listing:
    """As typed.

    Raises:
        WrongWords: No such order or page.
    """
    return _checked(given.options)


def listing_of(word: str) -> Listing:
    """As a button carries it; the plain list where it is not ours."""
    try:
        return _checked(dict(parse_qsl(word)))
    except WrongWords:
        return Listing()


def page_of(runs: Sequence[Run], listing: Listing, incidents: Mapping[str, int], now: float) -> Page:
    """The page that is wanted; one beyond the end is the last."""
    fitting = [run for run in runs if _fits(run, listing)]
    ordered = sorted(fitting, key=_KEYS[listing.sort](incidents, now))
    wanted = listing.within(len(ordered))
    start = (wanted.page - 1) * PAGE_SIZE
    return Page(ordered[start : start + PAGE_SIZE], wanted, len(fitting), len(runs), listing.page)


def eta_seconds(run: Run, now: float) -> float | None:
    """How long it still takes at its own pace; None: nobody can tell."""
    if run.state != "running" or run.last_progress is None or now - run.last_progress > FRESH_SECONDS:
        return None
    if run.total_steps is None or run.last_step is None or not run.step_seconds or run.step_seconds <= 0:
        return None
    return max(0.0, (run.total_steps - run.last_step) * run.step_seconds)


def _checked(told: Mapping[str, str]) -> Listing:
    sort, page, label = told.get("sort", "active"), told.get("page", "1"), told.get("label", "")
    if sort.lower() not in SORTS:
        raise WrongWords(f"The list can be sorted by {', '.join(f'`{one}`' for one in SORTS)}.")
    if not page.isdecimal() or not 0 < int(page[:6]) < 100_000:
        raise WrongWords("Pages are counted from 1: `--page 2`.")
    state = told.get("state", "")
    if state and state.lower() not in STATES:
        near = near_state(state)
        hint = f" Did you mean `--state {near}`?" if near else ""
        states = ", ".join(f"`{one}`" for one in STATES)
        raise WrongWords(f"There is no state `{visible(state)[:40]}`; there are {states}.{hint}")
    if label and not label.partition("=")[0]:
        raise WrongWords("A label is named so: `--label team=vision`.")
    return Listing(sort.lower(), state.lower(), told.get("owner", "")[:80], label[:80], int(page))


def _fits(run: Run, listing: Listing) -> bool:
    name, _, value = listing.label.partition("=")
    has_label = not listing.label or (name in run.labels and (not value or run.labels[name].lower() == value.lower()))
    is_owner = not listing.owner or (run.owner or "").lower() == listing.owner.lower()
    return has_label and is_owner and (not listing.state or run.state == listing.state.lower())


_STATE = ("state", "last_progress", "attempt")
"""The state that is shown: as the log says, and whether the run went on since its incident."""
_NEEDS: Mapping[str, tuple[str, ...]] = {
    "active": ("last_progress", "first_seen"),
    "state": _STATE,
    "loss": ("last_loss",),
    "progress": ("last_progress",),
    "eta": (*_STATE, "total_steps", "last_step", "step_seconds"),
}
_Key = Callable[[Run], tuple[float | str, ...]]
STATES = ("stalled", "down", "crashed", "unheard", "running", "unknown", "killed", "preempted", "ended", "finished")


def near_state(word: str) -> str:
    """The state that may be meant by it; empty: none is near."""
    return next(iter(difflib.get_close_matches(word.lower(), STATES, n=1, cutoff=0.7)), "")


def _by_state(run: Run) -> tuple[float | str, ...]:
    return (STATES.index(run.state) if run.state in STATES else len(STATES), run.name.lower())


_KEYS: Mapping[str, Callable[[Mapping[str, int], float], _Key]] = {
    # By its newest step, as the table shows it; a run that is starting by its start.
    "active": lambda _incidents, _now: (
        lambda run: (-(run.last_progress or run.first_seen or run.last_seen or 0), run.name)
    ),
    "name": lambda _incidents, _now: lambda run: (run.name.lower(),),
    "state": lambda _incidents, _now: _by_state,
    "loss": lambda _incidents, _now: lambda run: (_or_last(run.last_loss), run.name),
    "progress": lambda _incidents, _now: lambda run: (-(run.last_progress or 0.0), run.name),
    "eta": lambda _incidents, now: lambda run: (_or_last(eta_seconds(run, now)), run.name),
    "incidents": lambda incidents, _now: lambda run: (-incidents.get(run.name, 0), run.name),
}


def _or_last(value: float | None) -> float:
    return math.inf if value is None or math.isnan(value) else value
