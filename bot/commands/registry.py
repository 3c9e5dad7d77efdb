"""`runwatch registry`: look inside Redis, take a run out of it, and print the rights each role needs."""

import argparse
from pathlib import Path

from bot.settings import BotSettings
from bot.setup import load
from registry.access import Role

SUMMARY = "look inside the registry, export or forget a run, print Redis users (ACL)"


def configure(parser: argparse.ArgumentParser) -> None:
    """What to do there."""
    acts = parser.add_subparsers(dest="act", required=True, metavar="ACT")

    def act(name: str, told: str) -> argparse.ArgumentParser:
        added = acts.add_parser(name, help=told, description=told, allow_abbrev=False)
        added.add_argument("--config", type=Path, metavar="FILE", help="settings file (default: runwatch.toml here)")
        return added

    act("runs", "every run with its age and size, the most recently active first")
    one = act("show", "what is kept of one run")
    one.add_argument("run", metavar="RUN", help="what people call the run")
    one = act("forget", "remove a run with its numbers and incidents; needs --yes")
    one.add_argument("run", metavar="RUN", help="what people call the run")
    one.add_argument("--yes", action="store_true", help="really remove it")
    one = act("export", "all of one run as one JSON document on stdout")
    one.add_argument("run", metavar="RUN", help="what people call the run")
    act("streams", "the streams of findings: what waits in each, and how large it is")
    one = act("dead", "findings that could not be handled, with the reason")
    one.add_argument("watcher", metavar="WATCHER", nargs="?", help="only those of one watcher, with their bodies")
    act("size", "how large the registry is, by kind of key")
    one = act("audit", "who did what in Slack, and whether the chain of entries holds")
    one.add_argument("--json", action="store_true", help="every entry as a line of JSON, the oldest first")
    one = act("acl", "one ACL SETUSER line for each role: exactly the rights it needs")
    one.add_argument("role", nargs="?", choices=[*Role], help="only this role")
    one.add_argument(
        "--node", action="append", default=[], metavar="NAME", help="a watcher's user for one node; may be repeated"
    )
    one.add_argument("--runs", default="*", metavar="PATTERN", help="runs that a watcher may write, such as 'llama-*'")
    one.add_argument("--for-redis-6", action="store_true", help="for Redis 6.2, which ties no command to its keys")


def run(options: argparse.Namespace) -> int:
    """Do it and return the exit code."""
    from bot.terminal import registry  # noqa: PLC0415 - the terminal's side only when asked for

    if options.act == "acl":
        return registry.acl(options.role, options.node, options.runs, is_old=options.for_redis_6)
    return registry.inspect(options, load(BotSettings, options.config))
