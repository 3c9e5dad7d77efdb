"""A button that asks what a command asks: `loss run42`, `stall run42`."""

from collections.abc import AsyncIterator
from dataclasses import replace

from handlers.arguments import first_word
from handlers.command import Asked, Button, Command, Desk, Reply, Right


def make(commands: tuple[Command, ...]) -> Button:
    """The button, which knows the questions."""
    questions = {command.name: command for command in commands if command.right is Right.READ}

    async def answer(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
        word, rest = first_word(asked.words)
        command = questions.get(word)
        if command is None:
            return
        async for reply in command.answer(desk, replace(asked, words=rest)):
            yield reply

    return Button("ask", answer, Right.READ)
