"""Replay: what would have been posted about a log, and when."""

import gzip
import json

import pytest

from bot.cli import FINE, USAGE, main
from bot.replay import Posted, Replayed, replay
from bot.terminal.replay import print_replay
from diagnosis.thresholds import Thresholds


def line(step, loss, second=None):
    """A step every 10 seconds from 11:00 on, unless told otherwise."""
    second = step * 10 if second is None else second
    clock = f"{11 + second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
    return f"2026-11-03 {clock} step={step} loss={loss} lr=0.0001 grad_norm=1.5\n"


def healthy(count, first=1):
    """Lines of a run that is well."""
    return "".join(line(step, f"{2 + 3 / (step + 1) + step * 7919 % 101 / 5000:.4f}") for step in range(first, count))


@pytest.fixture
def log(tmp_path):
    """A log to be written."""
    return tmp_path / "train.log"


def test_a_healthy_log_opens_no_thread(log):
    """Nothing is said, and its points and days are counted."""
    log.write_text(healthy(600))

    done = replay([log])

    assert (done.pages, done.points) == ([], 599)
    assert {day: counts["threads"] for day, counts in done.by_day().items()} == {"2026-11-03": 0}


def test_a_nan_is_posted_once_with_its_moment(log):
    """Many NaNs are one thread, at the log's own time, with rule and line."""
    log.write_text(healthy(600) + "".join(line(step, "nan") for step in range(600, 640)))

    (page,) = replay([log]).pages
    said = page.as_dict()

    assert (said["kind"], said["severity"], said["step"]) == ("nonfinite_loss", "critical", 600)
    assert said["time"] == "2026-11-03 12:40:00"
    assert said["evidence"]["line"] == 600


def test_a_pause_beyond_the_pace_is_a_stall_that_ends(log):
    """The thread opens when the allowed time is over, and is over with the next step."""
    log.write_text(healthy(300) + line(300, 2.0, 3000 + 3600))

    opened, over = replay([log]).posted

    assert (opened.finding.kind, opened.finding.step) == ("stalled", 299)
    assert over.what == "over"
    assert over.time - opened.time > 3000


def test_missing_lines_are_no_stall(log):
    """A thousand steps later is not a pause."""
    log.write_text(healthy(300) + "".join(line(step, 2.0) for step in range(1300, 1310)))

    assert replay([log]).pages == []


def test_a_threshold_can_be_tried(log):
    """A lower jump rule makes more marks; nobody is called for a mark."""
    log.write_text(healthy(400) + line(400, 2.6) + healthy(450, first=401))

    marks = [sum(replay([log], Thresholds(jump_delta=delta)).marks.values()) for delta in (1.0, 0.4)]

    assert marks[0] < marks[1]


def test_a_log_without_a_clock_is_played_too(log):
    """Then its day is not known, and its findings stand without a time."""
    log.write_text("".join(f"step={s} loss={2.0 if s < 300 else float('nan')} lr=0.1\n" for s in range(1, 320)))

    done = replay([log])

    assert [page.time for page in done.pages] == [None]
    assert done.by_day()["no date"]["threads"] == 1


def test_the_command_prints_a_summary_and_json(log, capsys):
    """For people and for programs; exit 0 either way."""
    log.write_text(healthy(300) + line(300, "nan"))

    assert main(["replay", str(log)]) == FINE
    text = capsys.readouterr().out
    assert main(["replay", "--json", "--set", "jump.delta=0.5", str(log)]) == FINE
    told = json.loads(capsys.readouterr().out)

    assert "1 thread would have been opened" in text
    assert [one["what"] for one in told["posted"]] == ["opens a thread"]


@pytest.mark.parametrize(
    ("setting", "told"),
    [("jump.delt=1", "Did you mean jump_delta?"), ("jump", "NAME=VALUE"), ("jump.delta=x", "wants")],
)
def test_a_wrong_setting_is_answered_with_what_is_right(setting, told, log, capsys):
    """Exit 2, with the near name or the form."""
    log.write_text(healthy(10))

    assert main(["replay", "--set", setting, str(log)]) == USAGE
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (1, "1 more only edits a thread or is kept quiet: --all shows it"),
        (3, "3 more only edit a thread or are kept quiet: --all shows them"),
    ],
)
def test_what_is_left_out_is_counted_in_good_english(count, words, capsys):
    """One of them is one."""
    print_replay(Replayed([Posted("edit", None, None, "x")] * count))

    assert words in capsys.readouterr().out


def test_a_log_that_was_cut_is_no_log_of_a_quiet_run(tmp_path, capsys):
    """What was not read of it is said beside what would have been posted."""
    log, packed = tmp_path / "train.log.gz", gzip.compress(healthy(9000).encode())
    log.write_bytes(packed[: len(packed) // 2])

    assert main(["replay", str(log)]) == FINE
    text = capsys.readouterr().out
    assert main(["replay", "--json", str(log)]) == FINE

    (unread,) = json.loads(capsys.readouterr().out)["unread"]
    assert unread.startswith("train.log.gz: packed, and its end is missing")
    assert f"Not read: {unread}" in text
