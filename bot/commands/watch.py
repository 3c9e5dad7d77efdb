"""`runwatch watch`: the process on a node that follows the logs of one or many runs."""

import argparse
import asyncio
from pathlib import Path

from bot.setup import load_watcher
from diagnosis.errors import Mistake
from diagnosis.formats.settings import ReadSettings, read_settings
from watcher.settings import WatchedRun

SUMMARY = "follow a run's logs on this node: one or many (--config FILE)"


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of one run; several runs stand in a settings file."""
    parser.add_argument("--run", metavar="NAME", help="what people call the run")
    parser.add_argument("--log", metavar="GLOB", nargs="+", default=[], help="its log files; quote the pattern")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings, with a [[runs]] table for each run")
    add_run_options(parser)
    add_node_options(parser)


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """What can be told of a run."""
    parser.add_argument("--owner", metavar="WHO", help="whom to name in incidents")
    parser.add_argument("--channel", metavar="CHANNEL", help="where its incidents are told (default RUNWATCH_CHANNEL)")
    parser.add_argument("--label", metavar="KEY=VALUE", action="append", default=[], help="may be repeated")
    parser.add_argument("--rank", type=int, metavar="N", help="the global rank of logs that name none")
    parser.add_argument("--match", metavar="TEXT", help="text in the command line of the job's processes")
    parser.add_argument("--checkpoints", metavar="DIR", nargs="+", default=[], help="folders of its checkpoints")
    parser.add_argument(
        "--stacks", action="store_true", help="py-spy may look at its processes, for a snapshot and when it stands"
    )
    parser.add_argument(
        "--ras", action="store_true", help="NCCL's RAS may be asked when it stands (some versions do not bear it)"
    )
    parser.add_argument("--allow-stop", action="store_true", help="people may stop it from Slack, by SIGTERM")
    add_reading_options(parser)


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """What a person may say of a log that is not read rightly by itself."""
    parser.add_argument(
        "--pattern",
        metavar="REGEX",
        help=r"of its step lines, such as 'it (?P<step>\d+) L=(?P<loss>\S+)'; groups: step,"
        " loss, lr, grad_norm, time, rank",
    )
    parser.add_argument(
        "--logging-steps", type=int, metavar="N", help="steps between two printed losses, where the lines tell no step"
    )


def reading_settings(options: argparse.Namespace) -> ReadSettings:
    """What these options say of a log."""
    try:
        return read_settings(options.pattern, options.logging_steps)
    except ValueError as refused:
        raise Mistake(str(refused)) from refused


def add_node_options(parser: argparse.ArgumentParser) -> None:
    """What can be told of this node."""
    parser.add_argument("--node", metavar="NAME", help="this machine's name in every answer (default: its host name)")
    parser.add_argument("--from", dest="start_from", choices=("auto", "start", "end"), help="where to begin (auto)")
    parser.add_argument("--state-dir", type=Path, metavar="DIR", help="bookmarks, spool, snapshots")


def run_of(options: argparse.Namespace, logs: list[str]) -> WatchedRun:
    """The run that the options describe."""
    labels = dict(label.split("=", 1) for label in options.label if "=" in label)
    if len(labels) < len(options.label):
        raise Mistake("A label is written KEY=VALUE, such as --label team=pretraining.")
    try:
        return _watched_run(options, logs, labels)
    except ValueError as refused:
        raise Mistake(str(refused)) from refused


def _watched_run(options: argparse.Namespace, logs: list[str], labels: dict[str, str]) -> WatchedRun:
    return WatchedRun(
        name=options.run,
        logs=tuple(logs),
        owner=options.owner,
        channel=options.channel,
        labels=labels,
        rank=options.rank,
        match=options.match,
        checkpoints=tuple(options.checkpoints),
        stacks=options.stacks,
        ras=options.ras,
        allow_stop=options.allow_stop,
        pattern=options.pattern,
        logging_steps=options.logging_steps,
    )


def node_overrides(options: argparse.Namespace) -> dict[str, object]:
    """Options that win over the settings."""
    return {"node": options.node, "start_from": options.start_from, "state_dir": options.state_dir}


def run(options: argparse.Namespace) -> int:
    """Watch until a signal."""
    if bool(options.run) != bool(options.log):
        raise Mistake("Give both --run NAME and --log GLOB, or --config FILE with [[runs]] tables.")
    runs = [run_of(options, options.log)] if options.run else []
    settings = load_watcher(options.config, runs, node_overrides(options))
    from watcher.agent import watch  # noqa: PLC0415 - the watcher's side only when asked for

    return asyncio.run(watch(settings))
