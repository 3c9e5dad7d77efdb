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


IN_AN_INCIDENT = ("take", "note", "mute", "close")
"""The words after `/runwatch` that are wanted at night."""


def help_answer(commands: Sequence[Command], subjects: Sequence[Subject], prefix: str) -> Message:
    """The first screen: what a person needs at night, and the word that shows the rest."""
    runwatch, named = slash(prefix, "runwatch"), {subject.name: subject for subject in subjects}
    at_night = [_subject(named[word], prefix) for word in IN_AN_INCIDENT if word in named]
    rest = "`{name} all` shows every word and option, `{name} loss` or `{name} mute` just one."
    after = say(
        "*After it:* `{name} checklist RUN` before a restart, `{name} report RUN` for what happened.", name=runwatch
    )
    return message(
        say("I watch training runs and answer questions about them."),
        lines(short_line(command, prefix) for command in commands if command.name != "runwatch"),
        lines([say("*In an incident:*"), *at_night]),
        lines([join([after, say(rest, name=f"{runwatch} help")], " ")]),
        context(say(IN_THREADS)),
    )


def whole_help(commands: Sequence[Command], subjects: Sequence[Subject], prefix: str) -> Message:
    """Every command with its options and one example, and every word after `/runwatch`."""
    return message(
        say("Everything I can be asked:"),
        lines(_line(command, prefix) for command in commands if command.name != "runwatch"),
        lines([say("*Everything else:*"), *(_subject(subject, prefix) for subject in subjects)]),
        context(say(IN_THREADS)),
    )


def help_about(about: Command | Subject, prefix: str) -> Message:
    """One command or word, with all its examples."""
    if isinstance(about, Subject):
        return message(_subject(about, prefix))
    name = slash(prefix, about.name)
    given = [say("• `{name} {example}`", name=name, example=example) for example in about.examples if example]
    return message(_line(about, prefix, has_example=False), lines(given))


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


def short_line(command: Command, prefix: str) -> Phrase:
    """Without options: who needs them asks for them."""
    needs_run = command.usage.split(maxsplit=1)[:1] == ["RUN"]
    name = f"{slash(prefix, command.name)}{' RUN' if needs_run else ''}"
    return say("*`{name}`*  {summary}.", name=name, summary=say(command.summary))


def _subject(subject: Subject, prefix: str) -> Phrase:
    usage = f" {subject.usage}" if subject.usage else ""
    return say(
        "`{name} {word}{usage}`  {what}",
        name=slash(prefix, "runwatch"),
        word=subject.name,
        usage=usage,
        what=say(subject.summary),
    )


def _line(command: Command, prefix: str, *, has_example: bool = True) -> Phrase:
    name = slash(prefix, command.name)
    usage = say("*`{name}{space}{usage}`*", name=name, space=" " if command.usage else "", usage=command.usage)
    parts = [usage, say("{summary}.", summary=say(command.summary))]
    if has_example and command.examples[0]:
        parts.append(say("Example: `{name} {example}`", name=name, example=command.examples[0]))
    return join(parts, "  ")
