"""The list of runs."""

from collections.abc import Mapping

from diagnosis import wording
from handlers.messages.blocks import Block, Message, actions, button, context, message, table
from handlers.messages.mistakes import no_runs
from handlers.messages.modals import plain
from handlers.messages.phrase import NOTHING, Clause, Phrase, join, number_of, say
from handlers.run_list import SORTS, Listing, Page, eta_seconds
from registry import Run

HEAD = ("run", "state", "incidents", "step", "loss", "last progress", "speed", "end in")
"""What matters most stands first: Slack shows a wide table's left part."""
TURN = "runs_page"
LONGEST_CHOICE = 130


def runs_answer(page: Page, open_incidents: Mapping[str, int], now: float) -> Message:
    """A table, and what turns its pages."""
    if not page.known:
        return message(no_runs())
    head = tuple(say(name).plain for name in HEAD)
    rows = [head, *(run_row(run, open_incidents.get(run.name, 0), now) for run in page.runs)]
    return message(_head(page, open_incidents), table(rows), context(_small(page)), _turning(page))


def run_row(run: Run, incidents: int, now: float) -> tuple[str, ...]:
    """One run in eight cells."""
    step = say("{step}", step=wording.whole(run.last_step)) if run.last_step is not None else _NONE
    if run.total_steps and run.last_step is not None:
        step += say("of {n}", n=wording.whole(run.total_steps))
    left = eta_seconds(run, now)
    age = None if run.last_progress is None else wording.duration(max(0.0, now - run.last_progress))
    cells = (
        say("{run}", run=run.name),
        say("{state}", state=Clause(run.state)),
        say("{n} open", n=incidents) if incidents else _NONE,
        step,
        say("{loss}", loss=wording.precise(run.last_loss)) if run.last_loss is not None else _NONE,
        say("{age} ago", age=age) if age is not None else _NONE,
        _speed(run, now),
        say("{span}", span=wording.duration(left)) if left is not None else _NONE,
    )
    return tuple(cell.plain for cell in cells)


def _head(page: Page, open_incidents: Mapping[str, int]) -> Phrase:
    troubled = sum(1 for count in open_incidents.values() if count)
    known = number_of(page.known, "{n} run", "{n} runs")
    with_incident = say(", {n} with an open incident", n=troubled) if troubled else NOTHING
    if page.found == page.known:
        return say("*{known}*{troubled}.", known=known, troubled=with_incident)
    # How many of the chosen ones are in trouble is in the table, and the others were not asked for.
    return say("*{found} of {known}*.", found=f"{page.found:,}", known=known)


def _small(page: Page) -> Phrase:
    listing = page.listing
    chosen = [
        say("sorted by {sort}", sort=Clause(listing.sort)) if listing.sort != "active" else NOTHING,
        say("state {state}", state=Clause(listing.state)) if listing.state else NOTHING,
        say("owner {owner}", owner=listing.owner) if listing.owner else NOTHING,
        say("label {label}", label=listing.label) if listing.label else NOTHING,
        say("page {page} of {last}", page=listing.page, last=page.last) if page.last > 1 else NOTHING,
        _no_such_page(page),
    ]
    return join(chosen, " · ")


def _no_such_page(page: Page) -> Phrase:
    if page.wanted <= page.last:
        return NOTHING
    only, last = "there is no page {wanted}, this is the only one", "there is no page {wanted}, this is the last"
    return say(only if page.last == 1 else last, wanted=f"{page.wanted:,}")


def _turning(page: Page) -> Block | None:
    """Nothing to turn where there is one page."""
    if page.last == 1:
        return None
    listing, elements = page.listing, []
    if listing.page > 1:
        elements.append(button("Previous", f"{TURN}:previous", listing.turned(listing.page - 1).word))
    if listing.page < page.last:
        elements.append(button("Next", f"{TURN}:next", listing.turned(listing.page + 1).word))
    # A menu carries less than a button: a long choice keeps its order.
    orders = [_order(listing)] if len(listing.word) <= LONGEST_CHOICE else []
    return actions(f"runs/{listing.word}", [*elements, *orders])


def _order(listing: Listing) -> Block:
    options = [
        {
            "text": plain(say("By {sort}", sort=Clause(sort))),
            "value": Listing(sort, listing.state, listing.owner, listing.label).word,
        }
        for sort in SORTS
    ]
    chosen = options[SORTS.index(listing.sort)]
    return {
        "type": "static_select",
        "action_id": f"{TURN}:sort",
        "placeholder": plain("Sort"),
        "options": options,
        "initial_option": chosen,
    }


_NONE = say("–")


def _speed(run: Run, now: float) -> Phrase:
    is_fresh = run.last_progress is not None and now - run.last_progress < 900.0
    if run.state != "running" or not is_fresh:
        return _NONE
    if run.tokens_per_second:
        return say("{n} tokens/s", n=wording.short(run.tokens_per_second))
    return say("{n} s a step", n=wording.number(run.step_seconds)) if run.step_seconds else _NONE
