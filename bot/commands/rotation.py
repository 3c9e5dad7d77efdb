"""`runwatch rotation config|check`: a rotation that loses nothing for this writer, and proof that none was lost."""

import argparse
from pathlib import Path

SUMMARY = "a log rotation that fits how this job writes, and proof that it lost nothing"


def configure(parser: argparse.ArgumentParser) -> None:
    """What to do, and with which log."""
    acts = parser.add_subparsers(dest="act", required=True, metavar="ACT")
    told = "print a logrotate stanza for a run's logs, with what each way of rotating would lose"
    made = acts.add_parser("config", help=told, description=told, allow_abbrev=False)
    made.add_argument("--run", metavar="RUN", help="a run of the settings file's [[runs]] tables")
    made.add_argument("--log", metavar="PATH", nargs="+", default=[], help="its log files, where no file names them")
    made.add_argument("--for", dest="kind", choices=("logrotate", "loguru", "logging"), default="logrotate")
    made.add_argument("--config", type=Path, metavar="FILE", help="settings file (default: runwatch.toml here)")
    told = (
        "is the new file written, are old ones compressed, is no loss line missing over live, rotated and packed files"
    )
    one = acts.add_parser("check", help=told, description=told, allow_abbrev=False)
    one.add_argument(
        "paths", metavar="PATH", nargs="*", help="the live logs, their folder, or a pattern: '/logs/*.log'"
    )
    one.add_argument("--run", metavar="RUN", help="the logs of a run of the settings file's [[runs]] tables")
    one.add_argument("--before", metavar="N", type=int, help="so many loss lines the log had before the rotation")
    one.add_argument("--force", metavar="CONF", type=Path, help="count, run `logrotate -f CONF`, count again")
    one.add_argument("--wait", metavar="SECONDS", type=float, default=5.0, help="how long to wait for a new line (5)")
    one.add_argument("--config", type=Path, metavar="FILE", help="settings file (default: runwatch.toml here)")


def run(options: argparse.Namespace) -> int:
    """Do it; 1 when a rotation lost something."""
    from bot.terminal import rotation  # noqa: PLC0415 - only when asked for

    if options.act == "config":
        return rotation.config(options.run, options.log, options.kind, options.config)
    paths = rotation.logs_meant(options.paths, options.run, options.config)
    return rotation.check(paths, before=options.before, force=options.force, wait_seconds=options.wait)
