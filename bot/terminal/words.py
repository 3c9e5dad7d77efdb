"""Options of the terminal, as the words a person would type in Slack: both are read by the same code."""

import argparse
import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from diagnosis.errors import Away, Mistake


class NotOfThatName(Mistake):
    """No run has the name that was typed; the name may be cut."""

    def __init__(self, text: str, name: str) -> None:
        super().__init__(text)
        self.name = name


def add_run(parser: argparse.ArgumentParser) -> None:
    """The run that is asked about."""
    parser.add_argument("run", metavar="RUN", help="what people call the run")


def add_config(parser: argparse.ArgumentParser) -> None:
    """Where the settings are."""
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings file (default: runwatch.toml here)")


def words_of(options: argparse.Namespace, positional: Sequence[str], named: Sequence[str]) -> str:
    """`run42 --last 2h --csv`, quoted where needed."""
    words: list[str] = []
    for name in positional:
        value = getattr(options, name)
        words += value if isinstance(value, list) else [value]
    for name in named:
        value = getattr(options, name)
        if value is True:
            words.append(f"--{name}")
        elif value:
            words += [f"--{name}", value]
    return shlex.join(word for word in words if word)


@contextmanager
def told_of_files(run: str) -> Iterator[None]:
    """Say that a file was named where a run is asked for, and none is known by that name.

    Raises:
        Mistake: A file or folder has that name, and no run has, or nobody can look for one.
    """
    try:
        yield
    except (NotOfThatName, Away) as unknown:
        is_other = isinstance(unknown, NotOfThatName) and not run.startswith(unknown.name)
        # A name too long for any file is no failure to these two, as it is to Path.
        if is_other or not os.path.exists(run):  # noqa: PTH110
            raise
        kind = "folder" if os.path.isdir(run) else "file"  # noqa: PTH112
        why = (
            "No run has that name."
            if isinstance(unknown, NotOfThatName)
            else f"As a run it cannot be asked for: {unknown}"
        )
        told = f"{run} is a {kind}; use `runwatch inspect {shlex.quote(run)}`. {why}"
        raise Mistake(told) from unknown


def check_paths(paths: Iterable[Path]) -> None:
    """Refuse a path that is not there, or that we may not even look for.

    Raises:
        Mistake: One is.
    """
    for path in paths:
        if str(path) in {"-", "/dev/stdin"}:
            raise Mistake("Standard input is not read: write it into a file first.")
        try:
            path.stat()
        except FileNotFoundError:
            if path.is_symlink():
                raise Mistake(f"{path} is a link to {path.readlink()}, which is not there.") from None
            raise Mistake(f"There is no file or folder {path}.") from None
        except OSError as problem:
            raise Mistake(f"Cannot read {path}: {problem.strerror}.") from problem
