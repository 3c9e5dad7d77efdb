"""Files that tell nothing: nobody is told that all is well, and every reason is named."""

import json
import os
from pathlib import Path

import pytest

from bot.cli import main

BINARY = bytes(range(7)) * 900
NOT_ROOT = pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")


def empty(folder):
    (folder / "train.log").touch()


def no_file(folder):
    del folder


def fifo(folder):
    os.mkfifo(folder / "train.log")


def program(folder):
    (folder / "train.log").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(300))


def random_bytes(folder):
    (folder / "train.log").write_bytes(BINARY)


def no_training(folder):
    (folder / "train.log").write_text("a shopping list\nmilk\nbread\n")


def document(folder):
    (folder / "answer.json").write_text(json.dumps({"category": "none", "loss": {"points": 3}}, indent=1))


THINGS = [
    (empty, "train.log: empty"),
    (no_file, "there is no file to read"),
    (fifo, "not a regular file but a pipe: write what it gives into a file first"),
    (program, "train.log: a program, no log"),
    (random_bytes, "train.log: binary data, no log"),
    (no_training, "train.log: no line of it tells a training step or a loss"),
    (document, "answer.json: no log"),
]


@pytest.mark.parametrize("command", ["inspect", "replay"])
@pytest.mark.parametrize(("make", "why"), THINGS)
def test_what_says_nothing_is_not_called_healthy(command, make, why, tmp_path, capsys):
    """`Cannot tell, because …`, and an exit code that no script takes for good news."""
    make(tmp_path)
    path = tmp_path / "train.log" if make is fifo else tmp_path

    code = main([command, str(path)])

    out = " ".join(capsys.readouterr().out.split())
    assert code == 1
    assert "Cannot tell, because " in out
    assert why in out
    assert "Nothing is wrong" not in out
    assert "would have been opened" not in out


@pytest.mark.parametrize(("make", "why"), THINGS)
def test_programs_read_the_same(make, why, tmp_path, capsys):
    """The category stays `none` (schema 1); what could not be looked at stands under `unknown`."""
    make(tmp_path)
    path = tmp_path / "train.log" if make is fifo else tmp_path

    code = main(["inspect", "--json", str(path)])

    said = json.loads(capsys.readouterr().out)["diagnosis"]
    assert code == 1
    assert (said["category"], said["confidence"]) == ("none", "low")
    assert any(why in reason for reason in said["unknown"])


@pytest.mark.parametrize("make", [empty, program, random_bytes, no_training])
def test_a_first_look_cannot_tell_either(make, tmp_path, capsys):
    """`--sample` of a file without a loss."""
    make(tmp_path)

    assert main(["inspect", "--sample", str(tmp_path / "train.log")]) == 1
    assert "Cannot tell: no training loss" in capsys.readouterr().out


def test_a_first_look_does_not_wait_for_a_fifo(tmp_path, capsys):
    """Nobody may ever write into it."""
    fifo(tmp_path)

    assert main(["inspect", "--sample", str(tmp_path / "train.log")]) == 2
    assert "--sample looks at one log file" in capsys.readouterr().err


def test_one_file_that_tells_is_enough(tmp_path, capsys):
    """What cannot be read beside a healthy log is named, and the log is judged."""
    empty(tmp_path)
    (tmp_path / "rank0.log").write_text("".join(f"step {i} loss {3 - i / 1000:.4f}\n" for i in range(120)))

    assert main(["inspect", str(tmp_path)]) == 0
    assert "Nothing is wrong" in capsys.readouterr().out


@NOT_ROOT
@pytest.mark.parametrize("command", ["inspect", "replay"])
@pytest.mark.parametrize("is_folder", [False, True])
def test_what_may_not_be_read_is_named(command, is_folder, tmp_path, capsys):
    """`Permission denied` is a reason like any other."""
    closed = tmp_path / "a"
    Path.mkdir(closed) if is_folder else closed.touch()
    closed.chmod(0)
    try:
        code = main([command, str(closed)])
    finally:
        closed.chmod(0o700)

    assert code == 1
    assert "Permission denied" in capsys.readouterr().out


@NOT_ROOT
def test_a_path_in_a_closed_folder_cannot_be_read(tmp_path, capsys):
    """A mistake of the person, not a failure of ours."""
    closed = tmp_path / "noperm"
    closed.mkdir(mode=0)

    code = main(["inspect", str(closed / "a.log")])

    closed.chmod(0o700)
    assert code == 2
    assert "Permission denied" in capsys.readouterr().err


def test_a_path_through_a_file_cannot_be_read(tmp_path, capsys):
    """Whatever the system says of a path is said, in one sentence."""
    (tmp_path / "a").touch()

    assert main(["inspect", str(tmp_path / "a" / "b.log")]) == 2
    assert f"Cannot read {tmp_path}/a/b.log: Not a directory." in capsys.readouterr().err
