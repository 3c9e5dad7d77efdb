"""Reading many lines at a time says, to the last field, what reading them one by one says."""

import json
import random
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.inspect import inspect
from diagnosis.formats import LogReader
from diagnosis.formats.bulk.block import StepBlock
from diagnosis.formats.bulk.reader import BulkReader
from diagnosis.formats.bulk.weaving import Woven
from diagnosis.observations import Origin, StepSample
from tests.counts import examples


def plain(step, loss):
    """A script of one's own."""
    return f"step={step} loss={loss:.4f} lr=0.0001 grad_norm={loss / 2:.3f}\n"


def megatron(step, loss):
    """Megatron-LM with a clock."""
    return (
        f" [2024-05-13 {step // 3600 % 24:02d}:{step // 60 % 60:02d}:{step % 60:02d}] iteration {step:8d}/   99999 | "
        f"consumed samples: {step * 8:12d} | elapsed time per iteration (ms): {900 + loss:.1f} | learning rate: "
        f"3.000E-04 | global batch size: {8 << step // 150:5d} | lm loss: {loss:.6E} | loss scale: 1.0 | grad norm: {loss / 2:.3f} | "
        "number of skipped iterations:   0 | number of nan iterations:   0 |\n"
    )


def titan(step, loss):
    """Torchtitan of one rank, with its tag."""
    return (
        f"[rank0]:[titan] 2024-05-13 11:{step // 60 % 60:02d}:{step % 60:02d},{step % 1000:03d} - root - INFO - step: "
        f"{step:2d}  loss: {loss:7.4f}  memory: 47.21GiB(49.69%)  tps: {7000 + step:,}  mfu: 35.1%\n"
    )


def hugging_face(step, loss):
    """A dict behind its bar."""
    bar = f"\r  1%|▏         | {step}/99999 [{step // 60:02d}:{step % 60:02d}<99:59,  1.01s/it]"
    return f"{bar}\r{' ' * 40}\r{{'loss': {loss:.4f}, 'grad_norm': {loss / 2:.4f}, 'epoch': {step / 1e4:.2f}}}\n{bar}"


def json_line(step, loss):
    """Metrics as JSON lines."""
    return json.dumps({"step": step, "loss": loss, "lr": 1e-4}) + "\n"


def epochs(step, loss):
    """A counter that begins anew with each epoch."""
    return f"Epoch {step // 20} | batch {step % 20} | loss {loss:.3f} | lr 0.01\n"


def headed(step, loss):
    """The same, where only a heading tells the epoch."""
    heading = f"epoch {step // 40 + 1}/99\n" if step % 40 == 0 else ""
    return f"{heading}{step % 40 + 1}/40, train_loss: {loss:.4f}\n"


WRITERS = (plain, megatron, titan, hugging_face, json_line, epochs, headed)
NOISE = (
    "",
    "\n",
    "saving checkpoint to /data/ckpt/iter_0000100\n",
    "Traceback (most recent call last):\n",
    "step=12 loss=\n",
    "step=7 loss=nan lr=0.0001 grad_norm=nan\n",
    "step=900000 loss=2.5 lr=0.0001 grad_norm=1.25 slurmstepd: error: *** JOB 1 CANCELLED ***\n",
    "\x1b[36mstep=13 loss=2.0 lr=0.0001 grad_norm=1.0\x1b[0m\n",
    "validation loss at iteration 100 | lm loss value: 2.5E+00 |\n",
    "\xff\xfe\0\0\n",
    "evaluating\r\n",
)
SEGMENTS = st.lists(
    st.tuples(
        st.sampled_from(WRITERS),
        st.integers(0, 400),
        st.integers(1, 60),
        st.sampled_from((1, 1, 1, 10)),
        st.sampled_from(NOISE),
        st.sampled_from(("", "", "  3: ", "[default1]:", "2024-05-01T12:00:00.5Z stdout F ")),
        st.sampled_from(("\n", "\n", "\r\n")),
    ),
    min_size=1,
    max_size=6,
)


@st.composite
def logs(draw):
    """Stretches of several dialects, their counters going on or back, with other lines between and inside them."""
    text = ""
    for write, first, count, stride, noise, prefix, end in draw(SEGMENTS):
        odd = draw(st.integers(0, 2 * count))
        for place in range(count):
            step = first + place * stride
            loss = float("nan") if place == odd else 2 + 5 / (step + 1) + (step * 7919 % 101) / 500
            text += prefix + write(step, loss).replace("\n", end)
            if place == odd // 2:
                text += noise
    return text.encode("utf-8", "surrogateescape")


def named_by_several(*prefixes):
    """Torchtitan of one rank behind one launcher and then another, its steps going back at the change."""
    text = ""
    for prefix in prefixes:
        text += "".join(prefix + titan(step, 2.5) for step in range(68, 128))
    bar = "\r  1%|▏         | 80/99999 [01:20<99:59,  1.01s/it]"
    text += "step=0 loss=nan\n" * 2 + prefixes[-1] + bar
    return (text + "".join(prefixes[-1] + titan(step, 2.5) for step in range(90, 300, 10))).encode()


