from charts.figures.glyphs import MISSING, drawable, families


def test_known_letters_stay():
    """Latin, Greek, Cyrillic, Hebrew, Arabic and signs come with matplotlib's own font."""
    assert drawable("run42 · αβ жя שלום عربي → −1.0e-4") == "run42 · αβ жя שלום عربي → −1.0e-4"


def test_unknown_letters_become_a_box():
    """A letter no font has is one box, so that the name keeps its length."""
    assert drawable("a\U0001f525b") == f"a{MISSING}b"
    assert len(drawable("很长的名字")) == 5


def test_the_first_font_is_everywhere():
    """DejaVu Sans is shipped with matplotlib; the others are extras of the machine."""
    assert families()[0] == "DejaVu Sans"
