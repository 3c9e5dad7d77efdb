"""One thing that was looked at, what was seen, and what to do about it."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How it stands."""

    FINE = "fine"
    WARNING = "warning"
    WRONG = "wrong"
    NOT_LOOKED = "not looked"


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the doctor's answer."""

    what: str
    state: State
    said: str
    remedy: str = ""


def fine(what: str, said: str) -> Check:
    """It is as it should be."""
    return Check(what, State.FINE, said)


def warning(what: str, said: str, remedy: str = "") -> Check:
    """It works, but somebody should know."""
    return Check(what, State.WARNING, said, remedy)


def wrong(what: str, said: str, remedy: str) -> Check:
    """It does not work."""
    return Check(what, State.WRONG, said, remedy)


def not_looked(what: str, said: str) -> Check:
    """Nothing was set up to look at."""
    return Check(what, State.NOT_LOOKED, said)
