"""The plain jump rule: it marks, and never says more."""

import pytest

from diagnosis.detectors.jump import PlainJump
from diagnosis.thresholds import Thresholds
from tests.diagnosis.lines import INF, NAN, Watching, course, findings, jumps


@pytest.fixture
def watching():
    return Watching(PlainJump(Thresholds()))


def test_a_jump_is_marked_at_the_later_point(watching):
    """From, to and the step where it arrived."""
    watching.feed(course([2.0, 3.5, 3.4]))

    (jump,) = jumps(watching.said)
    assert (jump.step, jump.from_loss, jump.to_loss, jump.rule) == (2, 2.0, 3.5, "jump")
    assert findings(watching.said) == []


@pytest.mark.parametrize("losses", [[2.0, 3.0], [3.0, 2.0], [2.0, 2.9, 3.8], [5.0], [None, 5.0]])
def test_exactly_the_limit_is_no_jump(watching, losses):
    """More than 1, not 1; and the first point has no neighbour."""
    assert watching.feed(course(losses)) == []


@pytest.mark.parametrize("hole", [NAN, INF, None])
def test_neighbours_are_finite_points(watching, hole):
    """A NaN or a missing loss between two points does not hide the jump."""
    watching.feed(course([2.0, hole, 4.0]))

    assert [(jump.step, jump.from_loss) for jump in jumps(watching.said)] == [(3, 2.0)]


def test_the_limit_is_a_setting():
    """`jump.delta=0.5` marks smaller ones."""
    watching = Watching(PlainJump(Thresholds.from_text({"jump.delta": "0.5"})))

    watching.feed(course([2.0, 2.6]))

    assert len(jumps(watching.said)) == 1
