"""Bars and dicts of Hugging Face's Trainer, read as columns, say what reading them piece by piece says."""

import random
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from diagnosis.formats.bulk.block import StepBlock
from diagnosis.formats.bulk.reader import BulkReader
from diagnosis.formats.bulk.weaving import Woven
from diagnosis.formats.reader import LogReader
from diagnosis.formats.woven import WovenStretch
from diagnosis.observations import Origin
from tests.counts import examples
from tests.diagnosis.formats.test_fast_paths import one_by_one, told, whole

PARTS = " ▏▎▍▌▋▊▉█"
BETWEEN = (
    "saving\n",
    "\n",
    "\r",
    "Traceback (most recent call last):\n",
    "{'train_runtime': 12.1, 'train_loss': 2.0, 'epoch': 3.0}\n",
    "{'eval_loss': 2.1, 'eval_runtime': 3.2, 'epoch': 1.0}\n",
    "step=7 loss=nan\n",
    "step 12 loss 2.25\n",
    "{'loss': 2.25, 'step': 12}\n",
    "\x1b[36mhello\x1b[0m\n",
    "\0\0\n",
    "\r  5%|▏ | 3/60 [00:01<00:09, 1.01s/it, loss=1.5]\n",
    "\rEvaluating: 10%|▏ | 3/30 [00:01<00:09, 1.01s/it]",
    "  0%|          | 0/50 [00:00<?, ?it/s]",
    "NCCL WARN something broke\n",
    "***** Running training *****\n",
)


