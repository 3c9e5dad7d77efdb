"""`/runs`: every run with its state, pace, end in sight and open incidents; in any order, page by page."""

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace

from handlers.arguments import Arguments, TooManyNames, WrongWords, read_arguments
from handlers.command import Asked, Command, Desk, Reply, Say
from handlers.kept import closed_by_people, kept_of
from handlers.messages.escaping import visible
from handlers.messages.runs import runs_answer
from handlers.names import typed
from handlers.run_list import FRESH_SECONDS, OPTIONS, STATES, Listing, Page, near_state, page_of, read_listing
from handlers.shown_runs import as_shown
from registry import Run
from registry.runs import Runs

MOST_RUNS = 10_000


async def answer(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """One table."""
    page, incidents, now = await look(desk, read_listing(_read_words(desk, asked.words)))
    yield Say(runs_answer(page, incidents, now))


def _read_words(desk: Desk, words: str) -> Arguments:
    """Options; a bare state (`crashed`) is the one that is wanted.

    Raises:
        WrongWords: What was typed cannot be meant; one run has commands of its own.
    """
    try:
        return read_arguments(words, OPTIONS, most_names=0)
    except TooManyNames as several:
        one, *others = several.names
        if others:
            raise
        if one.lower() in STATES:
            return Arguments((), {"state": one, **several.options})
        name = typed(visible(one))
        loss, stall = desk.command("loss"), desk.command("stall")
        one_run = f"For one run: `{loss} {name}`, or `{stall} {name}`."
        if near := near_state(one):
            raise WrongWords(f"Did you mean `{desk.command('runs')} {near}`? {one_run}") from several
        raise WrongWords(f"That lists all runs. {one_run}") from several


async def look(desk: Desk, listing: Listing) -> tuple[Page, Counter[str], float]:
    """One page of the list, the open incidents of each run, and the time."""
    found = (await desk.registry.incidents.all_open()).values()
    incidents = Counter(str(fields.get("run")) for fields in found)
    opened = [kept.incident for fields in found if (kept := kept_of(fields)) is not None]
    telling = [*opened, *await closed_by_people(desk)]
    now = await desk.registry.clock.estimate()
    runs = desk.registry.runs
    # Ten thousand are put in order by what the order needs, and only the runs of one page are read whole.
    listed = await _partly(runs, listing, now)
    if "state" in listing.needs:
        listed = await as_shown(desk, listed, telling)
    page = page_of(listed, listing, incidents, now)
    shown = await as_shown(desk, await runs.many([run.name for run in page.runs]), telling)
    return replace(page, runs=shown), incidents, now


async def _partly(runs: Runs, listing: Listing, now: float) -> list[Run]:
    """All runs, with what the list needs of each; by activity, one long unheard of stands where that was."""
    heard = await runs.heard(0.0, MOST_RUNS)
    if listing.sort != "active" or listing.is_choice:
        return await runs.partly(list(heard), listing.needs)
    near = [name for name, at in heard.items() if now - at <= FRESH_SECONDS]
    read = {run.name: run for run in await runs.partly(near, listing.needs)}
    return [read.get(name) or Run(name, last_seen=at) for name, at in heard.items()]


COMMAND = Command(
    name="runs",
    usage="[--sort incidents] [--state running] [--owner NAME] [--label KEY=VALUE] [--page 2]",
    summary="Every run: state, step, loss, speed, end in sight, last progress, open incidents",
    examples=("", "--sort incidents", "--label team=vision --sort eta"),
    answer=answer,
)
