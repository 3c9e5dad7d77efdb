"""How long a run may stand before somebody is called: its own limits, set in words or in a form."""

import pytest

from diagnosis.thresholds import Thresholds
from handlers.arguments import WrongWords
from handlers.patience import limits_for, patience_of, read_patience
from registry import Run
from tests.bot.conftest import a_run


def test_a_run_s_own_limits_hold_over_everybody_s():
    """One time for a stall, whatever the pace; what was not set stays."""
    run = Run("run42", facts={"patience": {"stall": 1800.0, "first": 7200.0}})

    limits = limits_for(run, Thresholds())

    assert (limits.stall_after, limits.stall_min, limits.stall_max) == (1800.0,) * 3
    assert (limits.stall_first_step, limits.stall_phase) == (7200.0, Thresholds().stall_phase)


@pytest.mark.parametrize("told", [None, "x", {"stall": 1}, {"stall": "x"}, {"other": 100.0}, {"stall": 1e9}])
def test_what_makes_no_sense_changes_nothing(told):
    """Half a record, another version, a joke."""
    run = Run("run42", facts={"patience": told})

    assert patience_of(run) == {}
    assert limits_for(run, Thresholds()) == Thresholds()


@pytest.mark.parametrize("told", [{"stal": "1h"}, {"stall": "soon"}, {"stall": "1s"}, {"stall": "9d"}])
def test_what_cannot_be_meant_is_refused(told):
    """With what is right."""
    with pytest.raises(WrongWords):
        read_patience(told)


async def test_it_is_set_in_a_form(workspace, bot, registry):
    """Opened by the command, wrong times said beside their field, the right ones kept."""
    await a_run(registry)
    await workspace.slash("/runwatch", "patience run42")
    await workspace.until(workspace.modal)

    wrong = await workspace.submit_view({"stall": "soon", "first": "2h", "phase": None})
    await workspace.submit_view({"stall": "20m", "first": "2h", "phase": None})
    (said,) = await workspace.until(workspace.ephemerals)

    assert wrong.payload["errors"] == {"stall": "A time between 30s and 7d, such as 20m or 2h."}
    assert "No progress for: *20 min*" in str(said["blocks"])
    assert patience_of(await registry.runs.find("run42")) == {"stall": 1200.0, "first": 7200.0}


async def test_it_is_set_and_taken_back_in_words(workspace, bot, registry):
    """By mention, where no form can open."""
    await a_run(registry)
    await workspace.mention("patience run42 stall=30m phase=1h")
    await workspace.until(lambda: [one for one in workspace.all_messages() if "From now on" in one["text"]])
    await workspace.mention("patience run42 stall=")
    await workspace.until(lambda: len([one for one in workspace.all_messages() if "From now on" in one["text"]]) == 2)

    assert patience_of(await registry.runs.find("run42")) == {"phase": 3600.0}


async def test_a_form_s_answer_finds_its_way_without_membership(workspace, bot, registry):
    """In a channel where we are no member it comes into the direct messages."""
    await a_run(registry)
    await workspace.slash("/runwatch", "patience run42", channel="general")
    await workspace.until(workspace.modal)
    await workspace.submit_view({"stall": "20m", "first": None, "phase": None})

    direct = workspace.direct_channel("alice")
    await workspace.until(lambda: [one for one in workspace.messages(direct) if "From now on" in one["text"]])
