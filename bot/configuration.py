"""Reads settings: the environment over `runwatch.toml` over each field's default.

One frozen dataclass per process says what can be set. The name of a field carries its unit and so decides how
its value is written: `stall_after_seconds` is set by `RUNWATCH_STALL_AFTER=10m`, `snapshot_total_bytes` by
`RUNWATCH_SNAPSHOT_TOTAL=256MiB`. A name nobody knows is refused, with near ones: a misspelt threshold that is
silently ignored is found only on the bad night.
"""

import ast
import dataclasses
import difflib
import inspect
import itertools
import re
import textwrap
import tomllib
import types
import typing
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from diagnosis.durations import parse_duration, write_duration
from diagnosis.errors import Mistake

PREFIX = "RUNWATCH_"
FILE_NAME = "runwatch.toml"
OUR_OWN_NAMES = frozenset({"RUNWATCH_CONFIG", "RUNWATCH_TRACEBACK"})
"""Environment names that are not fields of any dataclass."""

COMMON_NAMES = {
    "slack_bot_token": "SLACK_BOT_TOKEN",
    "slack_app_token": "SLACK_APP_TOKEN",
    "slack_signing_secret": "SLACK_SIGNING_SECRET",
    "slack_api_url": "SLACK_API_URL",
    "redis_url": "REDIS_URL",
}
"""Fields whose environment name is the one people already use."""

SECRETS = frozenset(
    {
        "slack_bot_token",
        "slack_app_token",
        "slack_signing_secret",
        "redis_url",
        "request_key",
        "audit_key",
        "fallback_webhook",
        "dead_man_url",
        "watcher_dead_man_url",
    }
)
"""Fields that may also be read from a file, named by the same variable with `_FILE`."""

UNITS = ("_seconds", "_bytes")
_SIZES = {"": 1, "b": 1, "k": 1000, "kb": 1000, "m": 1000**2, "mb": 1000**2, "g": 1000**3, "gb": 1000**3}
_SIZES |= {"kib": 1024, "mib": 1024**2, "gib": 1024**3, "ki": 1024, "mi": 1024**2, "gi": 1024**3}
_TRUTHS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
_MOST_SECRET_BYTES = 65_536

Settings = TypeVar("Settings")


class WrongSettings(Mistake):
    """One or more settings cannot be used; the text has one sentence for each."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


def load_settings(
    kind: type[Settings],
    environment: Mapping[str, str],
    file: Path | None = None,
    *,
    known: Iterable[type[Any]] = (),
    overrides: Mapping[str, object] | None = None,
) -> Settings:
    """The settings of one process.

    Args:
        kind: The frozen dataclass to fill.
        environment: `os.environ`, or what stands for it.
        file: The `runwatch.toml` to read; None: none.
        known: The other settings classes whose names share this environment and file.
        overrides: Values of command-line options by field name; they win over everything.

    Raises:
        WrongSettings: A name nobody knows, a value that cannot be read, a file that is not there.
    """
    classes = (kind, *known)
    problems = [*_unknown_in_environment(environment, classes)]
    from_file = read_file(file, problems) if file else {}
    problems += _unknown_in_file(from_file, classes, file)
    values: dict[str, object] = {}
    hints = typing.get_type_hints(kind)
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        try:
            found = _find(field, hints[field.name], environment, from_file)
        except WrongSettings as wrong:
            problems += wrong.problems
            continue
        if found is not None:
            values[field.name] = found[0]
    if problems:
        raise WrongSettings(problems)
    values |= {name: value for name, value in (overrides or {}).items() if value is not None}
    try:
        return kind(**values)
    except TypeError as missing:
        raise WrongSettings([_say_missing(kind, values) or str(missing)]) from missing
    except ValueError as refused:
        raise WrongSettings([str(refused)]) from refused


def read_file(file: Path, problems: list[str]) -> dict[str, Any]:
    """The flat part of a TOML file; its tables (`[[runs]]`) belong to other readers."""
    try:
        content = tomllib.loads(file.read_text())
    except OSError as away:
        problems.append(f"Cannot read {file}: {away.strerror}.")
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as wrong:
        problems.append(f"{file} is not valid TOML: {wrong}.")
        return {}
    return {
        name: value
        for name, value in content.items()
        if not isinstance(value, dict)
        and not (isinstance(value, list) and any(isinstance(item, dict) for item in value))
    }


def environment_name(field: str) -> str:
    """`stall_after_seconds` is set by `RUNWATCH_STALL_AFTER`."""
    return COMMON_NAMES.get(field) or PREFIX + _without_unit(field).upper()


def file_name(field: str) -> str:
    """The same setting's name in `runwatch.toml`: `stall_after`."""
    return environment_name(field).removeprefix(PREFIX).lower()


def unit_of(field: "dataclasses.Field[Any]") -> str:
    """The unit a value is written with: from the field's metadata, else from its name; empty: a bare value."""
    said = field.metadata.get("unit", "")
    return said or next((unit.strip("_") for unit in UNITS if field.name.endswith(unit)), "")


def describe(kind: type[Any]) -> list[tuple[str, str, str]]:
    """Environment name, default as it would be written, and one line of help, for every field of a class."""
    lines = _docs(kind)
    described = []
    for field in dataclasses.fields(kind):
        default = field.default if field.default is not dataclasses.MISSING else None
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        line = field.metadata.get("doc") or lines.get(field.name, "")
        described.append((environment_name(field.name), _write(unit_of(field), default), line))
    return described


