"""Settings for the command at hand: the file that holds them, the classes that share it, the runs it names."""

import os
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from bot.configuration import FILE_NAME, PREFIX, load_settings, read_file
from diagnosis.errors import Mistake
from diagnosis.thresholds import SPECS, Thresholds
from watcher.run_names import LONGEST, is_several_words, why_refused
from watcher.settings import WatchedRun, WatcherSettings

Settings = TypeVar("Settings")


def settings_file(named: Path | None = None) -> Path | None:
    """`--config`, else RUNWATCH_CONFIG, else `runwatch.toml` here when there is one."""
    if named or os.environ.get("RUNWATCH_CONFIG"):
        return named or Path(os.environ["RUNWATCH_CONFIG"])
    here = Path(FILE_NAME)
    return here if here.is_file() else None


def load(kind: type[Settings], file: Path | None = None, overrides: Mapping[str, object] | None = None) -> Settings:
    """The settings of one process from environment, file and options; unknown names are refused."""
    from bot.settings import BotSettings  # noqa: PLC0415 - a watcher loads it only to know its names

    return load_settings(
        kind,
        os.environ,
        settings_file(file),
        known=(BotSettings, WatcherSettings, Thresholds),
        overrides=overrides,
    )


def load_thresholds(file: Path | None = None) -> Thresholds:
    """The rules' thresholds: `RUNWATCH_STALL_AFTER=10m` over `stall_after = "10m"` in the file over defaults."""
    found = settings_file(file)
    problems: list[str] = []
    content = read_file(found, problems) if found else {}
    if problems:
        raise Mistake("\n".join(problems))
    names = [spec.name for spec in SPECS]
    texts = {name: str(content[name]) for name in names if name in content}
    texts |= {name: text for name in names if (text := os.environ.get(PREFIX + name.upper()))}
    return Thresholds.from_text(texts)


def load_watcher(
    file: Path | None,
    runs: Iterable[WatchedRun],
    overrides: Mapping[str, object],
    *,
    only_options: bool = False,
) -> WatcherSettings:
    """A watcher's settings: the runs of the options, and (unless `only_options`) of the file's `[[runs]]` tables."""
    found = settings_file(file)
    all_runs = (*runs, *(runs_of_file(found) if found and not only_options else ()))
    if not all_runs:
        raise Mistake(
            "Nothing to watch. Name a run and its logs (`--run run42 --log 'train*.log'`), or list them as "
            f"[[runs]] tables in {FILE_NAME} (`--config FILE`)."
        )
    for run in all_runs:
        _check_name(run.name)
    repeated = {run.name for run in all_runs if sum(other.name == run.name for other in all_runs) > 1}
    if repeated:
        raise Mistake(f"The run {min(repeated)!r} is listed twice; put all its logs into one entry.")
    thresholds = load_thresholds(file)
    return load(WatcherSettings, file, {**overrides, "runs": all_runs, "thresholds": thresholds})


def _check_name(name: str) -> None:
    """Refuse what nobody could type in Slack; say of a name with spaces how it is typed."""
    refused = why_refused(name)
    if refused:
        shown = ascii(name if len(name) <= LONGEST else f"{name[:40]}…")
        raise Mistake(f"Cannot watch a run called {shown}: {refused}. Letters, digits, - _ . / and = are safe.")
    if is_several_words(name):
        sys.stderr.write(f'runwatch: {name} has spaces: people must type "{name}" in quotes.\n')


def runs_of_file(file: Path) -> tuple[WatchedRun, ...]:
    """The `[[runs]]` tables of a settings file, each with `name` and `logs`."""
    try:
        tables = tomllib.loads(file.read_text()).get("runs", [])
    except OSError as away:
        raise Mistake(f"Cannot read {file}: {away.strerror}.") from away
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as wrong:
        raise Mistake(f"{file} is not valid TOML: {wrong}.") from wrong
    if not isinstance(tables, list):
        raise Mistake(f"In {file}, write each run as a table headed [[runs]] (two brackets).")
    return tuple(_run_of(table, file) for table in tables)


def _run_of(table: Mapping[str, Any], file: Path) -> WatchedRun:
    known = {field.name for field in fields(WatchedRun)}
    unknown = set(table) - known
    if unknown:
        raise Mistake(f"In {file}, a run has no {min(unknown)!r}; it may have: {', '.join(sorted(known))}.")
    if not isinstance(table.get("name"), str) or not table.get("logs"):
        raise Mistake(f'In {file}, each [[runs]] table needs a name and logs: name = "run42", logs = ["train*.log"].')
    values = dict(table)
    logs = values["logs"]
    values["logs"] = (logs,) if isinstance(logs, str) else tuple(map(str, logs))
    if "checkpoints" in values:
        given = values["checkpoints"]
        values["checkpoints"] = (given,) if isinstance(given, str) else tuple(map(str, given))
    if "pids" in values:
        values["pids"] = tuple(int(pid) for pid in values["pids"])
    try:
        return WatchedRun(**values)
    except ValueError as refused:
        raise Mistake(f"In {file}, run {table['name']}: {refused}") from refused
