"""`runwatch stall`: the answer of /stall in the terminal."""

import argparse

from bot.settings import BotSettings
from bot.setup import load
from bot.terminal.words import add_config, add_run, told_of_files, words_of

SUMMARY = "the answer of /stall here: who stopped first, from a fresh look at every node"

EXITS = (
    "exit codes: 0 it trains, pauses lawfully or has ended; 1 it stands, broke, something critical is open, or nothing "
    "can be told; 2 wrong use; 3 our own failure, or Redis is away"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """The words of /stall."""
    add_run(parser)
    add_config(parser)


def run(options: argparse.Namespace) -> int:
    """Ask and print."""
    from bot.terminal.stall import stall  # noqa: PLC0415 - the bot's side only when asked for

    with told_of_files(options.run):
        return stall(words_of(options, ["run"], []), load(BotSettings, options.config), options.config)
