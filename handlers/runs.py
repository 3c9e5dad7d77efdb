"""`/runs`: every run with its state, pace, end in sight and open incidents; in any order, page by page."""

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace

from handlers.arguments import read_arguments
from handlers.command import Asked, Command, Desk, Reply, Say
from handlers.find_incident import kept_of
from handlers.messages.runs import runs_answer
from handlers.run_list import OPTIONS, Listing, Page, page_of, read_listing
from handlers.run_state import with_states

MOST_RUNS = 10_000


async def answer(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """One table."""
    given = read_arguments(asked.words, OPTIONS, most_names=0)
    page, incidents, now = await look(desk, read_listing(given))
    yield Say(runs_answer(page, incidents, now))


async def look(desk: Desk, listing: Listing) -> tuple[Page, Counter[str], float]:
    """One page of the list, the open incidents of each run, and the time."""
    found = (await desk.registry.incidents.all_open()).values()
    incidents = Counter(str(fields.get("run")) for fields in found)
    opened = [kept.incident for fields in found if (kept := kept_of(fields)) is not None]
    now = await desk.registry.clock.estimate()
    runs = desk.registry.runs
    names = await runs.names(MOST_RUNS)
    # Ten thousand are put in order by what the order needs, and only the runs of one page are read whole.
    listed = with_states(await runs.partly(names, listing.needs), opened)
    page = page_of(listed, listing, incidents, now)
    shown = with_states(await runs.many([run.name for run in page.runs]), opened)
    return replace(page, runs=shown), incidents, now


COMMAND = Command(
    name="runs",
    usage="[--sort incidents] [--state running] [--owner NAME] [--label KEY=VALUE] [--page 2]",
    summary="Every run: state, step, loss, speed, end in sight, last progress, open incidents",
    examples=("", "--sort incidents", "--label team=vision --sort eta"),
    answer=answer,
)
