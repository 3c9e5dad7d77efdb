"""Options of the terminal, as the words a person would type in Slack: both are read by the same code."""

import argparse
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from diagnosis.errors import Mistake


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
