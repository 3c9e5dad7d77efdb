"""A step is read from the head of a line, however much somebody has printed behind it."""

import math

import pytest

from tests.diagnosis.formats.reading import read, samples

BEFORE = "".join(f"step {step}/1000 loss {3 - step / 100:.2f} lr 1e-4\n" for step in range(1, 40))


@pytest.mark.parametrize("length", [100, 7_000, 8_500, 20_000, 70_000])
@pytest.mark.parametrize("behind", ["B", "sample text ", "a,", "1.5 "])
def test_a_step_stands_before_a_long_text(length, behind):
    """The first bad step among them."""
    line = "step 40/1000 loss nan lr 1e-4 | " + (behind * length)[:length] + "\n"

    seen = samples(read(BEFORE + line))

    assert [one.step for one in seen] == list(range(1, 41))
    assert math.isnan(seen[-1].loss)


def test_no_number_is_cut_in_two():
    """One that stands where the head ends is left out."""
    line = "step 40/1000 lr 1e-4 " + "-" * 4066 + " loss 2.123456789 " + "B" * 9_000 + "\n"

    assert [one.step for one in samples(read(BEFORE + line)) if one.loss is not None] == list(range(1, 40))


def test_a_long_line_without_a_step_is_none():
    """A configuration that is printed on one line, most often."""
    assert samples(read("loss 2.5 lr 1e-4 epoch 3 " + "B" * 9_000 + "\n")) == []
