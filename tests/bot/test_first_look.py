"""A first picture from windows: it says that it is sampled, shows what it read exactly, and keeps to its time."""

import pytest

from bot.cli import FINE, USAGE, main
from bot.first_look import HEAD, WINDOW, first_look


def written(path, steps, spike=None):
    """A log of one's own script; `spike` is a step with a loss of 99."""
    path.write_text(
        "".join(
            f"step={step} loss={99.0 if step == spike else 2 + 5 / step:.4f} lr=0.0001\n" for step in range(1, steps)
        )
    )
    return path


def test_a_big_log_is_sampled_from_end_to_end(tmp_path):
    """First and last point are there, and the series knows what it is."""
    log = written(tmp_path / "train.log", 120_000)

    look = first_look(log)

    assert look.series.is_sampled
    assert (look.series.loss.steps[0], look.series.loss.steps[-1]) == (1.0, 119_999.0)
    assert HEAD < look.bytes_read < look.size
    assert look.dialect == "key and value"


def test_a_small_log_is_read_whole(tmp_path):
    """Nothing was left out, and nothing says so."""
    look = first_look(written(tmp_path / "train.log", 300, spike=200))

    assert look.is_whole
    assert not look.series.is_sampled
    assert (look.points, max(look.series.loss.values)) == (299, 99.0)


def test_a_spike_in_a_window_is_shown_as_it_was_logged(tmp_path):
    """The extremes of what was read are exact."""
    look = first_look(written(tmp_path / "train.log", 120_000, spike=119_990))

    assert max(look.series.loss.highs) == 99.0


def test_no_value_is_cut_at_the_edge_of_a_window(tmp_path):
    """A number that is cut still looks like one."""
    log = tmp_path / "train.log"
    log.write_text("".join(f"step={step} loss=2.{'5' * 40} lr=0.1\n" for step in range(1, 40_000)))

    loss = first_look(log).series.loss

    assert {*loss.lows, *loss.highs} == {float("2." + "5" * 40)}


def test_it_keeps_to_its_time(tmp_path):
    """When every window takes a second, only one more is read: the end."""
    log = written(tmp_path / "train.log", 120_000)
    ticks = iter(range(1000))

    look = first_look(log, seconds=0.5, clock=lambda: float(next(ticks)))

    assert look.windows == 2
    assert look.bytes_read <= HEAD + 2 * WINDOW


def test_the_command_says_that_it_is_sampled(tmp_path, capsys):
    """One line, the curve, and a picture when it is asked for."""
    log, picture = written(tmp_path / "train.log", 60_000), tmp_path / "loss.png"

    assert main(["inspect", "--sample", "--chart", str(picture), str(log)]) == FINE

    assert "sampled: " in capsys.readouterr().out
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("words", [["--json"], ["."]])
def test_it_is_for_one_log_and_a_person(words, tmp_path, capsys):
    """Anything else is answered with what it is for."""
    log = written(tmp_path / "train.log", 100)

    assert main(["inspect", "--sample", str(log), *words]) == USAGE
    assert "one log file" in capsys.readouterr().err
