"""What the doctor is given: the settings of both sides as they would be used here."""

from dataclasses import dataclass

from bot.settings import BotSettings
from watcher.settings import WatcherSettings


@dataclass(frozen=True, slots=True)
class Patient:
    """Settings of the bot and of this node's watcher."""

    bot: BotSettings
    watcher: WatcherSettings