def one_by_one(data):
    """What reading single lines says."""
    reader = LogReader("train.log", Origin(run="run"))
    seen = []
    for line in data.split(b"\n")[:-1]:
        seen += reader.feed(line + b"\n")
    return reader, seen + reader.close()


def told(reader, seen):
    """Everything that somebody may see of a reading; the order of a sample's fields means nothing."""
    flat = [
        repr(replace(one, fields=dict(sorted(one.fields.items()))) if isinstance(one, StepSample) else one)
        for one in seen
    ]
    return flat, reader.dialect, reader.envelope, reader.ranks, reader.unread, reader.tracebacks


def whole(data):
    """A log as its writer leaves it: with an end to its last line."""
    return data if data.endswith(b"\n") else data + b"\n"


@given(data=logs(), cut=st.floats(0, 1))
@example(data=named_by_several("  3: ", "2024-05-01T12:00:00.5Z stdout F "), cut=0.0)
@settings(max_examples=examples(150))
def test_stretches_say_what_single_lines_say(data, cut):
    """Live: lines read by the hundred, cut at any byte."""
    data = whole(data)
    place = int(cut * len(data))
    reader = LogReader("train.log", Origin(run="run"))

    seen = reader.feed(data[:place]) + reader.feed(data[place:]) + reader.close()

    assert told(*one_by_one(data)) == told(reader, seen)


@given(data=logs(), cut=st.floats(0, 1))
@example(data=named_by_several("  3: ", "2024-05-01T12:00:00.5Z stdout F "), cut=0.0)
@settings(max_examples=examples(150))
def test_columns_say_what_single_lines_say(data, cut):
    """Offline: lines read as columns, cut at any byte."""
    data = whole(data)
    place = int(cut * len(data))
    reader = BulkReader("train.log", Origin(run="run"))

    items = reader.read(data[:place]) + reader.read(data[place:]) + reader.finish()

    seen = [one for item in items for one in (item.samples() if isinstance(item, StepBlock | Woven) else (item,))]
    assert told(*one_by_one(data)) == told(reader, seen)


@pytest.mark.parametrize("seed", range(4))
def test_a_big_log_is_judged_as_a_small_one(seed, tmp_path, monkeypatch):
    """`inspect` answers the same whether a log is read and judged line by line or in bulk."""
    lines = []
    for step in range(1, 3001):
        loss = 2 + 30 / (step + 5) + (step * 7919 % 101) / 1500
        loss += 6 if seed == 1 and 2000 <= step < 2003 else 3 if seed == 2 and step > 2500 else 0
        loss = float("nan") if seed == 3 and step > 2900 else loss
        lines.append(WRITERS[seed % 3](step, loss))
    log = tmp_path / "train.log"
    log.write_text("".join(lines))

    monkeypatch.setattr("bot.log_lines.BULK_FROM", 1 << 40)
    slow = inspect([log]).as_json()
    monkeypatch.setattr("bot.log_lines.BULK_FROM", 0)
    fast = inspect([log]).as_json()

    assert json.loads(slow) == json.loads(fast)


def test_a_bar_does_not_take_rank_and_time_of_the_line_before_it():
    """A line that begins with CR has no envelope of its own."""
    text = titan(3, 2.5) + "\r  1%|▏ | 1/9 [00:01<00:09,  1.01s/it, loss=1.5]\n"

    seen = one_by_one(text.encode())[1]

    assert [(one.origin.rank, one.loss) for one in seen] == [(0, 2.5), (None, 1.5)]


@pytest.mark.parametrize("seed", [0, 6, 8, 12, 50, 58])
def test_a_window_that_is_not_full_is_judged_point_by_point(seed, tmp_path, monkeypatch):
    """Bumps and NaN while the detectors still fill their windows, again and again."""
    dice, lines, step, level = random.Random(seed), [], 1, 2.0
    for _ in range(6):
        for _ in range(dice.choice((20, 70, 90, 110, 300))):
            loss = level + dice.random() / 15 + (dice.random() < 0.03) * dice.choice((0.04, 0.1, 3))
            lines.append(f"step={step} loss={loss:.4f}\n")
            step += 1
        level += dice.choice((0, 0.1, 2))
        lines.append(f"step={step} loss=nan\n")
        step += 1
    log = tmp_path / "train.log"
    log.write_text("".join(lines))

    monkeypatch.setattr("bot.log_lines.BULK_FROM", 1 << 40)
    slow = inspect([log]).as_json()
    monkeypatch.setattr("bot.log_lines.BULK_FROM", 0)
    fast = inspect([log]).as_json()

    assert json.loads(slow) == json.loads(fast)
