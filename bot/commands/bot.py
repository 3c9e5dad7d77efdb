"""`runwatch bot`: the Slack process."""

import argparse
import asyncio
from pathlib import Path

from bot.settings import BotSettings
from bot.setup import load, load_thresholds

SUMMARY = "the Slack process: Socket Mode by default, signed HTTP with a signing secret"


def configure(parser: argparse.ArgumentParser) -> None:
    """Where its settings are; tokens never stand on a command line."""
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings file (default: runwatch.toml here)")


def run(options: argparse.Namespace) -> int:
    """Serve Slack until a signal."""
    settings = load(BotSettings, options.config)
    settings.check_tokens()
    from bot.app import run_bot  # noqa: PLC0415 - Slack's libraries only when asked for

    return asyncio.run(run_bot(settings, load_thresholds(options.config)))
