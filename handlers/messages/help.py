"""What `/runwatch help` says, made from the commands themselves."""

from collections.abc import Sequence

from handlers.command import Command
from handlers.messages.blocks import Message, context, lines, message
from handlers.messages.phrase import Phrase, join, say
from handlers.names import slash
from handlers.subjects.subject import Subject

IN_THREADS = (
    "Slash commands do not exist inside threads: there, mention me (`@runwatch loss run42`), or press a button. "
    "In the thread of an incident the run's name may be left out."
)


def help_answer(commands: Sequence[Command], subjects: Sequence[Subject], prefix: str) -> Message:
    """Every command with one example, and every word after `/runwatch`."""
    return message(
        say("I watch training runs and answer questions about them."),
        lines(_line(command, prefix) for command in commands if command.name != "runwatch"),
        lines([say("*Everything else:*"), *(_subject(subject, prefix) for subject in subjects)]),
        context(say(IN_THREADS)),
    )


def welcome(prefix: str, *, is_default: bool) -> Message:
    """Said once in a channel that invites us."""
    here = (
        "When a training run goes wrong, its thread opens here by itself; when all is well I say nothing."
        if is_default
        else "I answer questions here; `{route} PATTERN here` brings the incidents of those runs here, too."
    )
    examples = [
        say("• `{name}` lists the runs", name=slash(prefix, "runs")),
        say("• `{name} RUN` says whether its loss is normal, with the curve", name=slash(prefix, "loss")),
        say("• `{name} RUN` says whether it stands, and for whom it waits", name=slash(prefix, "stall")),
        say("• `@runwatch …` asks the same inside a thread; `@runwatch help` says the rest"),
        say("• the menu of any message has *Runwatch: diagnose*: paste a log, or upload it"),
    ]
    route = f"{slash(prefix, 'runwatch')} route"
    return message(say("*Hello.* {here}", here=say(here, route=route)), lines(examples))


def _subject(subject: Subject, prefix: str) -> Phrase:
    usage = f" {subject.usage}" if subject.usage else ""
    return say(
        "`{name} {word}{usage}`  {what}",
        name=slash(prefix, "runwatch"),
        word=subject.name,
        usage=usage,
        what=say(subject.summary),
    )


def _line(command: Command, prefix: str) -> Phrase:
    name = slash(prefix, command.name)
    usage = say("*`{name}{space}{usage}`*", name=name, space=" " if command.usage else "", usage=command.usage)
    parts = [usage, say("{summary}.", summary=say(command.summary))]
    if command.examples[0]:
        parts.append(say("Example: `{name} {example}`", name=name, example=command.examples[0]))
    return join(parts, "  ")
