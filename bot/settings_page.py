"""Writes docs/settings.md from the settings, so that it cannot lag behind: `python -m bot.settings_page`."""

import sys

from bot.configuration import describe
from bot.settings import BotSettings
from diagnosis.durations import write_duration
from diagnosis.thresholds import SPECS, Spec
from watcher.settings import WatchedRun, WatcherSettings

_SKIPPED = ("RUNWATCH_RUNS", "RUNWATCH_THRESHOLDS")
_OF_THE_MACHINE = {"RUNWATCH_NODE": "its host name", "RUNWATCH_STATE_DIR": "`~/.local/state/runwatch`"}
_HEAD = """# Settings

Made from the code by `python -m bot.settings_page > docs/settings.md`; a test keeps it true.

The environment wins over `runwatch.toml` (in the working directory, or named by `--config` or `RUNWATCH_CONFIG`), which
wins over the defaults. In the file a setting has the same name without `RUNWATCH_`, in small letters:
`stall_after = "10m"`. Durations and sizes carry their unit: `90s`, `10m`, `2h`, `256MiB`. A name that does not exist is
refused, with near ones. Tokens and REDIS_URL may also come from a file named by the same variable with `_FILE`; they
never stand on a command line, and tokens never in `runwatch.toml`.
"""


def page() -> str:
    """The whole page."""
    parts = [
        _HEAD,
        "## The bot\n",
        _table(BotSettings),
        "## A watcher\n",
        _table(WatcherSettings),
        "### The runs it follows\n\nEach run is a `[[runs]]` table in `runwatch.toml`:\n",
        _runs(),
        "## When each rule speaks\n\nThe same for watchers, monitor, `inspect` and `replay`.\n",
        "| setting | default | what it means |\n|---|---|---|",
        "\n".join(f"| `RUNWATCH_{spec.name.upper()}` | {_written(spec)} | {_cell(spec.doc)} |" for spec in SPECS),
    ]
    return "\n".join(parts) + "\n"


def _table(kind: type) -> str:
    rows = [
        f"| `{name}` | {_OF_THE_MACHINE.get(name) or (f'`{default}`' if default else 'none')} | {_cell(doc)} |"
        for name, default, doc in describe(kind)
        if name not in _SKIPPED
    ]
    return "| setting | default | what it means |\n|---|---|---|\n" + "\n".join(rows) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _written(spec: Spec) -> str:
    return f"`{write_duration(spec.default)}`" if spec.unit == "seconds" else f"`{spec.default:g}` ({spec.unit})"


def _runs() -> str:
    rows = [f"| `{name.removeprefix('RUNWATCH_').lower()}` | {doc} |" for name, _, doc in describe(WatchedRun)]
    return "| key | what it means |\n|---|---|\n" + "\n".join(rows) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
