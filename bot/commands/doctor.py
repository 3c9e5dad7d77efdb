"""`runwatch doctor`: is everything in place here, and if not, what to do."""

import argparse
import asyncio
import sys
from pathlib import Path

from bot.settings import BotSettings
from bot.setup import load, load_thresholds, runs_of_file, settings_file
from watcher.settings import WatcherSettings

SUMMARY = "check tokens, scopes, Redis, GPUs, logs, clocks and disk; each failure with its remedy"
_SIGNS = {"fine": "ok  ", "warning": "note", "wrong": "BAD ", "not looked": "-   "}


def configure(parser: argparse.ArgumentParser) -> None:
    """Which settings to check."""
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings file (default: runwatch.toml here)")


def run(options: argparse.Namespace) -> int:
    """Print one line for each check; 1 when something is wrong."""
    from bot.checkup.patient import Patient  # noqa: PLC0415

    file = settings_file(options.config)
    runs = runs_of_file(file) if file else ()
    watcher = load(WatcherSettings, options.config, {"runs": runs, "thresholds": load_thresholds(options.config)})
    patient = Patient(load(BotSettings, options.config), watcher)
    return asyncio.run(_examine(patient))


async def _examine(patient: object) -> int:
    from bot.checkup import CHECKUPS, State  # noqa: PLC0415 - Slack's libraries only when asked for
    from bot.checkup.patient import Patient  # noqa: PLC0415

    assert isinstance(patient, Patient)
    wrong = 0
    for checkup in CHECKUPS:
        async for check in checkup(patient):
            wrong += check.state is State.WRONG
            remedy = f"\n       → {check.remedy}" if check.remedy and check.state is not State.FINE else ""
            sys.stdout.write(f"{_SIGNS[check.state]} {check.what}: {check.said}{remedy}\n")
    return 1 if wrong else 0
