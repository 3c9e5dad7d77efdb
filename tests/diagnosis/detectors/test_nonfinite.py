"""Non-finite loss and grad norm: said at the first one, silent where a scale search is lawful."""

import pytest

from diagnosis.detectors.nonfinite import NonFinite, came_back
from diagnosis.findings import Severity
from diagnosis.thresholds import Thresholds
from tests.diagnosis.lines import INF, NAN, Watching, calm, cleared, course, findings, kinds, sample, saving, skip


@pytest.fixture
def watching():
    return Watching(NonFinite(Thresholds()))


@pytest.mark.parametrize(("value", "word"), [(NAN, "NaN"), (INF, "infinite"), (-INF, "minus infinite")])
def test_the_first_nonfinite_loss_is_critical(watching, value, word):
    """At once, with the last good point and the step."""
    watching.feed(course([2.31, 2.30], first=41198))

    (finding,) = findings(watching.feed(sample(41200, value)))
    assert (finding.kind, finding.severity) == ("nonfinite_loss", Severity.CRITICAL)
    assert (finding.step, finding.last_good_step) == (41200, 41199)
    assert finding.text == f"loss is {word} since step 41,200; last good: step 41,199 with loss 2.30"


def test_an_episode_is_said_once(watching):
    """A run that goes on with NaN weights prints thousands of such lines."""
    watching.feed(course([2.3] + [NAN] * 50))

    assert kinds(watching.said) == ["nonfinite_loss"]


def test_a_run_that_is_nan_from_the_first_step_says_so(watching):
    """There is no good point to name."""
    (finding,) = findings(watching.feed(course([NAN, NAN])))

    assert finding.text == "loss is NaN since step 1; no point before it was finite"
    assert finding.last_good_step is None


def test_the_details_tell_what_a_tired_person_looks_for(watching):
    """Grad norms, learning rate, loss scale and the newest checkpoint before it."""
    watching.feed(saving(41000))
    for step, norm in ((41197, 0.9), (41198, 4.7), (41199, 96.0)):
        watching.feed(sample(step, 2.31, norm, 1e-4, loss_scale=65536.0 if step < 41199 else 8192.0))
    watching.feed(saving(41200))

    (finding,) = findings(watching.feed(sample(41200, NAN, NAN, 1e-4, loss_scale=4096.0)))
    assert finding.details == {
        "value": "NaN",
        "last_good_step": "41,199",
        "last_good_loss": "2.31",
        "grad_norms": "0.9 → 4.7 → 96 → NaN",
        "lr": "1.0e-4",
        "lr_change": "unchanged",
        "loss_scale": "65,536 → 8,192 → 4,096",
        "checkpoint": "41,000",
    }


def test_a_learning_rate_that_moved_is_named(watching):
    """The case of the run whose rate was set to 1e18 one step before."""
    watching.feed(sample(39, 2.1, 1.0, 1e-3), sample(40, 2.1, 1.0, 1e18))

    (finding,) = findings(watching.feed(sample(41, NAN, NAN, 1e18)))
    assert finding.details["lr_change"] == "1.0e-3 → 1.0e18"


def test_a_nan_grad_norm_beside_a_zero_loss_is_a_hidden_nan(watching):
    """Trainer's filter prints 0.0 for a NaN loss."""
    watching.feed(course(calm(30), grad_norm=2.0, every=10))

    (finding,) = findings(watching.feed(sample(310, 0.0, NAN)))
    assert (finding.kind, finding.severity) == ("nonfinite_grad_norm", Severity.CRITICAL)
    assert "hides a NaN" in finding.text


def test_a_nan_grad_norm_without_a_loss_field_says_that_it_is_gone(watching):
    """Megatron drops `lm loss` from the line of a NaN step."""
    watching.feed(course(calm(30), grad_norm=2.0))

    (finding,) = findings(watching.feed(sample(31, None, NAN)))
    assert "loss field is gone" in finding.text


@pytest.mark.parametrize("value", [NAN, INF, -INF])
def test_a_bad_grad_norm_beside_a_good_loss_is_a_warning_until_it_stays(watching, value):
    """One overflow is usually skipped by the optimizer; five in a row are not luck."""
    watching.feed(course(calm(30), grad_norm=2.0))

    watching.feed(sample(31, 2.3, value))
    watching.feed([sample(32 + more, 2.3, value) for more in range(5)])

    assert [(one.kind, one.severity) for one in findings(watching.said)] == [
        ("nonfinite_grad_norm", Severity.WARNING),
        ("nonfinite_grad_norm", Severity.CRITICAL),
    ]
    assert {one.step for one in findings(watching.said)} == {31}


