"""Log lines of our own processes, whatever stands in a name or in an exception's text."""

import io
import logging

import pytest

from watcher.plain_logging import PlainFormatter


@pytest.fixture
def log():
    """A logger and what it wrote."""
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(PlainFormatter("%(levelname)s %(message)s"))
    logger = logging.getLogger("tests.plain_logging")
    logger.propagate = False
    logger.addHandler(handler)
    yield logger, out
    logger.removeHandler(handler)


def fail(text):
    """Somebody else's words."""
    raise ValueError(text)


def test_a_name_forges_no_line_and_moves_no_cursor(log):
    """A run that is called by a newline and an escape sequence."""
    logger, out = log
    logger.warning("no run %s", "x\nERROR forged\x1b[2J\x07\u202e\x9b\r")

    assert out.getvalue() == "WARNING no run x\\nERROR forged\\x1b[2J\\x07\\u202e\\x9b\\r\n"


def test_the_text_of_an_exception_forges_none_either(log):
    """A traceback keeps its lines; none of them can be taken for one of the log."""
    logger, out = log
    try:
        fail("bad\nERROR forged\x1b]0;owned\x07")
    except ValueError:
        logger.exception("failed")

    head, *rest = out.getvalue().splitlines()
    assert head == "ERROR failed"
    assert all(line.startswith("  ") and line.isprintable() for line in rest)
    assert "  ERROR forged\\x1b]0;owned\\x07" in rest
    assert any("test_plain_logging.py" in line for line in rest)


def test_every_language_stays_readable(log):
    """Only what cannot be printed is escaped."""
    logger, out = log
    logger.warning("训练 läuft 🟢")

    assert out.getvalue() == "WARNING 训练 läuft 🟢\n"