def bar(step, total, seconds, spent):
    """A redraw as tqdm prints it."""
    cells = step * 80 // total
    drawn = ("█" * (cells // 8) + (PARTS[cells % 8] if cells < 80 else "")).ljust(10)
    clock = f"{spent // 3600:.0f}:{spent // 60 % 60:02.0f}:" if spent >= 3600 else f"{spent // 60:02.0f}:"
    rate = f"{seconds:5.2f}s/it" if seconds > 1 else f"{1 / seconds:5.2f}it/s"
    return f"\r{step * 100 // total:3d}%|{drawn}| {step}/{total} [{clock}{int(spent) % 60:02d}<99:59, {rate}]"


def numbers(style, step, total, dice):
    """A dict as three versions of the Trainer print it."""
    loss = 2 + 5 / (step + 1) + (step * 7919 % 101) / 500
    norm, lr, epoch = 3 * dice.random(), 3e-4 * (1 - step / (2 * total)), 3 * step / total
    if style == "short":
        return f"{{'loss': {loss:.4f}, 'grad_norm': {norm:.4f}, 'epoch': {epoch:.2f}}}"
    if style == "newest":
        return str({"loss": loss - 3, "grad_norm": norm, "learning_rate": lr / 6, "epoch": epoch})
    if style == "whole":
        return f"{{'loss': {round(loss, 4)}, 'grad_norm': {norm}, 'learning_rate': {lr}, 'epoch': {round(epoch, 2)}}}"
    return f"{{'loss': '{loss:.4g}', 'grad_norm': '{norm:.4g}', 'learning_rate': '{lr:.4g}', 'epoch': '{epoch:.4g}'}}"


def clean(style, every, dicts, total=100_000):
    """A log in which nothing happens."""
    dice, text = random.Random(5), ""
    for step in range(1, every * dicts + 1):
        newest = bar(step, total, dice.choice((1.01, 1.02)), 1.01 * step)
        text += newest
        if step % every == 0:
            text += f"\r{' ' * len(newest)}\r{numbers(style, step, total, dice)}\n{newest}"
    return whole(text.encode())


@st.composite
def logs(draw):
    """Logs in which bars lag or are missing, steps go back, numbers are none, and other lines stand between."""
    dice = draw(st.randoms(use_true_random=False))
    style, every = (
        draw(st.sampled_from(("short", "short", "whole", "newest", "v5"))),
        draw(st.sampled_from((1, 1, 2, 5))),
    )
    total, oddity = draw(st.sampled_from((60, 300, 5000, 100_000))), draw(st.sampled_from((0.0, 0.01, 0.05)))
    spent, seconds = draw(st.sampled_from((0, 50, 3500))), draw(st.sampled_from((0.02, 0.3, 1.01, 2.5)))
    lag, has_copy = draw(st.sampled_from((0.0, 0.0, 0.02))), draw(st.booleans())
    end, prefix = draw(st.sampled_from(("\n", "\n", "\n", "\r\n"))), draw(st.sampled_from(("", "", "", "  0: ")))
    text, step = "", draw(st.sampled_from((0, 0, 7, 40)))
    for _ in range(draw(st.integers(12, 90))):
        for _ in range(every):
            step, spent = step + 1, spent + seconds
            if step > total:
                step, total = dice.choice(((1, total), (step, 2 * total)))
            newest = bar(step, total, seconds * dice.choice((1, 1.1)), spent)
            text += newest if dice.random() >= lag else ""
        text += f"\r{' ' * dice.choice((len(newest), 80))}\r{prefix}"
        said = numbers(style, step, total, dice)
        text += (said.replace("'loss': 2", "'loss': nan, 'x': 2") if dice.random() < oddity else said) + end
        text += newest if has_copy else ""
        text += dice.choice(BETWEEN) if dice.random() < oddity else ""
        step = dice.choice((0, max(0, step - 20), step + 50)) if dice.random() < oddity / 2 else step
    return whole(text.encode())


def read(data, cut=0):
    """The reader after a log that it got in two pieces, all that it said, and how many points were woven."""
    reader = BulkReader("train.log", Origin(run="run"))
    items = reader.read(data[:cut]) + reader.read(data[cut:]) + reader.finish()
    seen = [one for item in items for one in (item.samples() if isinstance(item, StepBlock | Woven) else (item,))]
    return reader, seen, sum(len(item) for item in items if isinstance(item, Woven))


@given(data=logs(), cut=st.floats(0, 1))
@settings(max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow])
def test_woven_points_say_what_single_pieces_say(data, cut):
    """Whatever happens to bars and dicts, cut at any byte."""
    reader, seen, _ = read(data, int(cut * len(data)))

    assert told(*one_by_one(data)) == told(reader, seen)


@pytest.mark.parametrize(("style", "every"), [("short", 1), ("short", 10), ("whole", 10), ("newest", 5), ("v5", 5)])
def test_most_of_a_quiet_log_is_woven(style, every):
    """Numbers of any width, and a bar that fills."""
    data = clean(style, every, 600)

    reader, seen, woven = read(data)

    assert told(*one_by_one(data)) == told(reader, seen)
    assert woven > 0.7 * len(seen)


@given(data=logs(), cuts=st.lists(st.floats(0, 1), max_size=4))
@settings(max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_live_bars_and_dicts_in_stretches_say_what_single_pieces_say(data, cuts):
    """The same live: whatever happens to bars and dicts, read in any pieces."""
    places = sorted({0, *(int(cut * len(data)) for cut in cuts), len(data)})
    reader, seen = LogReader("train.log", Origin(run="run")), []
    for start, stop in pairwise(places):
        seen += reader.feed(data[start:stop])

    assert told(*one_by_one(data)) == told(reader, seen + reader.close())


@pytest.mark.parametrize(("style", "every"), [("short", 1), ("short", 10), ("whole", 10), ("v5", 5)])
def test_most_of_a_quiet_log_comes_in_live_stretches(style, every):
    """Numbers of any width, and a bar that fills."""
    data = clean(style, every, 600)
    reader = LogReader("train.log", Origin(run="run"))

    seen = reader.feed_stretches(data)

    woven = sum(one.count_of_both(0, len(one)) for one in seen if isinstance(one, WovenStretch))
    assert woven > 0.7 * 600 * (every + 1)
