"""A big log read by a second process is judged as if one process had read it."""

import json
import os
import random

import pytest

from bot import log_lines
from bot.inspect import inspect

BIG = 1 << 40


def plain(step, loss):
    """A script of one's own."""
    return f"step={step} loss={loss:.4f} lr=0.0001 grad_norm={loss / 2:.3f}\n"


def tagged(step, loss):
    """Two ranks in one file, with their times."""
    stamp = f"2024-05-13 11:{step // 60 % 60:02d}:{step % 60:02d},{step % 1000:03d}"
    return "".join(
        f"[rank{rank}]:[titan] {stamp} - root - INFO - step: {step:2d}  loss: {loss:7.4f}  tps: {7000 + step:,}\n"
        for rank in (0, 1)
    )


def bars(step, loss):
    """A dict behind its bar."""
    bar = f"\r  1%|▏         | {step}/99999 [{step // 60:02d}:{step % 60:02d}<99:59,  1.01s/it]"
    return f"{bar}\r{' ' * 40}\r{{'loss': {loss:.4f}, 'grad_norm': {loss / 2:.4f}, 'epoch': {step / 1e4:.2f}}}\r\n{bar}"


def bars_alone(step, loss):
    """The same as it is written to a file."""
    return bars(step, loss).replace("\r\n", "\n")


NOISE = (
    "saving checkpoint to /data/ckpt/iter_0000100\n",
    "Traceback (most recent call last):\n",
    "torch.cuda.OutOfMemoryError: CUDA out of memory.\n",
    "\xff\xfe\n",
    "",
)


@pytest.mark.parametrize("write", [plain, tagged, bars, bars_alone])
def test_two_processes_say_what_one_says(write, tmp_path, monkeypatch):
    """Points, findings with their lines, attempts, ranks, what the file says of itself."""
    dice = random.Random(write.__name__)
    text, step = "", 1
    for _ in range(4):
        for _ in range(dice.randrange(100, 400)):
            loss = 2 + 30 / (step + 5) + dice.random() / 15
            text += write(step, float("nan") if step == 300 else loss)
            step += 1
        text += dice.choice(NOISE)
        step = max(1, step - dice.choice((0, 0, 90)))
    log = tmp_path / "train.log"
    log.write_text(text, errors="surrogateescape")
    monkeypatch.setattr(log_lines, "BULK_FROM", 0)
    monkeypatch.setattr(log_lines, "has_two_cores", lambda: True)

    monkeypatch.setattr(log_lines, "TWO_FROM", BIG)
    one = inspect([log])
    monkeypatch.setattr(log_lines, "TWO_FROM", 0)
    told = []
    two = inspect([log], progress=told.append)

    assert json.loads(one.as_json()) == json.loads(two.as_json())
    assert repr(one.series()) == repr(two.series())
    assert sum(told) == log.stat().st_size


def test_a_reader_that_is_killed_is_said(tmp_path, monkeypatch):
    """What was not read is not passed off as read."""
    log = tmp_path / "train.log"
    log.write_text("".join(plain(step, 2.0) for step in range(1, 2000)))
    monkeypatch.setattr(log_lines, "BULK_FROM", 0)
    monkeypatch.setattr(log_lines, "TWO_FROM", 0)
    monkeypatch.setattr(log_lines, "has_two_cores", lambda: True)
    monkeypatch.setattr("bot.second_reader._COMMAND", ("/bin/sh", "-c", "cat > /dev/null; kill -9 $$"))

    answer = inspect([log])

    assert [file.problem for file in answer.case.files] == ["the process that read it was ended"]
    assert os.strerror(5) not in answer.as_json()
