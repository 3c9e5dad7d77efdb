"""Questions whose answer is the same in Slack and here."""

from pathlib import Path

from bot.settings import BotSettings
from bot.terminal.asking import ask, question
from bot.terminal.printing import show
from handlers.command import Command, Desk, Say, Upload


def answer(command: Command, words: str, settings: BotSettings, config: Path | None = None) -> int:
    """Print what the command answers, each message as it comes."""

    async def work(desk: Desk) -> int:
        async for reply in command.answer(desk, question(words)):
            if isinstance(reply, Say):
                show(reply.message)
            elif isinstance(reply, Upload) and reply.name.endswith(".txt"):
                print(f"\n{reply.data.decode()}")
        return 0

    return ask(command, settings, work, config)
