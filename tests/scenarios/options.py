"""The command line of a night or a soak: each field of its plan is an option, and what happened can be kept."""

import argparse
import dataclasses
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol, TypeVar

from tests.scenarios.episodes import Entry
from tests.scenarios.oracle import Judgement

Plan = TypeVar("Plan")


class Outcome(Protocol):
    """What came of it."""

    judgement: Judgement


Came = TypeVar("Came", bound=Outcome)


def asked_for(plan: Plan, doc: str | None) -> tuple[Plan, Path | None]:
    """The plan of the command line, over this one; and the folder to keep what happened in."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for field in dataclasses.fields(plan):  # type: ignore[arg-type]
        default = getattr(plan, field.name)
        flag = f"--{field.name.replace('_', '-')}"
        if isinstance(default, bool):
            parser.add_argument(flag, action=argparse.BooleanOptionalAction, default=default)
        else:
            parser.add_argument(flag, type=type(default), default=default)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave logs, journal and spools there")
    asked = vars(parser.parse_args())
    keep = asked.pop("keep")
    return dataclasses.replace(plan, **asked), keep  # type: ignore[type-var]


def live(what: Callable[[Path], Came], keep: Path | None) -> Came:
    """Let it happen in a folder of its own, or in the one to keep."""
    home = keep or Path(tempfile.mkdtemp(prefix="rw-"))
    home.mkdir(parents=True, exist_ok=True)
    try:
        return what(home)
    finally:
        if keep is None:
            shutil.rmtree(home, ignore_errors=True)


def say(outcome: Outcome, besides: Iterable[str] = ()) -> None:
    """Print what came of it, and the first of what was lost or came twice."""
    told = outcome.judgement
    lost: list[tuple[str, Entry]] = [("lost", entry) for entry in told.lost]
    rows = [f"  {what}: {entry}" for what, entry in (lost + [("twice", entry) for entry in told.twice])[:20]]
    sys.stdout.write("\n".join([str(outcome), *besides, *rows]) + "\n")
