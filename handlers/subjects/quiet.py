"""`/runwatch mute|unmute|mutes`: quiet for a run or a node, always with an end."""

import re
from collections.abc import AsyncIterator

from diagnosis.durations import parse_duration
from diagnosis.incidents import Mute
from handlers.admission import admitted, not_done
from handlers.arguments import WrongWords, first_name
from handlers.command import Asked, Desk, Reply, Right, Say, whisper
from handlers.find_run import find_run
from handlers.messages.mutes import muted, mutes_list, unmuted
from handlers.mutes import DEFAULT_SECONDS, active_mutes, add_mute, read_span, reason_of
from handlers.subjects.subject import Subject

NODE = "node"
_SPAN = re.compile(r"[+\-−–—]{0,2}[.,]?\d")
"""Meant as a time, also where it is none; with what a phone makes of a minus."""


async def mute(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """`mute run42 2h known data hole`, `mute node node17 1d`, in a thread `mute 2h`."""
    name, rest = first_name(asked.words)
    node = ""
    if name.lower() == NODE and rest:
        node, rest = first_name(rest)
        refusal = await admitted(desk, asked, Right.OPERATE, "mute_node")
        if refusal is not None:
            await not_done(desk, asked, "mute", Right.RESPOND)
            yield Say(refusal, is_private=True)
            return
    elif asked.thread_run and parse_duration(name):
        name, rest = "", asked.words
    words = [word.strip("`*") for word in rest.split()]
    run = "" if node else (await find_run(desk, asked, name or None)).name
    seconds = DEFAULT_SECONDS
    if words and _SPAN.match(words[0]):
        if len(words) > 1 and parse_duration(" ".join(words[:2])):
            words[:2] = ["".join(words[:2])]
        seconds = read_span(words.pop(0))
    now = await desk.registry.now()
    wanted = Mute(run, now + seconds, asked.who.user, reason=reason_of(" ".join(words)), node=node)
    await add_mute(desk, wanted)
    yield Say(muted(wanted, now))


async def unmute(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """`unmute run42` ends every quiet of it, `unmute node node17` the node's."""
    name, rest = first_name(asked.words)
    found = await active_mutes(desk)
    if name.lower() == NODE:
        if not rest:
            raise WrongWords("Which node? `/runwatch unmute node node17`.")
        name, _ = first_name(rest)
        gone = [key for key, one in found.items() if one.node.lower() == name.lower()]
    else:
        if name.lower() not in {one.run.lower() for one in found.values()} - {""}:
            # Also a run that was forgotten meanwhile may be unmuted; any other name is looked up.
            name = (await find_run(desk, asked, name or None)).name
        gone = [key for key, one in found.items() if one.run.lower() == name.lower()]
    for key in gone:
        await desk.registry.mutes.remove(key)
    yield Say(unmuted(name, len(gone)), is_private=not gone)


async def mutes(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """Every quiet that holds, with its end, who asked and why."""
    del asked
    now = await desk.registry.clock.estimate()
    yield whisper(mutes_list, list((await active_mutes(desk)).values()), now)


SUBJECTS = (
    Subject("mute", "RUN|node NODE [1h] [reason]", "quiet until a time; all is still recorded", mute, Right.RESPOND),
    Subject("unmute", "RUN|node NODE", "ends the quiet", unmute, Right.RESPOND),
    Subject("mutes", "", "every quiet that holds", mutes, Right.READ),
)
