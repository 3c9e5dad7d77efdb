"""`runwatch demo`: everything on this machine, nothing to install or sign up for."""

import argparse
import asyncio
from pathlib import Path

from diagnosis.errors import Mistake

HIGHEST_PORT = 65_535
SUMMARY = "everything on this machine: private Redis, local workspace page, runs that go wrong one after another"


def configure(parser: argparse.ArgumentParser) -> None:
    """Where the page listens and where the files lie."""
    parser.add_argument(
        "--port", type=int, metavar="N", help="of the page (default: 8065, or a free one if it is taken)"
    )
    parser.add_argument("--home", type=Path, metavar="DIR", help="where its files lie (default: the state folder)")
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.add_argument("--seconds", type=float, metavar="N", help="end by itself after so long")


def run(options: argparse.Namespace) -> int:
    """Perform until Ctrl-C."""
    if options.port is not None and not 0 <= options.port <= HIGHEST_PORT:
        raise Mistake(f"--port {options.port}: a port lies between 1 and {HIGHEST_PORT:,} (0: any free one).")
    if options.seconds is not None and not 0 < options.seconds < float("inf"):
        raise Mistake(f"--seconds {options.seconds:g}: the demo needs some time, such as --seconds 120.")
    from bot.demo.show import DemoOptions, perform  # noqa: PLC0415 - the whole product only when asked for

    return asyncio.run(perform(DemoOptions(options.port, options.home, options.open, options.seconds)))
