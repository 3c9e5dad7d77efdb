"""`runwatch loss`: the sentence of /loss and the curve, in the terminal."""

import argparse

from bot.settings import BotSettings
from bot.setup import load
from bot.terminal.words import add_config, add_run, told_of_files, words_of

SUMMARY = "the answer of /loss here: one sentence, the curve in letters, or the numbers as CSV"

EXITS = (
    "exit codes: 0 the loss looks normal, or is worth watching; 1 it is wrong, the run does not go on, or nothing can "
    "be told; 2 wrong use; 3 our own failure, or Redis is away; with --csv always 0 where there is a run"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of /loss."""
    add_run(parser)
    parser.add_argument("--last", metavar="2h|500", help="only the last two hours, or the last 500 steps")
    parser.add_argument("--steps", metavar="A..B", help="only these steps")
    parser.add_argument("--metric", metavar="NAME", help="loss, grad_norm or lr")
    parser.add_argument("--vs", metavar="OTHER", help="how it stands beside another run")
    parser.add_argument("--csv", action="store_true", help="the numbers, on standard output")
    add_config(parser)


def run(options: argparse.Namespace) -> int:
    """Ask and print."""
    from bot.terminal.loss import loss  # noqa: PLC0415 - the bot's side only when asked for

    words = words_of(options, ["run"], ["last", "steps", "metric", "vs", "csv"])
    with told_of_files(options.run):
        return loss(words, load(BotSettings, options.config), options.config)
