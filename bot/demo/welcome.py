"""What the demo says of itself: in the channel, and at the terminal how to let it watch a log of one's own."""

import os
import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import aiohttp

from bot.demo.stage import LiveJob, Replay
from handlers.messages.blocks import Message, message
from handlers.messages.languages import LANGUAGES, speaking
from handlers.messages.phrase import Phrase, listed, say


def welcome(plays: Sequence[Replay | LiveJob]) -> Message:
    """The first message in the channel: which runs train here, and which are logs of another time."""
    return message(
        say(
            "*This is a demo.* {living} train here, on this machine. {replayed} are recorded logs, played again: "
            "a date in one of their lines or charts is of then.",
            living=_named(play.run for play in plays if isinstance(play, LiveJob)),
            replayed=_named(play.run for play in plays if isinstance(play, Replay)),
        )
    )


async def post_welcome(page: str, token: str, channel: str, plays: Sequence[Replay | LiveJob]) -> None:
    """Say it in the workspace at `page`, in the language that the bot will speak there."""
    language = os.environ.get("RUNWATCH_LANGUAGE", "")
    with speaking(language if language in LANGUAGES else ""):
        said = welcome(plays)
    content = {"channel": channel, "text": said.text, "blocks": said.blocks}
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(f"{page}api/chat.postMessage", json=content) as answer,
    ):
        await answer.read()


def own_log_command(redis_url: str) -> str:
    """What shows a log of one's own in the demo, ready to be pasted."""
    program = Path(sys.argv[0])
    runwatch = str(program.absolute()) if program.name == "runwatch" else "runwatch"
    return f"REDIS_URL={shlex.quote(redis_url)} {shlex.quote(runwatch)} watch --run mine --log 'PATH/TO/train*.log'"


def _named(runs: Iterable[str]) -> Phrase:
    return listed(say("`{run}`", run=run) for run in runs)
