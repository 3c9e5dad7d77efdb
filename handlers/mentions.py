"""`@runwatch loss run42`: the same commands by mention, because slash commands do not exist inside threads."""

import difflib

from handlers import COMMANDS, RUNWATCH
from handlers.arguments import first_word
from handlers.command import Asked, Command, Desk, Who
from handlers.threads import incident_of_thread
from registry.errors import RegistryError


async def chosen(desk: Desk, who: Who, channel: str, words: str, thread_ts: str | None) -> tuple[Command, Asked]:
    """The command that is meant, and the question with the thread's own run."""
    incident, run = None, None
    if thread_ts is not None:
        try:
            found = await incident_of_thread(desk, channel, thread_ts)
            incident, run = found or (None, None)
        except RegistryError:
            # The answer itself will say that the registry is away.
            run = None
    name, rest = first_word(words)
    by_name = {command.name: command for command in COMMANDS}
    command = by_name.get(name.removeprefix("/").removeprefix(desk.prefix))
    if command is None and (near := difflib.get_close_matches(name, by_name, n=1, cutoff=0.75)):
        command = by_name[near[0]]
    if command is None:
        # `@runwatch mute 2h`, `@runwatch help`, and everything nobody knows.
        command, rest = RUNWATCH, words
    return command, Asked(who, channel, rest, run, incident, how="mention")
