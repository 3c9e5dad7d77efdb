"""/loss never says that all is well against an open incident, and tells a run's state as /runs does."""

from dataclasses import replace

import pytest

from diagnosis.findings import Finding, Severity
from diagnosis.incidents import Tracker
from diagnosis.observations import Origin
from diagnosis.series import RunSeries
from handlers.health import Health, Look, look_at
from handlers.kept import Kept
from handlers.loss_standing import judged
from handlers.messages.chinese import CHINESE
from handlers.messages.languages import speaking
from handlers.messages.loss import _AGAINST, _STOPPED, _UNHEARD, loss_answer, verdict
from handlers.messages.phrase import Clause
from handlers.run_state import NOT_GOING_ON, with_states
from registry import Run
from tests.bot.chinese import english_in

NOW = 1_000_000.0
RUN = Run("run42", state="running", last_step=1_600, last_progress=NOW - 100.0)
CLIMB = "loss climbs and stays: at least 3.58 since step 1,211, after 2.19 at step 1,063"


def curve(high_from=1_200, points=1_600):
    """A loss that moved to another level long ago and is calm there: its newest numbers alone look normal."""
    made = RunSeries("run42")
    for step in range(1, points + 1):
        made.loss.add(step, (7.1 if step >= high_from else 2.2) + step % 5 / 100)
    return made


def kept(kind, severity=Severity.CRITICAL, *, text="", step=None, category="", node=None, attempt=0):
    tracker = Tracker()
    details = {"category": category} if category else {}
    found = Finding(kind, severity, Origin("run42", node), text or kind, step=step, details=details, attempt=attempt)
    tracker.receive("w/1", found, NOW)
    tracker.tick(NOW + 60)
    (incident,) = tracker.open_of("run42")
    return Kept(incident, "C1", "17.000001")


def said(*opened, run=RUN, series=None):
    series = series or curve()
    stands = judged(run, look_at(series), series, opened)
    url = "https://acme.slack.com/"
    return loss_answer(stands.run, stands.look, NOW + 60, opened=stands.opened, workspace_url=url)


def words(message):
    return " ".join(str(block) for block in message.blocks)


def test_a_loss_that_climbed_long_ago_and_stays_is_not_normal():
    """The newest numbers are level; the open divergence is named, with the range that was normal before it."""
    assert look_at(curve()).health is Health.NORMAL

    answer = said(kept("divergence", text=CLIMB, step=1_211))

    assert answer.text == ("🔴 *run42* is wrong: the loss climbed at step 1,211 and stays; now 7.1 at step 1,600.")
    assert "normal range before it" in words(answer)
    assert "7.0" not in words(answer).partition("normal range before it")[2][:20]
    assert "Open for 60 s" in words(answer)
    assert "archives/C1/p17000001" in words(answer)


@pytest.mark.parametrize("kind", ["divergence", "spike", "sustained_spike", "nonfinite_loss", "loss_spike_reported"])
@pytest.mark.parametrize("severity", [Severity.CRITICAL, Severity.WARNING])
def test_no_open_incident_about_the_loss_is_called_normal(kind, severity):
    """Whatever its kind and however grave: named, and never green."""
    answer = said(kept(kind, severity, text=f"{kind} was seen", step=1_300))

    assert "🟢" not in answer.text
    assert "looks normal" not in answer.text
    assert "climbed at step 1,300" in answer.text or f"{kind} was seen" in answer.text


def test_an_incident_of_an_attempt_before_is_a_word_to_watch():
    """The restart may have healed it: not wrong for sure, and not green."""
    run = replace(RUN, attempt=1)

    assert said(kept("divergence", text=CLIMB, step=1_211), run=run).text.startswith("🟠 *run42* is worth watching")


def test_what_is_no_incident_about_the_loss_leaves_it_normal():
    """A disk that fills up is told below the sentence."""
    answer = said(kept("disk_nearly_full", Severity.WARNING, category="disk_full", text="the disk fills up"))

    assert answer.text.startswith("🟢 *run42* looks normal")
    assert "the disk fills up" in words(answer)


