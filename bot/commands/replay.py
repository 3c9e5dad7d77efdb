"""`runwatch replay`: what would have been posted about these logs, when, and by which rule."""

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

from bot.commands.watch import add_reading_options, reading_settings
from bot.setup import load_thresholds
from bot.terminal.words import check_paths
from diagnosis.errors import Mistake
from diagnosis.thresholds import Thresholds

SUMMARY = "what would have been posted about these logs, when, and by which rule: to trust and tune the thresholds"
EXITS = (
    "exit codes: 0 played; 1 these files tell nothing; 2 wrong use, such as a path that is not there; 3 our own failure"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """What to play, with which thresholds."""
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="log files, or one folder: one run")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="another threshold, such as --set jump.delta=0.5 or --set stall_after=20m (docs/settings.md has all)",
    )
    parser.add_argument("--all", action="store_true", help="show what is kept quiet and what only edits a thread, too")
    parser.add_argument("--json", action="store_true", help="the same for programs")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings file with other thresholds")
    add_reading_options(parser)


def run(options: argparse.Namespace) -> int:
    """Play and print; 1 when these files tell nothing."""
    check_paths(options.paths)
    from bot.replay import replay  # noqa: PLC0415 - only when asked for
    from bot.terminal.reading_bar import reading_bar  # noqa: PLC0415

    thresholds = changed(load_thresholds(options.config), options.set)
    settings = reading_settings(options)
    with reading_bar(options.paths) as progress:
        done = replay(options.paths, thresholds, progress=progress, settings=settings)
    if options.json:
        import json  # noqa: PLC0415

        sys.stdout.write(json.dumps(done.as_json(), ensure_ascii=False) + "\n")
    else:
        from bot.terminal.replay import print_replay  # noqa: PLC0415

        print_replay(done, everything=options.all)
    return 1 if done.blind else 0


def changed(thresholds: Thresholds, settings: list[str]) -> Thresholds:
    """The thresholds with those of `--set`."""
    named: dict[str, str] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise Mistake(f"--set wants NAME=VALUE, such as --set jump.delta=0.5, not {setting!r}.")
        named[name] = value
    told = Thresholds.from_text(named)
    new = {name: value for name, value in asdict(told).items() if value != getattr(Thresholds(), name)}
    return Thresholds(**{**asdict(thresholds), **new})
