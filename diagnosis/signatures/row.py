"""What one row of a table says: how to know a telling line, what it means and what to do about it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum

from diagnosis.observations import Category, Role


class Tier(IntEnum):
    """How much a line weighs against others of the same moment; a lower number explains a higher one."""

    HARDWARE = 1
    """Kernel, driver and out-of-memory lines: nothing in the job makes them up."""
    EXCEPTION = 2
    """The program says itself what went wrong."""
    SIGNAL = 3
    """Somebody ended a process."""
    NETWORK = 4
    """A transport gave up; the peer may have died first."""
    WATCHDOG = 5
    """Somebody waited too long: the alarm clock, not the fire."""
    STORE = 6
    """Sockets and stores of a job that is already falling."""
    LAUNCHER = 7
    """Summaries of launchers and wrappers."""


Ruling = tuple[Role, Category]


@dataclass(frozen=True, slots=True)
class Signature:
    """One telling line: pattern, meaning, advice, where it was seen, and a line that must match."""

    number: str
    """Its place in the catalogue: S001 to S115, with a letter where one entry has several lines."""
    name: str
    role: Role
    category: Category
    tier: Tier
    needles: tuple[str, ...]
    """One of these stands in every line the pattern can match; looked for first, because that is cheap."""
    pattern: re.Pattern[str]
    """Its named groups are the fields. Every repetition is bounded, so that no line can make it slow."""
    advice: str
    source: str
    example: str
    may_start: bool = False
    """True where the same words may be the start of a trouble or follow from one: time order decides."""
    names_rank: bool = False
    """True when the field `rank` is whose line it is, used where the log's prefix does not tell."""
    ruling: Callable[[Mapping[str, str]], Ruling] | None = None
    """Role and category where they depend on the fields (an Xid number, an exit code)."""

    def rule(self, fields: Mapping[str, str]) -> Ruling:
        """Role and category of a line with these fields."""
        return self.ruling(fields) if self.ruling else (self.role, self.category)


def row(
    number: str,
    name: str,
    role: Role,
    category: Category,
    tier: Tier,
    *,
    needle: str | tuple[str, ...],
    pattern: str,
    example: str,
    advice: str = "",
    source: str = "",
    may_start: bool = False,
    names_rank: bool = False,
    ruling: Callable[[Mapping[str, str]], Ruling] | None = None,
) -> Signature:
    """A row of a table; `needle` is one text or several of which one must occur."""
    return Signature(
        number=number,
        name=name,
        role=role,
        category=category,
        tier=tier,
        needles=(needle,) if isinstance(needle, str) else needle,
        pattern=re.compile(pattern),
        advice=advice,
        source=source,
        example=example,
        may_start=may_start,
        names_rank=names_rank,
        ruling=ruling,
    )
