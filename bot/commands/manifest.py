"""`runwatch manifest`: the Slack app to create, as JSON."""

import argparse
import json
import sys

from bot.settings import BotSettings
from bot.setup import load

SUMMARY = "print the Slack app manifest to paste at api.slack.com/apps (made from the commands)"


def configure(parser: argparse.ArgumentParser) -> None:
    """Socket Mode needs nothing; HTTP needs an address."""
    parser.add_argument("--url", default="", metavar="URL", help="public address of the bot, for HTTP not Socket Mode")


def run(options: argparse.Namespace) -> int:
    """Print it."""
    from bot.manifest import manifest  # noqa: PLC0415 - the handlers only when asked for

    sys.stdout.write(json.dumps(manifest(load(BotSettings).command_prefix, options.url), indent=2) + "\n")
    return 0