@pytest.mark.parametrize(
    ("kind", "category", "state"),
    [
        ("cuda_oom", "gpu_oom", "crashed"),
        ("stalled", "", "stalled"),
        ("run_down", "", "down"),
        ("x", "preempted", "preempted"),
    ],
)
def test_a_run_that_does_not_go_on_is_told_so_with_its_state(kind, category, state):
    """The word is the one of /runs, and the incident is named."""
    found = kept(kind, category=category, text=f"{kind} was seen")
    (listed,) = with_states([RUN], [found.incident])

    answer = said(found)

    assert listed.state == state
    assert answer.text.startswith(f"🔴 *run42* is not going on ({state}); until step 1,600 its loss looked normal")
    assert "running" not in words(answer)
    assert f"{kind} was seen" in words(answer)


def test_a_run_whose_log_says_that_it_crashed_is_not_called_well():
    """No incident is needed for it; one that finished well stays green."""
    assert said(run=replace(RUN, state="crashed")).text.startswith("🔴 *run42* is not going on (crashed)")
    assert said(run=replace(RUN, state="finished")).text.startswith("🟢 *run42* looks normal")


def test_a_run_that_nobody_hears_is_not_called_well():
    """Whether it trains is not known."""
    assert said(kept("watcher_silent", Severity.WARNING)).text.startswith("🟠 *run42* is not heard of now")


def test_a_stopped_run_without_a_loss_is_told_as_stopped():
    """Also where there is nothing to draw."""
    empty = RunSeries("run42")

    assert said(kept("stalled"), series=empty).text.startswith("🔴 *run42* is not going on (stalled)")


@pytest.mark.parametrize("state", [*sorted(NOT_GOING_ON), "unheard", "running"])
def test_every_sentence_of_it_is_chinese_too(state):
    """Of every state, beside numbers that look normal, worth watching and wrong."""
    forms = {*_STOPPED.values(), *_UNHEARD.values(), *_AGAINST.values()}
    run = replace(RUN, name="任务", state=state)
    why = "the loss climbed at step 1,211 and stays"

    assert forms - CHINESE.keys() == set()
    with speaking("zh"):
        for health in Health:
            look = Look(health, 1_211.0, why, 1_600.0, 7.1, has_incident=health in _AGAINST)
            assert not english_in(verdict(run, look).plain)
        assert not english_in(Clause(state).plain)


@pytest.mark.parametrize(
    "text",
    [
        "the run is down at step 39: its processes are gone",
        "it had stalled at step 39 before that",
        "it had stalled before that",
        "no watcher of the run can be heard at step 39",
        "no watcher of the run can be heard",
    ],
)
def test_the_incident_that_is_named_is_chinese_too(text):
    """Also the first half of a sentence that is known whole."""
    with speaking("zh"):
        assert not english_in(Clause(text).plain)


@pytest.mark.parametrize("state", sorted(NOT_GOING_ON))
@pytest.mark.parametrize("has_incident", [False, True])
def test_a_loss_that_is_wrong_does_not_hide_that_the_run_is_dead(state, has_incident):
    """Both stand in the first sentence: it went NaN, and it does not go on."""
    look = Look(
        Health.WRONG, since_step=61.0, why="loss is NaN", last_loss=2.9, last_step=60.0, has_incident=has_incident
    )
    told = verdict(replace(RUN, state=state), look).plain

    assert f"not going on ({state})" in told
    assert "loss is NaN" in told


@pytest.mark.parametrize(("state", "gives_advice"), [("crashed", False), ("down", False), ("running", True)])
def test_who_broke_before_the_first_step_is_not_taught_to_print_a_loss(state, gives_advice):
    """There was none to print yet."""
    told = words(loss_answer(Run("olmo-1b", state=state), Look(Health.UNKNOWN), NOW))

    assert ("logging.info" in told) is gives_advice
    assert ("printed no step and no loss" in told) is not gives_advice