def _find(
    named: "dataclasses.Field[Any]", wanted: Any, environment: Mapping[str, str], from_file: Mapping[str, Any]
) -> tuple[object] | None:
    field, unit = named.name, unit_of(named)
    name = environment_name(field)
    if environment.get(name):
        return (_parse(name, unit, wanted, environment[name]),)
    if field in SECRETS and environment.get(f"{name}_FILE"):
        return (_read_secret(f"{name}_FILE", Path(environment[f"{name}_FILE"])),)
    key = file_name(field)
    if key not in from_file:
        return None
    if field in SECRETS and field != "redis_url":
        raise WrongSettings([f"Keep {key} out of {FILE_NAME}: set {name}, or {name}_FILE to the path of a file."])
    value = from_file[key]
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return (_parse(f"{key} in {FILE_NAME}", unit, wanted, text),)


def _read_secret(name: str, path: Path) -> str:
    try:
        with path.open("rb") as opened:
            return opened.read(_MOST_SECRET_BYTES).decode().strip()
    except OSError as away:
        raise WrongSettings([f"{name} names {path}, which cannot be read: {away.strerror}."]) from away
    except UnicodeDecodeError as wrong:
        raise WrongSettings([f"{name} names {path}, which is not a text file."]) from wrong


def _parse(name: str, unit: str, wanted: Any, text: str) -> object:
    if isinstance(wanted, types.UnionType) or typing.get_origin(wanted) is typing.Union:
        wanted = next(part for part in typing.get_args(wanted) if part is not type(None))
    if typing.get_origin(wanted) is tuple:
        (member, *_) = typing.get_args(wanted)
        parts = [part.strip() for part in text.split(",") if part.strip()]
        return tuple(_parse(name, unit, member, part) for part in parts)
    try:
        value = _parse_one(unit, wanted, text.strip())
    except ValueError:
        value = None
    if value is None:
        raise WrongSettings([f"{name}={text!r} is not {_say_wanted(unit, wanted)}."])
    return value


def _parse_one(unit: str, wanted: Any, text: str) -> object | None:
    if wanted is bool:
        return _TRUTHS.get(text.lower())
    if wanted is Path:
        return Path(text).expanduser()
    if wanted in (int, float):
        if unit == "seconds":
            seconds = parse_duration(text)
            return seconds if seconds is None or wanted is float else round(seconds)
        if unit == "bytes":
            return _parse_size(text)
        return int(text.replace("_", "")) if wanted is int else float(text)
    return text


def _parse_size(text: str) -> int | None:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)", text, re.ASCII)
    unit = _SIZES.get(match[2].lower()) if match else None
    return round(float(match[1]) * unit) if match and unit else None


def _say_wanted(unit: str, wanted: Any) -> str:
    if wanted is bool:
        return "yes or no"
    if unit == "seconds":
        return "a duration with its unit, such as 90s, 10m or 2h"
    if unit == "bytes":
        return "a size with its unit, such as 256MiB"
    return "a whole number" if wanted is int else "a number"


def _unknown_in_environment(environment: Mapping[str, str], classes: Iterable[type[Any]]) -> list[str]:
    names = set(OUR_OWN_NAMES)
    for field in (field.name for kind in classes for field in dataclasses.fields(kind)):
        names.add(environment_name(field))
        if field in SECRETS:
            names.add(f"{environment_name(field)}_FILE")
    wrong = sorted(name for name in environment if name.startswith(PREFIX) and name not in names)
    return [f"There is no setting {name}.{_say_near(name, names)}" for name in wrong]


def _unknown_in_file(content: Mapping[str, Any], classes: Iterable[type[Any]], file: Path | None) -> list[str]:
    names = {file_name(field.name) for kind in classes for field in dataclasses.fields(kind)}
    wrong = sorted(name for name in content if name not in names)
    return [f"There is no setting {name} (in {file}).{_say_near(name, names)}" for name in wrong]


def _say_near(name: str, names: Iterable[str]) -> str:
    # Without the prefix that all share, which would make every name look near.
    bare = {known.removeprefix(PREFIX): known for known in sorted(names)}
    near = difflib.get_close_matches(name.removeprefix(PREFIX), bare, n=2)
    return f" Did you mean {' or '.join(bare[word] for word in near)}?" if near else ""


def _say_missing(kind: type[Any], values: Mapping[str, object]) -> str:
    missing = [
        environment_name(field.name)
        for field in dataclasses.fields(kind)
        if field.default is dataclasses.MISSING
        and field.default_factory is dataclasses.MISSING
        and field.name not in values
    ]
    return f"Set {', '.join(missing)}." if missing else ""


def _without_unit(field: str) -> str:
    for unit in UNITS:
        if field.endswith(unit):
            return field.removesuffix(unit)
    return field


def _write(unit: str, value: object) -> str:
    if value is None or value in ("", ()):
        return ""
    if isinstance(value, tuple):
        return ",".join(_write(unit, part) for part in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if unit == "seconds" and isinstance(value, int | float):
        return write_duration(value)
    if unit == "bytes" and isinstance(value, int):
        return next((f"{value // 1024**n}{u}" for n, u in ((2, "MiB"), (1, "KiB")) if value % 1024**n == 0), str(value))
    return str(value)


def _docs(kind: type[Any]) -> dict[str, str]:
    """The string under each field, joined to one line."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(kind)))
    except (OSError, TypeError, SyntaxError):
        return {}
    found: dict[str, str] = {}
    body = tree.body[0].body if tree.body and isinstance(tree.body[0], ast.ClassDef) else []
    for statement, following in itertools.pairwise(body):
        if (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and isinstance(following, ast.Expr)
            and isinstance(following.value, ast.Constant)
        ):
            found[statement.target.id] = " ".join(str(following.value.value).split())
    return found
