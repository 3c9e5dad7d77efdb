"""Words that are no command: whoever only speaks of a run is told how it stands and what can be asked of it."""

from diagnosis.errors import Mistake
from handlers.command import Asked, Command, Desk, Reply, whisper
from handlers.health import look_at
from handlers.loss import read_series
from handlers.loss_standing import standing_of
from handlers.messages.spoken import state_in_short
from handlers.selection import read_part
from registry import Run

MOST_WORDS, LONGEST_WORD = 60, 100
"""Words of one sentence that are looked up as names of runs."""
# People end their sentences in Chinese, too.
AROUND_A_NAME = " ?!.,;:…'\"`*_()[]<>？！。，；：（）“”‘’"


class NotACommand(Mistake):
    """What was typed is no command and speaks of no run; the answer shows what can be asked."""

    def __init__(self, text: str, commands: tuple[Command, ...]) -> None:
        self.commands = commands
        super().__init__(text)


async def how_it_stands(desk: Desk, asked: Asked) -> Reply | None:
    """What `/loss` says first of the run that is spoken of, for the asker alone; None: none is."""
    run = await _spoken_of(desk, asked)
    if run is None:
        return None
    series = await read_series(desk, run.name, read_part(None, None))
    stands = await standing_of(desk, run, look_at(series), series)
    now, url = await desk.registry.clock.estimate(), desk.workspace_url()
    return whisper(state_in_short, stands.run, stands.look, stands.opened, now, workspace_url=url, prefix=desk.prefix)


async def _spoken_of(desk: Desk, asked: Asked) -> Run | None:
    """The run that is named in the sentence, else the thread's own."""
    typed = asked.words.split()[:MOST_WORDS]
    names = dict.fromkeys(name for word in typed for name in (word, word.strip(AROUND_A_NAME)))
    if asked.thread_run is not None:
        names[asked.thread_run] = None
    found = await desk.registry.runs.many([name for name in names if 0 < len(name) <= LONGEST_WORD])
    return found[0] if found else None
