"""Every kind of trouble has its next steps."""

import pytest

from diagnosis.advice import ADVICE, advice_for
from diagnosis.observations import Category


@pytest.mark.parametrize("category", list(Category))
def test_every_category_has_advice(category):
    steps = advice_for(category)
    assert bool(steps) is (category is not Category.NONE)
    assert len(steps) <= 3
    assert all(step == step.strip() and len(step) < 160 for step in steps)


def test_no_advice_belongs_to_nothing():
    assert set(ADVICE) == set(Category)
