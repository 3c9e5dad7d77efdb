"""A learned shape reads the next line of its kind as the dialect would, and nothing else."""

from hypothesis import given
from hypothesis import strategies as st

from diagnosis.formats.dialects import GENERAL
from diagnosis.formats.line_format import values_of
from diagnosis.formats.shapes import Shape, Shapes

LINE = "2.5x [node 7] step: 12/600, loss: 2.3100 (2.1), lr 1.0e-04 | tok/s 17,482 eta 0:01:02"


def learned(line):
    """The shape of a line as the general reader understands it."""
    found = GENERAL.find(line)
    assert found is not None
    return Shape("general", found, line, None, None)


@given(
    step=st.integers(0, 10**9),
    loss=st.floats(allow_nan=False),
    rate=st.floats(0, 1),
    total=st.integers(1, 10**6),
    gap=st.integers(0, 10**6),
)
def test_other_numbers_in_the_same_words_are_read(step, loss, rate, total, gap):
    """As the dialect itself reads them."""
    line = f"2.5x [node {gap}] step: {step}/{total}, loss: {loss} (2.1), lr {rate} | tok/s 17,482 eta 0:01:02"
    read = learned(LINE).read(line)
    found = GENERAL.find(line)

    assert read is not None
    assert found is not None
    assert read[0] == values_of(line, found)


def test_non_finite_numbers_fit_the_shape_of_finite_ones():
    """The news must not take the long way alone."""
    read = learned(LINE).read(LINE.replace("2.3100", "nan").replace("1.0e-04", "-inf"))

    assert read is not None
    assert read[0]["loss"] != read[0]["loss"]
    assert read[0]["lr"] == float("-inf")


def test_a_message_at_the_end_does_not_fit():
    """What is glued to a line must be looked at."""
    assert learned(LINE).read(LINE + "slurmstepd: error: *** JOB 1 CANCELLED ***") is None


def test_other_words_do_not_fit():
    """`val loss` has the shape of `loss` but for its words."""
    assert learned(LINE).read(LINE.replace("loss", "val_loss")) is None
    assert learned(LINE).read(LINE.replace("2.3100", "two")) is None


def test_a_source_of_many_shapes_is_not_learned_for_ever():
    """Compiling a pattern costs more than one slow line."""
    shapes = Shapes()
    for number in range(200):
        line = f"word{'x' * number} step: 5, loss: 2.5"
        found = GENERAL.find(line)
        assert found is not None
        shapes.learn("general", found, line, None, None)

    assert len(shapes.known) <= 6
