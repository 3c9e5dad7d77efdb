"""Lines made to hurt: they cost time in proportion to their length, and never an exception."""

import pytest

from diagnosis.formats import LogReader
from diagnosis.observations import Origin

LENGTH = 60_000
DIGITS = "9" * LENGTH
HOSTILE = {
    "a step of 60,000 digits": f"step={DIGITS} loss=2.5 lr=1",
    "a loss of 60,000 digits": f"step=1 loss={DIGITS} lr=1",
    "a rank of 60,000 digits": f"[rank{DIGITS}]: step=1 loss=2 lr=1",
    "a local rank of 60,000 digits": f"[default{DIGITS}]:step=1 loss=2 lr=1",
    "an evaluation's step of 60,000 digits": f"step {DIGITS}: train loss 1.5, val loss 1.7",
    "a bar of 60,000 digits": f" 50%|x| {DIGITS}/{DIGITS} [00:10<00:10,  1.00s/it]",
    "blanks and a bar's mark": " " * LENGTH + "%|",
    "blanks between words": "step" + " " * LENGTH + "loss",
    "words without end": "step loss " * (LENGTH // 10),
    "words of one letter": "a " * (LENGTH // 2) + "step loss",
    "brackets": "[" * LENGTH + "step loss",
    "braces": "{" * LENGTH + '"loss',
    "quotes": "{'loss': " + "'" * LENGTH,
    "equals signs": "step=" * (LENGTH // 5) + "loss",
    "colons": "step:" * (LENGTH // 5) + "loss: 2",
    "pipes": "| loss " * (LENGTH // 7) + "iteration 5/10 |",
    "escapes": "\x1b[" * (LENGTH // 2) + "loss step",
    "a year that is none": "0000-01-01 00:00:00 step=1 loss=2.0 lr=1",
    "superscript digits": "step=² loss=³ lr=¹ [rank²] 2024-05-01 12:00:²² x",
    "digits of another script": "step=٣ loss=٢ lr=١",
    "nested json": '{"loss": ' + "[" * LENGTH,
    "commas": "step,loss" + ",x" * (LENGTH // 2),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_line_is_read_without_an_exception(name):
    """And in time: a pattern that took time with the square of the line would outlast the test's limit."""
    data = (HOSTILE[name] + "\n").encode()
    reader = LogReader("train.log", Origin())

    # The second time, a learned shape may be tried.
    reader.feed(data * 20)
    reader.close()

    assert reader.lines == 20
