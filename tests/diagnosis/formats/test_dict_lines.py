"""Dicts of Hugging Face's Trainer without its bar, read as columns, say what reading them one by one says."""

import random

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from diagnosis.formats.bulk.block import StepBlock
from diagnosis.formats.bulk.reader import BulkReader
from diagnosis.formats.reader import LogReader
from diagnosis.formats.settings import ReadSettings
from diagnosis.observations import Origin
from tests.counts import examples
from tests.diagnosis.formats.test_fast_paths import told, whole

BETWEEN = (
    "saving checkpoint to /data/checkpoint-100\n",
    "\n",
    "Traceback (most recent call last):\n",
    "{'train_runtime': 12.1, 'train_loss': 2.0, 'epoch': 3.0}\n",
    "{'eval_loss': 2.1, 'eval_runtime': 3.2, 'epoch': 1.0}\n",
    "{'loss': 2.25, 'step': 12}\n",
    "{'loss': 2.25, 'epoch': 0.5}\n",
    "{'loss': 2.25, 'grad_norm': 0.5, 'learning_rate': 1e-05, 'epoch': 0.5, 'note': {'kind': 'a, b'}}\n",
    "{'loss': 2.25, 'grad_norm': np.float64(0.5), 'learning_rate': 1e-05, 'epoch': 0.5}\n",
    "{'loss': 2.25, 'grad_norm': 0.5, 'learning_rate': 1e-05, 'epoch': 0.5} and more\n",
    "{'loss': inf, 'grad_norm': nan, 'learning_rate': 0.0, 'epoch': 0.5}\n",
    "{'loss': 0.0, 'grad_norm': 1e+300, 'learning_rate': 5e-324, 'epoch': 0.5}\n",
    "{'loss': -2.5, 'grad_norm': 9007199254740993, 'learning_rate': 1e400, 'epoch': 0.5}\n",
    "{'loss': 2.25, 'grad_norm': 0.5, 'learning_rate': 1e-05, 'epoch': 0.5}, {'loss': 2.25}\n",
    "{'loss': 2.25,  'grad_norm': 0.5, 'learning_rate': 1e-05, 'epoch': 0.5}\n",
    "{'loss': 2.25, 'grad_norm': 0.5, 'learning_rate': 1e-05, 'epoch': 0.123456789012345678901234567}\n",
    "{'loss': 2.25, 'grad_norm': '0.5', 'learning_rate': 1e-05, 'epoch': 0.5}\n",
    "step 12 loss 2.25\n",
    "Num Epochs = 3\n",
    "  Total optimization steps = 5,000\n",
    "***** Running training *****\n",
    "\r  5%|▏ | 30/600 [00:01<00:09, 1.01s/it]",
    "\x1b[36mhello\x1b[0m\n",
    "\0\0\n",
)
PREFIXES = ("", "", "", "[rank0]: ", "[default1]:", "  3: ", "2024-05-13 11:07:21,123 - INFO - ")


def numbers(style, step, dice):
    """A dict as three versions of the Trainer and TRL print it."""
    loss, norm = 2 + 5 / (step + 1) + dice.random() / 9, dice.choice((0.01, 1, 1, 1, 30)) * dice.random()
    rate, epoch = 3e-4 * (1 - step / 90_000), 3 * step / 5_000
    if style == "short":
        return f"{{'loss': {loss:.4f}, 'grad_norm': {norm:.4f}, 'epoch': {epoch:.2f}}}"
    if style == "v5":
        return f"{{'loss': '{loss:.4g}', 'grad_norm': '{norm:.4g}', 'learning_rate': '{rate:.4g}', 'epoch': '{epoch:.4g}'}}"
    if style == "newest":
        return str(
            {"loss": loss - 3, "grad_norm": norm, "learning_rate": rate / 6, "epoch": epoch / 7, "kl": -norm * rate}
        )
    said = {"loss": round(loss, 4), "grad_norm": norm, "learning_rate": rate, "epoch": round(epoch, 2)}
    if style == "trl":
        said = {"loss": said.pop("loss"), "num_tokens": 512.0 * step, "entropy": dice.random(), **said}
    if style == "steps":
        said = {**said, "step": step}
    return str(said)


def clean(style, count, prefix=""):
    """A log in which nothing happens."""
    dice = random.Random(5)
    return "".join(f"{prefix}{numbers(style, step, dice)}\n" for step in range(10, 10 * count, 10)).encode()


@st.composite
def logs(draw):
    """Long stretches of dicts of one or two processes, with other lines between them."""
    dice = draw(st.randoms(use_true_random=False))
    style, prefix = (
        draw(st.sampled_from(("short", "whole", "newest", "v5", "trl", "steps"))),
        draw(st.sampled_from(PREFIXES)),
    )
    oddity, end = draw(st.sampled_from((0.0, 0.002, 0.01))), draw(st.sampled_from(("\n", "\n", "\r\n")))
    has_others = draw(st.sampled_from((False, False, True)))
    text, step = draw(st.sampled_from(("", "***** Running training *****\n", "Num Epochs = 3\n"))), 0
    for _ in range(draw(st.sampled_from((40, 300, 560)))):
        step += 10
        said = numbers(style, step, dice)
        text += prefix + said + end
        text += f"[rank1]: {said}\n" if has_others else ""
        text += dice.choice(BETWEEN) if dice.random() < oddity else ""
        style = dice.choice(("short", "whole", "newest", "v5", "trl")) if dice.random() < oddity / 4 else style
    return whole(text.encode())


def one_by_one(data, interval):
    """What reading single lines says."""
    reader = LogReader("train.log", Origin(run="run"), settings=ReadSettings(logging_interval=interval))
    seen = []
    for line in data.split(b"\n")[:-1]:
        seen += reader.feed(line + b"\n")
    return reader, seen + reader.close()


def read(data, cut, interval):
    """The reader after a log that it got in two pieces, all that it said, and how many points came in blocks."""
    reader = BulkReader("train.log", Origin(run="run"), settings=ReadSettings(logging_interval=interval))
    items = reader.read(data[:cut]) + reader.read(data[cut:])
    recent, items = reader.recent_lines(None), items + reader.finish()
    seen = [one for item in items for one in (item.samples() if isinstance(item, StepBlock) else (item,))]
    return reader, seen, sum(len(item) for item in items if isinstance(item, StepBlock)), recent


@given(data=logs(), cut=st.floats(0, 1), interval=st.sampled_from((None, None, 10)))
@example(data=clean("whole", 600), cut=0.5, interval=None)
@example(data=clean("trl", 600), cut=0.5, interval=10)
@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_dicts_in_columns_say_what_single_dicts_say(data, cut, interval):
    """Whatever stands between them, cut at any byte."""
    reader, seen, _, recent = read(data, int(cut * len(data)), interval)

    slow, expected = one_by_one(data, interval)

    assert told(slow, expected) == told(reader, seen)
    assert slow.recent_lines(None) == recent


@pytest.mark.parametrize("style", ["short", "whole", "newest", "v5", "trl", "steps"])
@pytest.mark.parametrize("prefix", ["", "[rank0]: "])
@pytest.mark.parametrize("interval", [None, 10])
def test_most_of_a_quiet_log_comes_in_blocks(style, prefix, interval):
    """Numbers of any width, with a step or without."""
    data = clean(style, 2000, prefix)

    reader, seen, in_blocks, _ = read(data, 0, interval)

    assert told(*one_by_one(data, interval)) == told(reader, seen)
    assert in_blocks > 0.6 * len(seen)
