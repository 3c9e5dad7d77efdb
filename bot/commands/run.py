"""`runwatch run`: start the training command, keep its output, watch it, pass signals and exit code through."""

import argparse
from pathlib import Path

from bot.commands.watch import add_node_options, add_run_options, node_overrides, run_of
from bot.setup import load_watcher
from diagnosis.errors import Mistake

SUMMARY = "start a command, keep its output, watch it; its signals and exit code pass through"
EXITS = (
    "exit code: that of the command; 126 where it cannot be run, 127 where there is none of that name; 2 for wrong use"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """The run, and after -- the command."""
    parser.add_argument("--run", metavar="NAME", required=True, help="what people call the run")
    parser.add_argument("--log", metavar="GLOB", nargs="+", default=[], help="log files it writes besides its output")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings file (default: runwatch.toml here)")
    add_run_options(parser)
    add_node_options(parser)
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- CMD …", help="the training command")


def run(options: argparse.Namespace) -> int:
    """Run the command to its end; its exit code is ours."""
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        raise Mistake("Say what to run after --, such as: runwatch run --run run42 -- torchrun train.py")
    watched = run_of(options, options.log)
    settings = load_watcher(options.config, [watched], node_overrides(options), only_options=True)
    from watcher.launch import launch  # noqa: PLC0415 - the watcher's side only when asked for

    return launch(settings, watched, command)
