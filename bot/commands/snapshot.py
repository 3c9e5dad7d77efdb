"""`runwatch snapshot`: the answer of /snapshot in the terminal."""

import argparse

from bot.settings import BotSettings
from bot.setup import load
from bot.terminal.words import add_config, add_run, told_of_files, words_of

SUMMARY = "the answer of /snapshot here: save logs and nvidia-smi output on every node"

EXITS = (
    "exit codes: 0 every node saved what only the living job can tell; 1 one did not, or no node answered; 2 wrong "
    "use; 3 our own failure, or Redis is away"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """The words of /snapshot."""
    add_run(parser)
    parser.add_argument("note", nargs="*", default=[], metavar="NOTE", help="why, for whoever reads it later")
    add_config(parser)


def run(options: argparse.Namespace) -> int:
    """Ask and print."""
    from bot.terminal.snapshot import snapshot  # noqa: PLC0415 - the bot's side only when asked for

    with told_of_files(options.run):
        return snapshot(words_of(options, ["run", "note"], []), load(BotSettings, options.config), options.config)
