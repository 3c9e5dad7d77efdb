"""`runwatch inspect`: the same answers for log files or a folder of evidence, without Redis and Slack."""

import argparse
import sys
import time
from pathlib import Path

from bot.commands.watch import add_reading_options, reading_settings
from bot.setup import load_thresholds
from bot.terminal.words import check_paths
from diagnosis.errors import Mistake

SUMMARY = "what went wrong in these log files, or in this folder of evidence; needs no Redis and no Slack"
EXITS = (
    "exit codes: 0 nothing wrong was found; 1 trouble was found, or these files cannot tell (no steps, no known form); "
    "2 wrong use, such as a path that is not there; 3 our own failure"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """What to read, and how to answer."""
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="log files, or one folder: one run")
    parser.add_argument("--json", action="store_true", help="the answer for programs (schema 1)")
    parser.add_argument("--chart", type=Path, metavar="OUT.png", help="draw the loss, too")
    parser.add_argument(
        "--sample", action="store_true", help="a first picture of one big log within about a second: windows of it only"
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings file with other thresholds")
    add_reading_options(parser)


def run(options: argparse.Namespace) -> int:
    """Print the answer; 0 when all is well, 1 when trouble was found or nothing can be told."""
    check_paths(options.paths)
    if options.sample:
        return _sample(options)
    from bot.inspect import inspect  # noqa: PLC0415 - only when asked for
    from bot.terminal.reading_bar import reading_bar  # noqa: PLC0415

    settings = reading_settings(options)
    with reading_bar(options.paths) as progress:
        answer = inspect(options.paths, load_thresholds(options.config), progress=progress, settings=settings)
    if options.chart:
        from bot.chart_file import write_chart  # noqa: PLC0415 - matplotlib only when asked for

        write_chart(answer, options.chart)
    if options.json:
        sys.stdout.write(answer.as_json() + "\n")
    else:
        from bot.terminal.inspection import print_answer  # noqa: PLC0415

        print_answer(answer)
    return 1 if answer.found_trouble else 0


def _sample(options: argparse.Namespace) -> int:
    """The first picture; it finds no trouble and says so of nothing. 1 when there is no loss to show."""
    if len(options.paths) != 1 or not options.paths[0].is_file() or options.json:
        raise Mistake("--sample looks at one log file, for a person: give one path, and neither a folder nor --json.")
    from bot.first_look import first_look  # noqa: PLC0415 - only when asked for
    from bot.terminal.first_look import print_first_look  # noqa: PLC0415

    began = time.perf_counter()
    try:
        look = first_look(options.paths[0], settings=reading_settings(options))
    except OSError as problem:
        raise Mistake(f"Cannot read {options.paths[0]}: {problem.strerror}.") from problem
    print_first_look(look, time.perf_counter() - began)
    if options.chart:
        from bot.chart_file import write_series  # noqa: PLC0415 - matplotlib only when asked for

        write_series(look.series, options.chart)
    return 0 if look.points else 1
