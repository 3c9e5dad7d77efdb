"""Whoever follows a log of Hugging Face's Trainer offline ends where it would end line by line.

Not only what is said in the end is compared, but all that the detectors, the facts and the curves remember.
"""

import random
from collections import deque
from types import MappingProxyType

import pytest

from bot.bulk_reading import BulkLines
from bot.following import Following
from bot.log_lines import PlainLines, Reading
from diagnosis.formats.bulk.judging.absorbing import Absorber
from diagnosis.log_facts import LogFacts
from diagnosis.observations import Origin, StepSample
from tests.counts import examples
from tests.diagnosis.formats.test_fast_paths import whole
from tests.diagnosis.formats.test_weaving import bar

ODD = (
    "{'eval_loss': 2.1, 'eval_runtime': 3.2, 'epoch': 1.0}\n",
    "saving checkpoint to /data/checkpoint-100\n",
    "Traceback (most recent call last):\n",
    "RuntimeError: CUDA error: an illegal memory access was encountered\n",
    "{'train_runtime': 12.1, 'train_loss': 2.0, 'epoch': 3.0}\n",
    "\n",
)


def numbers(style, step, loss, norm, dice):
    """A dict as Trainers print it, with numbers that nobody rounded or with short ones."""
    rate = 1e-6 * min(step, 400) * (1 - step / 40_000)
    if style == "short":
        return (
            f"{{'loss': {loss:.4f}, 'grad_norm': {norm:.4f}, 'learning_rate': {rate:.6e}, 'epoch': {step / 900:.2f}}}"
        )
    told = {"loss": round(loss, 4), "grad_norm": norm, "learning_rate": rate, "epoch": round(step / 900, 2)}
    if style == "more":
        told = {**told, "num_tokens": 512.0 * step, "mean_token_accuracy": dice.random(), "entropy": dice.random()}
    return str(told)


def log_of(seed, *, has_bar=True):
    """What a Trainer prints: calm for long, then a spike, a NaN, slow steps, another line or a step back."""
    dice = random.Random(seed)
    style, every = dice.choice(("short", "whole", "more")), dice.choice((1, 1, 2, 5))
    seconds, step, spent, level, text = dice.choice((0.08, 1.3, 30.0)), 0, 0.0, 0.0, ""
    for _ in range(dice.randrange(3, 7)):
        trouble = dice.choice(("nan", "spike", "norm", "slow", "shift", "line", "back", "vanish", ""))
        count = dice.choice((30, 90, 300, 600))
        odd = dice.randrange(count)
        level += 2.0 * (trouble == "shift")
        for place in range(count):
            newest = ""
            for _ in range(every):
                step += 1
                pace = seconds * (3 if trouble == "slow" and place > odd else dice.choice((1, 1, 1.05)))
                spent += pace
                newest = bar(step, 90_000, pace, spent) if has_bar else ""
                text += newest
            loss = 2 + level + 5 / (step + 1) + dice.random() / 9 + 7 * (trouble == "spike" and odd <= place < odd + 3)
            norm = (dice.random() + 0.5) * (40 if trouble == "norm" and odd <= place < odd + 6 else 1)
            said = numbers(style, step, loss, norm, dice)
            if place == odd:
                said = said.replace("'loss': ", "'loss': nan, 'x': ") if trouble == "nan" else said
                said = said.replace("'loss': ", "'lost': ") if trouble == "vanish" else said
                step = max(0, step - dice.choice((20, 9_000))) if trouble == "back" else step
            text += f"\r{' ' * len(newest)}\r{said}\n{newest}" if has_bar else f"{said}\n"
            text += dice.choice(ODD) if trouble == "line" and place == odd else ""
    return whole(text.encode())


def followed(data, cut, *, in_bulk):
    """Everything that is known after a log."""
    following, facts = Following(), LogFacts()
    if in_bulk:
        reading = Reading(following.take, twins=following.twins, hear_again=following.hear_again)
        lines = BulkLines("train.log", Origin(run="run"), facts, reading)
    else:
        lines = PlainLines("train.log", Origin(run="run"), facts, following.take)
    pieces = [data[:cut], *(data[at : at + (1 << 16)] for at in range(cut, len(data), 1 << 16))]
    assert b"".join(lines.take(iter(pieces))) == data
    lines.close()
    facts.finish({})
    judge = following.judge
    known = {
        "summary": following.summary.as_dict(),
        "findings": following.findings,
        "cleared": following.cleared,
        "changes": {
            name: value for name, value in vars(following.changes).items() if name not in {"_attempts", "checkpoints"}
        },
        "curve": {name: state(one) for name, one in following.curve.thinner._metrics.items()},
        "facts": state(facts),
        "pace": state(facts.pace),
        "spans": judge.attempts.spans(),
        "ranks": [
            (rank.last, [state(one) for one in (*rank.detectors, *rank.series.detectors)], rank.series.block)
            for rank in judge._ranks.values()
        ],
    }
    return settled(known)


def state(one):
    """All that an object remembers."""
    names = getattr(type(one), "__slots__", None) or vars(one)
    left_out = {"_thresholds", "_tracebacks", "pace", "_before"}
    return {name: getattr(one, name, None) for name in names if name not in left_out}


def settled(told):
    """Plain values that can be compared."""
    if isinstance(told, StepSample):
        fields = tuple(sorted(told.fields.items()))
        return repr((told.origin, told.step, told.loss, told.grad_norm, told.lr, told.time, told.evidence, fields))
    if isinstance(told, dict | MappingProxyType):
        return {repr(name): settled(value) for name, value in told.items()}
    if isinstance(told, tuple | list | deque):
        return [settled(one) for one in told]
    if isinstance(told, float):
        return repr(told)
    return repr(told) if type(told).__repr__ is not object.__repr__ else settled(state(told))


@pytest.mark.parametrize("seed", range(examples(8)))
@pytest.mark.parametrize("has_bar", [True, False])
def test_dicts_are_followed_as_single_lines_are(seed, has_bar):
    """Whatever happens in a run, with the bar and without, and wherever its bytes are cut."""
    data = log_of(seed, has_bar=has_bar)
    place = random.Random(seed).randrange(len(data))

    slow = followed(data, place, in_bulk=False)
    fast = followed(data, place, in_bulk=True)

    assert slow == fast


@pytest.mark.parametrize("at", [300, 500, 700])
def test_an_error_is_told_at_the_step_of_the_dicts_above_it(at):
    """Without the bar these get their steps later than it is read."""
    dice = random.Random(at)
    told = [numbers("whole", step, 2 + 5 / (step + 1), dice.random() + 0.5, dice) for step in range(1, 1200)]
    data = "".join(f"{line}\n" for line in (*told[:at], ODD[3].strip(), *told[at:])).encode()

    slow = followed(data, 1000, in_bulk=False)
    fast = followed(data, 1000, in_bulk=True)

    assert slow == fast
    assert f"step={at}, " in str(fast["'facts'"])


@pytest.mark.parametrize("seed", [2, 3])
def test_points_that_say_nothing_are_passed_by(seed, monkeypatch):
    """Else the bulk would be no faster."""
    passed, move = [], Absorber._pass

    def counted(of, run):
        passed.append(move(of, run))
        return passed[-1]

    monkeypatch.setattr(Absorber, "_pass", counted)
    data = log_of(seed)

    followed(data, len(data) // 2, in_bulk=True)

    assert sum(passed) > 500
