"""From when on a run's numbers are called wrong: set in a form or in words, and judged by at once."""

import pytest

from diagnosis.thresholds import OF_A_RUN, Thresholds
from handlers.arguments import WrongWords
from handlers.limits import SETTABLE, limits_of, read_limits
from handlers.patience import limits_for
from registry import Run
from tests.bot.conftest import a_run


def test_what_a_person_sets_is_what_a_watcher_takes():
    """One list for both."""
    assert set(SETTABLE.values()) == OF_A_RUN


def test_a_run_s_own_thresholds_hold_over_everybody_s():
    """What was set counts, what was not stays; the monitor judges stalls by them too."""
    run = Run("run42", facts={"limits": {"jump_delta": 0.5, "stall_min": 600.0}, "patience": {"phase": 3600.0}})

    limits = limits_for(run, Thresholds())

    assert (limits.jump_delta, limits.stall_min, limits.stall_phase) == (0.5, 600.0, 3600.0)
    assert limits.spike_z == Thresholds().spike_z


@pytest.mark.parametrize(
    "told",
    [
        None,
        "x",
        {"jump_delta": "x"},
        {"spike_window": 3},
        {"jump_delta": -1.0},
        {"jump_delta": 10**400},
        {"jump_delta": "inf"},
    ],
)
def test_what_makes_no_sense_changes_nothing(told):
    """Half a record, another version, a size that cannot be changed while points are judged."""
    assert limits_of(Run("run42", facts={"limits": told})) == {}


@pytest.mark.parametrize("told", [{"jmp": "1"}, {"jump": "much"}, {"jump": "-1"}, {"floor": "soon"}, {"jump": "1e99"}])
def test_what_cannot_be_meant_is_refused(told):
    """With what is right."""
    with pytest.raises(WrongWords):
        read_limits(told)


async def test_it_is_set_in_a_form(workspace, bot, registry):
    """Opened by the command, wrong values said beside their field, the right ones kept and told."""
    await a_run(registry)
    await workspace.slash("/runwatch", "thresholds run42")
    await workspace.until(workspace.modal)
    empty = dict.fromkeys(("jump", "spike", "height", "rise", "floor"))

    wrong = await workspace.submit_view({**empty, "jump": "much"})
    await workspace.submit_view({**empty, "jump": "0.5", "floor": "10m"})
    (said,) = await workspace.until(workspace.ephemerals)

    assert wrong.payload["errors"] == {"jump": "A number above 0, such as 0.5."}
    assert "moves by more than: *0.5*" in str(said["blocks"])
    assert "0 of 1 watchers judge by it already" in str(said["blocks"])
    assert limits_of(await registry.runs.find("run42")) == {"jump_delta": 0.5, "stall_min": 600.0}
    (entry, *_) = await registry.audit.newest()
    assert (entry.action, entry.how, entry.result) == ("thresholds", "modal", "allowed")


async def test_it_is_set_and_taken_back_in_words(workspace, bot, registry):
    """A name with spaces in quotes; everybody in the channel reads what holds."""
    await a_run(registry, "my run")
    await workspace.mention("thresholds 'my run' jump=0.5 spike=8")
    await workspace.until(lambda: [one for one in workspace.all_messages() if "From now on" in one["text"]])
    await workspace.mention("thresholds 'my run' jump=")
    await workspace.until(lambda: len([one for one in workspace.all_messages() if "From now on" in one["text"]]) == 2)

    assert limits_of(await registry.runs.find("my run")) == {"spike_z": 8.0}


async def test_who_may_not_is_told_so_and_nothing_changes(workspace, bot, registry):
    """Bob may look, not set; his try stands in the audit."""
    await a_run(registry)
    await workspace.slash("/runwatch", "thresholds run42 jump=0.1", user="bob")
    (said,) = await workspace.until(lambda: workspace.ephemerals("bob"))

    assert "needs the role operator" in said["text"]
    assert limits_of(await registry.runs.find("run42")) == {}
    (entry, *_) = await registry.audit.newest()
    assert entry.action == "thresholds"
    assert entry.result.startswith("That needs the role")
