"""Every next step tells a person what to do, and says it once."""

from itertools import combinations

import pytest

from diagnosis.advice import ADVICE
from diagnosis.instructions import MOST_STEPS, is_said_by, sentence, without_repeats
from diagnosis.signatures import ROWS
from diagnosis.signatures.xid import XIDS

VERBS = frozenset(
    {
        "Ask",
        "Cache",
        "Check",
        "Collect",
        "Compare",
        "Cool",
        "Correct",
        "Do",
        "Drain",
        "End",
        "Exclude",
        "Find",
        "Follow",
    }
    | {
        "Give",
        "Go",
        "Keep",
        "Leave",
        "Look",
        "Lower",
        "Offload",
        "Only",
        "Open",
        "Preprocess",
        "Raise",
        "Read",
        "Reboot",
    }
    | {"Requeue", "Reset", "Restart", "Resume", "Run", "Save", "Set", "Start", "Suspect", "Switch", "Take", "Update"}
    | {"Watch", "Write"}
)
STEPS = {
    **{f"row {name}": (row.advice,) for name, row in ROWS.items() if row.advice},
    **{f"category {category}": steps for category, steps in ADVICE.items() if steps},
    **{f"Xid {number}": (xid.action,) for number, xid in XIDS.items()},
}


@pytest.mark.parametrize("where", STEPS)
def test_every_step_begins_with_what_to_do(where):
    """No riddle, no remark: somebody reads it at night and acts."""
    for step in STEPS[where]:
        assert sentence(step).split()[0].strip(",;:") in VERBS, step
        assert len(step) <= 160, step


@pytest.mark.parametrize("name", sorted(ROWS))
def test_a_row_and_its_category_do_not_say_the_same(name):
    """At most four, none of which repeats another."""
    steps = without_repeats([ROWS[name].advice, *ADVICE[ROWS[name].category]], MOST_STEPS)

    assert len(steps) <= MOST_STEPS
    assert not [pair for pair in combinations(steps, 2) if is_said_by(*pair)]


def test_the_same_in_other_words_is_dropped():
    """The first way to say it stays."""
    steps = without_repeats(
        [
            "Drain the node, `nvidia-smi -q -d ECC,ROW_REMAPPER`, reset the GPU.",
            "drain the node; nvidia-smi -q -d ECC,ROW_REMAPPER; reset the GPU, replace it when it comes back",
            "start again without that node from the newest checkpoint",
        ],
        4,
    )

    assert steps == [
        "Drain the node, `nvidia-smi -q -d ECC,ROW_REMAPPER`, reset the GPU.",
        "Start again without that node from the newest checkpoint.",
    ]
