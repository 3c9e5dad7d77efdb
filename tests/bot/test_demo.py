"""The demo's recorded runs say what they promise, to their last line: it may be left alone for an hour."""

import pytest

from bot.demo.stage import PLAYS, SAMPLES, Replay
from bot.replay import replay

WHOLE = [play for play in PLAYS if isinstance(play, Replay) and play.last_words]


@pytest.mark.parametrize("play", WHOLE, ids=lambda play: play.run)
def test_a_run_that_ends_well_is_not_told_otherwise(play, tmp_path):
    """Nothing is said of the healthy one, of none that it was told to stop."""
    log = tmp_path / f"{play.run}.log"
    log.write_bytes((SAMPLES / play.sample).read_bytes() + play.last_words.encode())

    said = replay([log]).posted

    assert said == [] or play.run != "gpt2-124m"
    assert [one.text for one in said if "TIME LIMIT" in one.text] == []
