"""Questions whose answer is the same in Slack and here."""

from pathlib import Path

from bot.settings import BotSettings
from bot.terminal.asking import ask, question
from bot.terminal.printing import show
from handlers.command import Command, Desk, Say, Upload


def answer(command: Command, words: str, settings: BotSettings, config: Path | None = None) -> int:
    """Print what the command answers, each message as it comes; 1: it tells of trouble, or that nobody can tell."""

    async def work(desk: Desk) -> int:
        code = 0
        async for reply in command.answer(desk, question(words)):
            if isinstance(reply, Say):
                show(reply.message)
                code = 1 if reply.is_trouble else code
            elif isinstance(reply, Upload) and reply.name.endswith(".txt"):
                print(f"\n{reply.data.decode()}")
        return code

    return ask(command, settings, work, config)
