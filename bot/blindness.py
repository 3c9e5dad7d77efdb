"""What files can tell of a training at all: no news from files that say nothing is no good news."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from diagnosis.case import Case, CaseFile

MOST_REASONS = 6
_LOGS = frozenset({"training_log", "table"})
_NO_LOGS = {
    ".ipynb": "a notebook, of which only the printed outputs are read",
    ".yaml": "YAML",
    ".yml": "YAML",
    ".toml": "a settings file",
    ".json": "JSON",
    ".md": "Markdown",
    ".py": "a program",
    ".sh": "a program",
}
_SILENT = frozenset({"unknown", "manifest"})


def reasons(case: Case, paths: Iterable[Path], *, has_steps: bool) -> tuple[str, ...]:
    """Why nothing can be told of these files; empty when they tell something."""
    if has_steps or any(_tells(file) for file in case.files):
        return ()
    found = [*case.unread, *_of_files(case.files, case.unread)]
    if not found:
        found = [f"{path}: there is no file to read" for path in paths] or ["there is no file to read"]
    more = len(found) - MOST_REASONS
    return (*found[:MOST_REASONS], *([f"and {more:,} more"] if more > 0 else []))


def _instead(path: str) -> str:
    """What to give for a file that is named as something else than a log."""
    what = next((words for ending, words in _NO_LOGS.items() if path.lower().endswith(ending)), None)
    return f"; this is {what}: give the run's text log, or its numbers as CSV or JSON lines" if what is not None else ""


def _tells(file: CaseFile) -> bool:
    """Evidence that is no training log speaks for itself, if it could be read."""
    return file.kind not in _LOGS | _SILENT and not file.problem and bool(file.lines or file.dump)


def _of_files(files: Iterable[CaseFile], told: Iterable[str]) -> Iterator[str]:
    known = set(told)
    for file in files:
        if file.kind in _LOGS and not file.problem:
            yield f"{file.path}: no line of it tells a training step or a loss{_instead(file.path)}"
        elif (said := f"{file.path}: {file.problem or 'no log'}") not in known:
            yield said