@pytest.mark.parametrize(
    "search",
    [
        [sample(step, 11.0, INF, 0.0) for step in range(1, 12)],
        [sample(step, 11.0, NAN, 1e-5, skipped_steps=1.0) for step in range(1, 12)],
        [seen for step in range(1, 12) for seen in (skip(step), sample(step, 11.0, INF, 1e-5))],
        [sample(step, 11.0, NAN, 1e-5) for step in range(1, 4)],
        [sample(step, 11.0, INF, 1e-5) for step in range(1, 10)],
    ],
    ids=["lr 0.0", "counter", "printed skips", "few at the start", "halvings from 65,536 that nobody tells"],
)
def test_a_scale_search_at_the_start_is_lawful(watching, search):
    """fp16 finds its loss scale by overflowing: nothing is said."""
    assert watching.feed(search, course(calm(30), first=12, grad_norm=3.0)) == []


def test_a_search_that_finds_nothing_is_said(watching):
    """Ten in a row at the start are more than PyTorch's scale takes."""
    (finding,) = findings(watching.feed([sample(step, 11.0, INF, 1e-5) for step in range(1, 12)]))

    assert (finding.kind, finding.severity, finding.step) == ("nonfinite_grad_norm", Severity.CRITICAL, 1)


def test_a_skipped_step_in_the_middle_is_lawful(watching):
    """One overflow whose step the log says was skipped."""
    watching.feed(course(calm(100), grad_norm=2.0))

    assert watching.feed(skip(101), sample(101, 2.3, INF), course(calm(20), first=102, grad_norm=2.0)) == []


def test_it_is_over_after_three_finite_points(watching):
    """NaN weights never come back; a skipped batch does."""
    watching.feed(course([2.3, NAN, 2.3, 2.3]))
    assert cleared(watching.said) == []

    watching.feed(sample(5, 2.3))
    assert cleared(watching.said) == ["nonfinite_loss"]

    watching.feed(sample(6, NAN))
    assert kinds(watching.said) == ["nonfinite_loss", "nonfinite_loss"]


@pytest.mark.parametrize(("bad", "after"), [(1, "one bad point"), (3, "3 bad points"), (7, "7 bad points")])
def test_the_end_names_the_first_finite_step_and_how_many_were_bad(watching, bad, after):
    """Not the step at which it was sure that it is over."""
    watching.feed(course(calm(149), grad_norm=2.0), [sample(150 + more, 2.3, NAN) for more in range(bad)])

    *_, over = watching.feed(course([2.25, 2.3, 2.3], first=150 + bad, grad_norm=2.0))
    assert over.text == (
        f"grad norm is finite again at step {150 + bad} (loss 2.25), after {after}; the bad steps were probably skipped"
    )


def test_a_whole_log_says_where_it_ended_instead_of_since(watching):
    """Who reads it afterwards is not told of something that is over as if it went on."""
    said = watching.feed(course([2.3, NAN, NAN, 2.2, 2.3, 2.3]))

    assert came_back(*said).text == (
        "loss is NaN from step 2; finite again at step 4 (loss 2.2), after 2 bad points; "
        "last good: step 1 with loss 2.30"
    )


def test_a_loss_that_follows_its_grad_norm_tells_both(watching):
    """The last good step is the last with both finite."""
    watching.feed(course(calm(118), grad_norm=2.0), sample(119, 3.491, NAN))

    (finding,) = findings(watching.feed([sample(step, NAN, NAN) for step in range(120, 151)]))
    assert (finding.kind, finding.severity, finding.step) == ("nonfinite_loss", Severity.CRITICAL, 120)
    assert finding.last_good_step == 118
    assert finding.text.startswith("loss is NaN since step 120, the grad norm not finite since step 119; last good: ")


def test_a_grad_norm_after_a_nan_loss_is_no_skipped_step(watching):
    """The weights may be NaN."""
    watching.feed(course(calm(30), grad_norm=2.0), sample(31, NAN, NAN))

    (finding,) = findings(watching.feed(sample(32, 2.3, NAN)))
    assert (finding.kind, finding.severity) == ("nonfinite_grad_norm", Severity.CRITICAL)


def test_a_zero_loss_does_not_end_an_episode(watching):
    """After a NaN, 0.0 is the NaN in disguise."""
    watching.feed(course(calm(30)), sample(31, NAN), course([0.0] * 20, first=32))

    assert cleared(watching.said) == []


def test_an_evaluation_that_is_nan_is_a_warning(watching):
    """The training loss is finite, so the run may go on."""
    watching.feed(course(calm(30)))

    (finding,) = findings(watching.feed(sample(30, None, eval_loss=NAN), sample(31, None, eval_loss=NAN)))
    assert (finding.kind, finding.severity) == ("nonfinite_eval", Severity.WARNING)


def test_only_a_finite_evaluation_ends_the_warning(watching):
    """Training points say nothing about it."""
    watching.feed(course(calm(30)), sample(30, None, eval_loss=NAN), course(calm(30), first=31))
    assert cleared(watching.said) == []

    watching.feed(sample(60, None, eval_loss=2.4))
    assert cleared(watching.said) == ["nonfinite_eval"]


def test_a_lawful_zero_of_grpo_says_nothing(watching):
    """GRPO's loss starts at 0.0 with a finite grad norm."""
    assert watching.feed(course([0.0] * 100, grad_norm=0.09)) == []
