"""`runwatch runs`: every run, the most recently active first."""

from pathlib import Path

from bot.settings import BotSettings
from bot.terminal.answers import answer
from handlers.runs import COMMAND


def runs(words: str, settings: BotSettings, config: Path | None = None) -> int:
    """Answer /runs here."""
    return answer(COMMAND, words, settings, config)
