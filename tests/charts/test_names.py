import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from charts.names import one_line, shortened
from tests.counts import examples


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("my\nrun\t7", "my run 7"),
        ("  a   b ", "a b"),
        ("evil\u202egnp.exe", "evilgnp.exe"),
        ("zero\u200bwidth", "zerowidth"),
        ("half \ud83d surrogate", "half surrogate"),
        ("Z" + "\u0351" * 50, "Z\u0351\u0351"),
        ("$\\alpha$ <!channel>", "$\\alpha$ <!channel>"),
        ("\x1b[31mred", "[31mred"),
    ],
)
def test_a_name_becomes_one_harmless_line(name, line):
    """No second line, no turned direction, no half character, no tower of marks; letters stay."""
    assert one_line(name) == line


def test_the_middle_of_a_long_name_goes_first():
    """Runs differ at the ends of their names."""
    assert shortened("llama-7b-pretrain-lr3e-4-seed7", 20) == "llama-7b-pret…-seed7"
    assert shortened("short", 20) == "short"
    assert shortened("ab", 1) == "…"


@given(st.text(max_size=600), st.integers(1, 50))
@settings(max_examples=examples(200))
def test_any_text_fits(text, most):
    """Never longer than asked, and always something that can be encoded."""
    line = shortened(one_line(text), most)

    assert len(line) <= most
    line.encode()
