"""The last lines before a run fell quiet survive whatever its abort prints."""

import random
import tracemalloc

import pytest

from diagnosis.formats.reader import LogReader
from diagnosis.observations import Origin
from diagnosis.thresholds import Thresholds
from watcher.last_bytes import LEAST_BYTES, PER_LOG_BYTES, PER_RUN_BYTES, LastBytes
from watcher.quiet import Quiet

LIMITS = Thresholds(stall_min=100.0, stall_after=600.0, stall_evidence_min=10.0)


def reader():
    made = LogReader("rank3.log", Origin("run42", "n1", 3))
    made.feed(b"".join(b"step %d loss 2.0\n" % step for step in range(1, 9)), 1.0)
    made.feed(b"waiting for the barrier\n", 2.0)
    return made


def test_a_thousand_lines_of_an_abort_do_not_hide_the_last_words():
    """Kept at half the shortest threshold."""
    quiet, log = Quiet(LIMITS), reader()
    quiet.look(1000.0, 1000.0 + 51.0, [log])

    log.feed(b"".join(b"frame #%d: unknown function\n" % n for n in range(1000)), 3.0)

    lines = quiet.newest(log)[3]
    assert any(line.text == "waiting for the barrier" and line.line == 9 for line in lines)
    assert lines[-1].text == "frame #999: unknown function"


def test_nothing_is_kept_while_steps_come():
    """And what was kept is let go with the next one."""
    quiet, log = Quiet(LIMITS), reader()
    quiet.look(1000.0, 1049.0, [log])
    assert quiet.since is None

    quiet.look(1000.0, 1051.0, [log])
    assert quiet.since == 1000.0

    quiet.look(1052.0, 1053.0, [log])
    assert quiet.since is None


def test_a_snapshot_shows_four_hundred_lines_of_each_rank_from_before():
    """Whatever the abort prints, and however the log is rotated; packed, and never more than its share."""
    quiet, last = Quiet(LIMITS), LastBytes()
    log = LogReader("out.log", Origin("run42", "n1"))
    for step in range(1000):
        for rank in range(4):
            last.add("out.log", b"[rank%d] step %d loss 2.0 and so on and on\n" % (rank, step))

    quiet.look(1000.0, 1000.0 + 51.0, [log], last.of)
    for _ in range(5000):
        last.add("out.log", b"frame #9: unknown function\n")

    lines = quiet.texts()["out.log"].splitlines()
    assert next(line for line in lines if line.startswith("[rank3]")) == "[rank3] step 600 loss 2.0 and so on and on"
    assert len(lines) == 1600
    assert not any(line.startswith("frame") for line in lines)
    quiet.look(1052.0, 1053.0, [log], last.of)
    assert quiet.texts() == {}


def test_the_newest_bytes_are_bounded():
    """By log, and by run however many logs it has."""
    last = LastBytes()
    for log in range(400):
        for _ in range(40):
            last.add(f"{log}.log", b"x" * 9999 + b"\n")

    assert max(len(last.of(f"{log}.log")) for log in range(400)) <= PER_LOG_BYTES + 10_000
    assert sum(len(last.of(f"{log}.log")) for log in range(200, 400)) <= 200 * (PER_RUN_BYTES // 200 + 20_000)


@pytest.mark.parametrize("size", [700, 4096, PER_LOG_BYTES])
def test_a_thousand_logs_of_one_run_hold_sixteen_mebibytes_and_a_quarter_more(size):
    """Whatever the pieces, and whoever wrote much while there were few of them."""
    last, pieces = LastBytes(), max(2, 24_000 // size)
    for log in range(20):
        last.add(f"{log}.log", b"y" * PER_LOG_BYTES)
    tracemalloc.start()

    for _ in range(pieces):
        for log in range(1000):
            last.add(f"{log}.log", bytes(bytearray(b"x" * (size - 1) + b"\n")))

    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sum(len(last.of(f"{log}.log")) for log in range(1000)) <= 1000 * LEAST_BYTES * 5 / 4
    assert held < 1000 * (LEAST_BYTES * 3 // 2 + 4096)


def test_the_newest_bytes_of_a_log_are_its_end():
    """Pieces of any size, cut anywhere; whole lines."""
    dice, last, data = random.Random(5), LastBytes(), b""
    for _ in range(3000):
        piece = b"".join(b"%d\n" % dice.randrange(10**9) for _ in range(dice.randrange(1, 60)))
        at = dice.randrange(len(piece))
        for part in (piece[:at], piece[at:]):
            last.add("train.log", part)
        data += piece

    kept = last.of("train.log")

    assert data.endswith(b"\n" + kept)
    assert PER_LOG_BYTES * 0.9 < len(kept) <= PER_LOG_BYTES * 5 // 4
