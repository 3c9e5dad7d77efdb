"""The documents say what the code says."""

import re
from pathlib import Path

import pytest

from bot.cli import COMMANDS
from bot.settings_page import page

ROOT = Path(__file__).parents[2]
PAGES = sorted(path for path in ROOT.glob("*.md")) + sorted((ROOT / "docs").rglob("*.md"))


def test_the_settings_page_is_made_from_the_settings():
    """`python -m bot.settings_page > docs/settings.md` was run after the last change."""
    assert (ROOT / "docs" / "settings.md").read_text() == page()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_between_our_pages_lead_somewhere(path):
    """No page sends a reader to a file that is not there."""
    links = re.findall(r"\]\((?!https?:)([^)#\s]+)", path.read_text())

    assert [link for link in links if not (path.parent / link).exists()] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_commands_in_our_pages_exist(path):
    """Every `runwatch WORD` that a page shows is a command."""
    shown = set(re.findall(r"`(?:\.venv/bin/)?runwatch ([a-z]+)", path.read_text()))

    assert shown - set(COMMANDS) - {"chart"} == set()
