"""The command `runwatch`: finds the side that was asked for and imports no other.

Exit codes: 0 fine, 1 trouble found or nothing to tell by, 2 wrong usage, 3 our own failure. Messages go to stderr, data
to stdout.
"""

import argparse
import difflib
import importlib
import itertools
import os
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType
from typing import Any, NoReturn

from diagnosis.errors import Away, Mistake

COMMANDS = (
    "demo",
    "bot",
    "watch",
    "run",
    "inspect",
    "replay",
    "loss",
    "stall",
    "snapshot",
    "runs",
    "redact",
    "rotation",
    "doctor",
    "registry",
    "manifest",
    "health",
)
"""One file in `bot/commands/` each: SUMMARY, configure(parser), run(options) -> exit code."""

IN_SLACK_ONLY = (
    *(
        "mute",
        "unmute",
        "mutes",
        "take",
        "release",
        "note",
        "close",
        "reopen",
        "checklist",
        "report",
        "route",
        "unroute",
    ),
    *("digest", "patience", "thresholds", "language", "roles", "audit"),
)
"""Words that are typed after `/runwatch` in Slack and are no command here."""

FINE, TROUBLE, USAGE, FAILURE = 0, 1, 2, 3
EXITS = "exit codes: 0 fine; 1 trouble found, or nothing to tell by; 2 wrong use; 3 our own failure, or Redis is away"
"""What `--help` ends with, where a command has no EXITS of its own."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose refusals are sentences with what is right."""

    _given: Sequence[str] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Remember what was typed, for the refusal."""
        self._given = list(args or ())
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Say what was wrong, what is near, where help is; exit 2."""
        near = ""
        strange = self._strange_option()
        if strange is not None and message.startswith("the following arguments are required:"):
            message = f"unrecognized arguments: {strange}"
        if message.startswith("unrecognized arguments:"):
            wrong = message.removeprefix("unrecognized arguments:").split()[0]
            known = [option for action in self._actions for option in action.option_strings]
            found = difflib.get_close_matches(wrong.split("=")[0], known, n=1)
            message = f"unknown argument {wrong}"
            near = f" Did you mean {found[0]}?" if found else ""
        else:
            message = message.replace("the following arguments are required:", "it needs")
        sys.stderr.write(f"{self.prog}: {message}.{near} See `{self.prog} --help`.\n")
        raise SystemExit(USAGE)

    def _strange_option(self) -> str | None:
        """The first option that was typed and is none: the library names what is missing before it looks for these."""
        words = itertools.takewhile(lambda word: word != "--", self._given)
        known = self._option_string_actions
        return next((word for word in words if word.startswith("--") and word.split("=")[0] not in known), None)


def module_of(command: str) -> ModuleType:
    """The file of one command."""
    return importlib.import_module(f"bot.commands.{command}")


def installed_version() -> str:
    """The version of the installed distribution, or of the source tree."""
    try:
        return version("runwatch")
    except PackageNotFoundError:
        return "unknown (not installed)"


def overview() -> str:
    """What `runwatch` without a command, or with --help, prints."""
    rows = "\n".join(f"  {name:<10} {module_of(name).SUMMARY}" for name in COMMANDS)
    return (
        "Runwatch: the on-call engineer in Slack for people who train large language models.\n\n"
        f"usage: runwatch COMMAND …\n\n{rows}\n\n"
        "Start with `runwatch demo`, or with `runwatch inspect LOGFILE`. Help: `runwatch COMMAND --help`.\n"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] in ("-h", "--help", "help"):
        sys.stdout.write(overview())
        return FINE if words else USAGE
    if words[0] in ("-V", "--version"):
        sys.stdout.write(f"runwatch {installed_version()}\n")
        return FINE
    if words[0] not in COMMANDS:
        return _refuse(words)
    module = module_of(words[0])
    parser = Parser(prog=f"runwatch {words[0]}", description=module.SUMMARY, allow_abbrev=False)
    parser.epilog = getattr(module, "EXITS", EXITS)
    module.configure(parser)
    return _run(module, parser, words[1:])


def _refuse(words: Sequence[str]) -> int:
    word = words[0]
    near = next(iter(difflib.get_close_matches(word, (*COMMANDS, *IN_SLACK_ONLY), n=1)), None)
    if word in IN_SLACK_ONLY:
        typed = " ".join(words)
        hint = f" It is one of Slack: type `/runwatch {typed}` there. `/runwatch help {word}` says more."
    elif near in IN_SLACK_ONLY:
        hint = f" Did you mean `/runwatch {near}`, which is typed in Slack?"
    else:
        hint = f" Did you mean `runwatch {near}`?" if near else f" There are: {', '.join(COMMANDS)}."
    sys.stderr.write(f"runwatch: no command {word!r}.{hint}\n")
    return USAGE


def _run(module: ModuleType, parser: Parser, words: list[str]) -> int:
    try:
        options: Any = parser.parse_args(words)
        return int(module.run(options))
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else USAGE
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of our output left; say nothing more into the closed pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINE
    except Mistake as mistake:
        sys.stderr.write(f"{parser.prog}: {mistake}\n")
        return USAGE
    except Away as away:
        sys.stderr.write(f"{parser.prog}: {away}\n")
        return FAILURE
    except Exception as failure:
        if os.environ.get("RUNWATCH_TRACEBACK"):
            raise
        sys.stderr.write(
            f"{parser.prog}: our own failure, not yours: {type(failure).__name__}: {failure}\n"
            "Set RUNWATCH_TRACEBACK=1 to see where.\n"
        )
        return FAILURE


if __name__ == "__main__":
    raise SystemExit(main())
