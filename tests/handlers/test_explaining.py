"""Of a run whose numbers went bad, what is asked of its nodes is why it stands or died."""

import pytest

from bot.causes import details_of, origin_of
from diagnosis.case import Case
from diagnosis.findings import Finding, Severity
from diagnosis.observations import Category, Evidence, Origin
from diagnosis.root_cause import diagnose
from handlers.explaining import _beside_the_numbers
from handlers.messages.languages import speaking
from handlers.messages.phrase import Clause
from registry import Run

NAN = Finding(
    "nonfinite_loss", Severity.CRITICAL, Origin("run42", "n1", 0), "loss is NaN", (Evidence("a.log", 7, "nan"),), 61
)


def asked(*, is_down):
    case = Case(findings=[NAN], looked_at=1_000_000.0)
    found = diagnose(case)
    assert found.category is Category.NAN_INF
    return _beside_the_numbers(case, found, is_down=is_down)


@pytest.mark.parametrize(
    ("language", "said"), [("en", "No node shows another reason"), ("zh", "没有节点显示它结束的其他")]
)
def test_a_death_that_nobody_explains_says_just_that(language, said):
    """The NaN is known already: neither it nor what to do about it is told again, and no rank is blamed."""
    told = details_of(asked(is_down=True))

    with speaking(language):
        assert said in Clause(told["more"], has_code=True).plain
    assert "\n" not in told["more"]
    assert not told["next"]
    assert origin_of(Run("run42"), asked(is_down=True)).rank is None


def test_a_stall_is_never_explained_by_numbers():
    """NaN holds no process up: who waits for whom is another question."""
    assert asked(is_down=False).category is Category.NONE
