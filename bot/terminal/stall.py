"""`runwatch stall RUN`: whether it stands, since when, and which rank stopped first."""

from pathlib import Path

from bot.settings import BotSettings
from bot.terminal.answers import answer
from handlers.stall import COMMAND


def stall(words: str, settings: BotSettings, config: Path | None = None) -> int:
    """Answer /stall here."""
    return answer(COMMAND, words, settings, config)
