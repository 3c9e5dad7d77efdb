"""`runwatch snapshot RUN [note]`: every node of the run saves its evidence now."""

from pathlib import Path

from bot.settings import BotSettings
from bot.terminal.answers import answer
from handlers.snapshot import COMMAND


def snapshot(words: str, settings: BotSettings, config: Path | None = None) -> int:
    """Answer /snapshot here."""
    return answer(COMMAND, words, settings, config)
