"""`/runwatch WORD …`: everything that is not a question about one run."""

import difflib
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from diagnosis.errors import Mistake
from handlers.admission import admitted, not_done
from handlers.arguments import WrongWords, first_word
from handlers.command import Asked, Command, Desk, Reply, Say, whisper
from handlers.find_run import what_is_meant
from handlers.messages import mistakes
from handlers.messages.help import help_about, help_answer, whole_help
from handlers.spoken import NotACommand, how_it_stands
from handlers.subjects import checklist, digest, incidents, language, limits, patience, people, quiet, report, routes

_FAMILIES = (quiet, incidents, checklist, report, routes, digest, patience, limits, language, people)
SUBJECTS = tuple(subject for family in _FAMILIES for subject in family.SUBJECTS)
"""Every word after `/runwatch`, as the help shows them."""
GREETINGS = ("", "help", "hi", "hello", "?")
EVERYTHING = ("all", "more", "everything")


def make(others: Sequence[Command]) -> Command:
    """The command, which explains all the others."""
    by_name = {subject.name: subject for subject in SUBJECTS}

    async def answer(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
        word, rest = first_word(asked.words)
        if word in GREETINGS:
            yield _help(desk, (*others, command), rest)
            return
        subject = by_name.get(word)
        if subject is None:
            known = (*by_name, "help")
            if difflib.get_close_matches(word, known, n=1):
                raise WrongWords(_unknown(word, known))
            told = await how_it_stands(desk, asked)
            if told is None:
                raise NotACommand(_unknown(word, known), tuple(others))
            yield told
            return
        about = replace(asked, words=rest)
        refusal = await admitted(desk, about, subject.right, subject.name)
        if refusal is not None:
            yield Say(refusal, is_private=True)
            return
        try:
            async for reply in subject.answer(desk, about):
                yield reply
        except Mistake as mistake:
            await not_done(desk, about, subject.name, subject.right)
            said = replace(command, name=f"{command.name} {subject.name}", usage=subject.usage)
            yield whisper(mistakes.explain, await what_is_meant(desk, mistake), said, desk.prefix)

    command = Command(
        name="runwatch",
        usage=f"help | {' | '.join(by_name)}",
        summary="Help, and everything that is not a question about one run",
        examples=("mute run42 2h known data hole",),
        answer=answer,
    )
    return command


def _help(desk: Desk, commands: Sequence[Command], words: str) -> Reply:
    """The first screen; behind `help` everything, or what one word does.

    Raises:
        WrongWords: There is no such word.
    """
    word, _ = first_word(words)
    if not word:
        return whisper(help_answer, commands, SUBJECTS, desk.prefix)
    if word in EVERYTHING:
        return whisper(whole_help, commands, SUBJECTS, desk.prefix)
    known = {one.name: one for one in (*SUBJECTS, *commands) if one.name != "runwatch"}
    about = known.get(word.removeprefix("/").removeprefix(desk.prefix))
    if about is None:
        raise WrongWords(_unknown(word, (*known, EVERYTHING[0])))
    return whisper(help_about, about, desk.prefix)


def _unknown(word: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(word, known, n=1)
    hint = f" Did you mean `{near[0]}`?" if near else ""
    return f"I do not know `{word[:40]}`.{hint}"
