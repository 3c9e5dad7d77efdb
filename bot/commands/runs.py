"""`runwatch runs`: the answer of /runs in the terminal."""

import argparse

from bot.settings import BotSettings
from bot.setup import load
from bot.terminal.words import add_config, words_of

SUMMARY = "the answer of /runs here: every run, the most recently active first"

EXITS = "exit codes: 0 the list was printed, however the runs do; 2 wrong use; 3 our own failure, or Redis is away"


def configure(parser: argparse.ArgumentParser) -> None:
    """The words of /runs."""
    add_config(parser)


def run(options: argparse.Namespace) -> int:
    """Ask and print."""
    from bot.terminal.runs import runs  # noqa: PLC0415 - the bot's side only when asked for

    return runs(words_of(options, [], []), load(BotSettings, options.config), options.config)
