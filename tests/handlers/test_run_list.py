"""The list of runs: order, choice, pages."""

import pytest

from handlers.arguments import WrongWords, read_arguments
from handlers.messages.runs import run_row, runs_answer
from handlers.run_list import OPTIONS, PAGE_SIZE, Listing, eta_seconds, listing_of, page_of, read_listing
from registry import Run

NOW = 1_000_000.0


def running(name, **more):
    facts = {"state": "running", "last_progress": NOW - 10.0, "last_step": 100, **more}
    return Run(name, **facts)


RUNS = (
    running("slow", total_steps=1100, step_seconds=10.0, last_loss=2.0, owner="bob"),
    running("fast", total_steps=1100, step_seconds=1.0, last_loss=3.0, labels={"team": "vision"}),
    running("endless", last_loss=None),
    Run(
        "dead",
        state="crashed",
        last_progress=NOW - 9e4,
        last_loss=float("nan"),
        total_steps=9,
        step_seconds=1.0,
        last_step=3,
    ),
)


def names(words, incidents=None):
    listing = read_listing(read_arguments(words, OPTIONS, most_names=0))
    return [run.name for run in page_of(RUNS, listing, incidents or {}, NOW).runs]


@pytest.mark.parametrize(
    ("words", "order"),
    [
        ("", ["endless", "fast", "slow", "dead"]),
        ("--sort name", ["dead", "endless", "fast", "slow"]),
        ("--sort eta", ["fast", "slow", "dead", "endless"]),
        ("--sort loss", ["slow", "fast", "dead", "endless"]),
        ("--sort state", ["dead", "endless", "fast", "slow"]),
        ("--sort incidents", ["fast", "dead", "endless", "slow"]),
        ("--state crashed", ["dead"]),
        ("--owner BOB", ["slow"]),
        ("--label team=vision", ["fast"]),
        ("--label team", ["fast"]),
        ("--label team=audio", []),
    ],
)
def test_the_list_comes_as_asked(words, order):
    """What is not known comes last."""
    assert names(words, {"fast": 2}) == order


@pytest.mark.parametrize("words", ["--sort luck", "--state crashd", "--state x", "--page 0", "--page x", "--label =x"])
def test_what_cannot_be_meant_is_refused(words):
    """With what is right."""
    with pytest.raises(WrongWords):
        names(words)


def test_the_end_in_sight_is_told_only_of_a_run_that_moves():
    """At its own pace; a silent or unlimited run has none."""
    assert eta_seconds(RUNS[0], NOW) == 10_000.0
    assert eta_seconds(RUNS[0], NOW + 3600) is None
    assert eta_seconds(RUNS[2], NOW) is None
    assert eta_seconds(RUNS[3], NOW) is None
    assert run_row(RUNS[0], 1, NOW)[2:] == ("1 open", "100 of 1,100", "2", "10 s ago", "10.0 s a step", "2 h 47 min")


def test_a_page_beyond_the_end_is_the_last():
    """Runs may end while somebody turns pages."""
    runs = [running(f"run{number:03}") for number in range(2 * PAGE_SIZE + 1)]

    page = page_of(runs, Listing(page=9), {}, NOW)

    assert (page.listing.page, page.last, [run.name for run in page.runs]) == (3, 3, ["run040"])


@pytest.mark.parametrize(
    ("count", "said"), [(1, "there is no page 9, this is the only one"), (50, "there is no page 9, this is the last")]
)
def test_a_page_that_there_is_not_is_said(count, said):
    """Nobody takes another page for the one that was asked for."""
    runs = [running(f"run{number:03}") for number in range(count)]

    shown = runs_answer(page_of(runs, Listing(page=9), {}, NOW), {}, NOW)
    right = runs_answer(page_of(runs, Listing(page=1), {}, NOW), {}, NOW)

    assert said in str(shown.blocks)
    assert "there is no page" not in str(right.blocks)


@pytest.mark.parametrize(
    "listing", [Listing(), Listing("eta", "running", "bob", "team=a&b=c", 3), Listing("name", label="k=ö")]
)
def test_a_button_carries_the_whole_list(listing):
    """Nothing is kept between two clicks, so any bot may answer the second."""
    assert listing_of(listing.word) == listing


@pytest.mark.parametrize("word", ["", "sort=luck&page=2", "page=-1", "%%%"])
def test_a_button_that_is_not_ours_shows_the_plain_list(word):
    """A message of another version, or a forged one."""
    assert listing_of(word) == Listing()


def test_pages_turn_by_buttons_with_one_id_each():
    """Slack refuses a message that uses an id twice."""
    runs = [running(f"run{number:03}") for number in range(3 * PAGE_SIZE)]

    message = runs_answer(page_of(runs, Listing(page=2), {}, NOW), {}, NOW)

    row = message.blocks[-1]["elements"]
    assert [one["action_id"] for one in row] == ["runs_page:previous", "runs_page:next", "runs_page:sort"]
    assert [listing_of(one["value"]).page for one in row[:2]] == [1, 3]
    assert "page 2 of 3" in str(message.blocks)
