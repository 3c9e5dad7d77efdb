"""Clauses are recognised with bounded work, whatever a log has put into them."""

import random
import re

from handlers.messages import clauses
from handlers.messages.chinese import CHINESE, CLAUSES, SPANS
from handlers.messages.clauses import MOST_LOOKS, Clauses

_PLACE = re.compile(r"\{\w+\}")
_NESTING = [text for text in CLAUSES if re.search(r"\{(?:c\d?|list)\}", text)]


def nested(dice, depth):
    """A clause in a clause in a clause, with halves and sentences in it."""

    def value(_):
        return (
            nested(dice, depth - 1) if depth and dice.random() < 0.8 else dice.choice(["1", "a; b", "a. B", ", ", ": "])
        )

    return _PLACE.sub(value, dice.choice(_NESTING))


def test_what_fits_many_clauses_in_each_other_costs_no_more_than_a_few_looks(monkeypatch):
    """A line of a log that was made for it held the bot for thirteen seconds."""
    looks = []
    monkeypatch.setattr(clauses._Form, "values_in", _counted(clauses._Form.values_in, looks))
    chinese = Clauses(CHINESE, CLAUSES, SPANS)
    forms = sum(_PLACE.search(text) is not None for text in CLAUSES)
    dice = random.Random(7)

    for _ in range(40):
        looks.clear()
        chinese.translate(nested(dice, 5)[: clauses.LONGEST])

        assert len(looks) <= 2 * forms * MOST_LOOKS


def _counted(values_in, looks):
    def counted(form, text):
        looks.append(form)
        return values_in(form, text)

    return counted
