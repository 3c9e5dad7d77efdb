"""A name that is not quite one, or stands where none is asked for, is answered with what is meant."""

from types import SimpleNamespace

import pytest

from diagnosis.findings import Finding, Severity
from diagnosis.incidents import Tracker
from diagnosis.observations import Origin
from handlers.arguments import TooManyNames, WrongWords, read_arguments
from handlers.find_incident import WhichIncident, find_incident
from handlers.find_run import NoSuchRun, WhichRun, find_run, what_is_meant
from handlers.loss import COMMAND, read_words
from handlers.messages.languages import speaking
from handlers.messages.mistakes import explain
from handlers.run_list import read_listing
from handlers.runs import _read_words
from registry.errors import RegistryAway
from tests.bot.chinese import english_in


@pytest.fixture
def desk(registry):
    return SimpleNamespace(registry=registry, command=lambda name: f"/rw-{name}", prefix="rw-")


@pytest.mark.parametrize("read", [read_arguments, read_words])
@pytest.mark.parametrize(
    "case",
    [
        ("run 42", ["run42", "run40"], ["run42"]),
        ("run 42", ["run-42", "run_42"], ["run-42", "run_42"]),
        ("llama 7b v2", ["llama-7b-v2"], ["llama-7b-v2"]),
        ("my run", ["my run"], ["my run"]),
        ("run42 run40", ["run42", "run40", "run42run40"], None),
        ("run 43", ["run42"], None),
    ],
)
async def test_words_that_together_are_a_run_are_taken_for_it(desk, registry, read, case):
    """On a phone a blank is quickly typed; two runs that both exist stay two."""
    typed, known, meant = case
    for name in known:
        await registry.runs.see(name)
    with pytest.raises(TooManyNames) as wrong:
        read(typed)

    told = await what_is_meant(desk, wrong.value)

    if meant is None:
        assert told is wrong.value
    else:
        assert isinstance(told, NoSuchRun)
        assert [run.name for run in told.near] == meant
        assert f"No run `{typed}`. Did you mean `{meant[0]}` (running)" in explain(told, COMMAND, "").text


async def test_while_redis_goes_away_what_was_wrong_is_said_all_the_same(desk, registry, monkeypatch):
    """Nobody can say which run may be meant; that several were typed is known without it."""

    async def away(_names):
        raise RegistryAway("away")

    monkeypatch.setattr(registry.runs, "many", away)
    with pytest.raises(TooManyNames) as wrong:
        read_arguments("run 42")

    assert await what_is_meant(desk, wrong.value) is wrong.value


@pytest.mark.parametrize(("count", "more"), [(3, ""), (5, ""), (6, "There is 1 more: `/rw-runs`"), (9, "There are 4")])
async def test_a_command_without_a_name_says_how_many_more_there_are(desk, registry, count, more):
    """Five are named; nobody thinks that these are all."""
    for number in range(count):
        await registry.runs.see(f"run{number}")
    with pytest.raises(WhichRun) as which:
        await find_run(desk, SimpleNamespace(thread_run=None), None)

    text = explain(which.value, COMMAND, "rw-").text

    assert text.count("`run") == min(count, 5)
    assert more in text
    assert ("more" in text) is bool(more)


def test_the_list_of_runs_sends_one_name_to_its_own_commands(desk):
    """`/runs run42` is no failure of the asker's."""
    with pytest.raises(WrongWords, match="For one run: `/rw-loss run42`, or `/rw-stall run42`"):
        _read_words(desk, "run42")
    with pytest.raises(TooManyNames):
        _read_words(desk, "run42 run43")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("crashd", "crashed"), ("Stall", "stalled"), ("finish", "finished"), ("runing", "running"), ("unherd", "unheard")],
)
def test_a_state_with_a_slip_of_the_finger_is_asked_about(desk, typed, meant):
    """Bare or as an option, in both languages; a run of that name has its own commands all the same."""
    with pytest.raises(WrongWords) as bare:
        _read_words(desk, typed)
    with pytest.raises(WrongWords) as option:
        read_listing(_read_words(desk, f"--state {typed}"))
    with speaking("zh"):
        chinese = [explain(one.value, None, "rw-").text for one in (bare, option)]

    assert (
        str(bare.value) == f"Did you mean `/rw-runs {meant}`? For one run: `/rw-loss {typed}`, or `/rw-stall {typed}`."
    )
    assert str(option.value).startswith(f"There is no state `{typed}`; there are `stalled`, `down`")
    assert str(option.value).endswith(f"Did you mean `--state {meant}`?")
    assert not [text for text in chinese if english_in(text)]


@pytest.mark.parametrize("typed", ["crashed", "Crashed", "--sort name crashed", "state crashed"])
def test_a_bare_state_is_the_one_that_is_wanted(desk, typed):
    """As people type it."""
    assert _read_words(desk, typed).options["state"].lower() == "crashed"


@pytest.mark.parametrize(
    ("typed", "options"),
    [
        ("'crashed'", {"state": "crashed"}),
        ("--owner crashed crashed", {"owner": "crashed", "state": "crashed"}),
        ("--label team=crashed-one crashed", {"label": "team=crashed-one", "state": "crashed"}),
        ("running --state crashed", {"state": "crashed"}),
    ],
)
def test_a_bare_state_leaves_the_other_options_as_they_are(desk, typed, options):
    """Also where one of them holds the same word; the one with dashes is meant before a bare one."""
    assert _read_words(desk, typed).options == options


@pytest.fixture
def opens(registry):
    """Incidents of these runs, as the announcer keeps them."""

    async def begin(*runs, is_open=True):
        for number, run in enumerate(runs):
            await registry.runs.see(run)
            found = Finding("nonfinite_loss", Severity.CRITICAL, Origin(run, "n1", 0), "loss is NaN")
            (said,) = Tracker().receive(f"e/{run}", found, 1_000.0 + number)
            fields = {"incident": said.incident, "channel": "C1", "ts": "1.0"}
            await registry.incidents.save(said.incident.id, run, fields, is_open=is_open)

    return begin


NO_THREAD = SimpleNamespace(thread_run=None, thread_incident=None)


async def test_without_a_name_the_only_open_incident_is_meant(desk, registry, opens):
    """However many runs there are: `/runwatch take` at night."""
    await opens("run42")
    for quiet in ("a", "b", "c"):
        await registry.runs.see(quiet)

    assert (await find_incident(desk, NO_THREAD, None)).incident.run == "run42"


async def test_without_a_name_only_runs_in_trouble_are_offered(desk, registry, opens):
    """The newest trouble first; who is well cannot be meant."""
    await opens("old", "new")
    await registry.runs.see("healthy")

    with pytest.raises(WhichRun) as which:
        await find_incident(desk, NO_THREAD, None)

    assert which.value.known == ("new", "old")


async def test_a_run_in_trouble_is_offered_before_those_that_are_well(desk, registry, opens):
    """It stands, so it is never among the most active ones, and it is the one that `/stall` is asked about."""
    await opens("hung")
    for number in range(8):
        await registry.runs.see(f"well{number}")

    with pytest.raises(WhichRun) as which:
        await find_run(desk, NO_THREAD, None)

    assert (which.value.known[0], len(which.value.known), which.value.more) == ("hung", 5, 4)


async def test_without_anything_open_there_is_nothing_to_name(desk, registry):
    """Said as it is."""
    await registry.runs.see("healthy")
    await registry.runs.see("other")

    with pytest.raises(WhichIncident, match="Nothing is open"):
        await find_incident(desk, NO_THREAD, None)
