"""What is said to words that are no command: how the run they name stands, or what can be asked."""

from collections.abc import Sequence

from handlers.command import Command
from handlers.health import Look
from handlers.kept import Kept
from handlers.messages.blocks import Message, lines, message
from handlers.messages.help import short_line
from handlers.messages.loss import MOST_POINTED, verdict
from handlers.messages.phrase import say, with_code
from handlers.messages.standing_incident import pointer
from handlers.names import slash, typed
from registry import Run


def state_in_short(
    run: Run, look: Look, opened: Sequence[Kept], now: float, *, workspace_url: str, prefix: str
) -> Message:
    """What `/loss` says first, what is open, and where the rest is."""
    return message(
        verdict(run, look),
        lines([pointer(kept, workspace_url, now) for kept in opened[:MOST_POINTED]]),
        lines(
            [
                say(
                    "`{loss} {run}` shows its curve, `{stall} {run}` looks at every node now.",
                    loss=slash(prefix, "loss"),
                    stall=slash(prefix, "stall"),
                    run=typed(run.name),
                )
            ]
        ),
    )


def what_can_be_asked(text: str, commands: Sequence[Command], prefix: str) -> Message:
    """What was not understood, and the first lines of the help."""
    return message(
        with_code(text),
        lines(short_line(command, prefix) for command in commands),
        lines([say("`{name} help` says the rest.", name=slash(prefix, "runwatch"))]),
    )
