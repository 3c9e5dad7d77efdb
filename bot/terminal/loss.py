"""`runwatch loss RUN`: the sentence of /loss and the curve in letters; `--csv` writes the numbers to stdout."""

import sys
from pathlib import Path

from bot.settings import BotSettings
from bot.terminal.asking import ask, question
from bot.terminal.plot import plot
from bot.terminal.printing import show
from charts.table import to_csv
from handlers.around import changes_to_tell
from handlers.command import Desk
from handlers.find_run import find_run
from handlers.health import look_at
from handlers.loss import (
    COMMAND,
    MOST_INCIDENTS,
    compare,
    from_its_start,
    metric_of,
    other_run,
    read_series,
    read_words,
)
from handlers.loss_standing import standing_of
from handlers.marked import marked_before
from handlers.messages.loss import loss_answer
from handlers.messages.phrase import NOTHING
from handlers.selection import read_part, select


def loss(words: str, settings: BotSettings, config: Path | None = None) -> int:
    """Answer /loss here."""

    async def work(desk: Desk) -> int:
        given = read_words(words)
        part = read_part(given.options.get("last"), given.options.get("steps"))
        metric = metric_of(given)
        run = await find_run(desk, question(words), given.names[0] if given.names else None)
        series = await read_series(desk, run.name, part)
        shown = select(series, part)
        if given.has("csv"):
            sys.stdout.buffer.write(to_csv(shown))
            return 0
        judged = await from_its_start(desk, run.name, series, part)
        stands = await standing_of(desk, run, look_at(judged), judged)
        look = stands.look
        incidents = (await desk.registry.incidents.of_run(run.name, MOST_INCIDENTS)).values()
        around = changes_to_tell(shown, incidents, look, is_part=not part.is_whole)
        versus = NOTHING
        other = await other_run(desk, given, run.name)
        if other is not None:
            versus = compare(shown, select(await read_series(desk, other.name, part), part))
        now, url = await desk.registry.clock.estimate(), desk.workspace_url()
        marked, opened = marked_before(shown, look), stands.opened
        show(
            loss_answer(
                stands.run, look, now, opened=opened, vs=versus, around=around, marked=marked, workspace_url=url
            )
        )
        lines = plot(getattr(shown, metric))
        if lines:
            print("\n".join(lines))
        return 1 if stands.is_trouble else 0

    return ask(COMMAND, settings, work, config)
