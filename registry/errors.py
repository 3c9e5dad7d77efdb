"""What can go wrong between us and Redis, named for what happened."""

import difflib
from collections.abc import Iterable

from diagnosis.errors import Mistake


class RegistryError(Exception):
    """Anything the registry says instead of an answer."""


class RegistryAway(RegistryError):
    """Redis did not answer, or cannot write at the moment; it may be back any second.

    The call may or may not have taken effect: whoever repeats it must be sure that a repeat is harmless.
    """


class RegistryFull(RegistryAway):
    """Redis is up but takes no more writes: memory or disk is full. Readers still work."""


class Refused(RegistryError):
    """Redis is up and will not do this: a policy, a permission or a key of another type. A person must act."""


class Overtaken(RegistryError):
    """Somebody else changed what this transaction had looked at; nothing was written."""


class Forgotten(RegistryError):
    """Redis does not know what it knew before: it was emptied, or is another one. Nothing was written."""


class BadAddress(Mistake):
    """The address of the registry is none we can use. The message never holds it: it may hold a password."""


class UnknownRun(Mistake):
    """Nobody has registered a run of that name."""

    def __init__(self, name: str, near: tuple[str, ...] = ()) -> None:
        self.name = name
        self.near = near
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        super().__init__(f"No run {name}.{hint}")


def near_names(name: str, known: Iterable[str], count: int = 3) -> tuple[str, ...]:
    """Return up to `count` known names a person may have meant, best first."""
    folded: dict[str, str] = {}
    for other in known:
        folded.setdefault(other.casefold(), other)
    wanted = name.casefold()
    close = difflib.get_close_matches(wanted, folded, n=count, cutoff=0.6)
    close += [other for other in folded if wanted and wanted in other and other not in close]
    return tuple(folded[other] for other in close[:count])
