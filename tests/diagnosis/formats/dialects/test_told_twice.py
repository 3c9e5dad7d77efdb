"""One step that several lines tell counts once, and a bar that counts optimizer steps is believed."""

import pytest

from tests.diagnosis.formats.reading import losses, read, samples


def bar(step: int, total: int = 100) -> str:
    return f"\r {step:3d}%|▏         | {step}/{total} [{step:02d}:10<10:10,  1.70s/it]"


BLANK = "\x1b[34m          \x1b[0m"


def callback(step: int) -> str:
    return f"step {step} loss {3 - step / 100:.4f}\n"


def trainer(step: int) -> str:
    return f"{{'loss': {3 - step / 100:.4f}, 'grad_norm': 1.25, 'learning_rate': 1e-05, 'epoch': {step / 100:.2f}}}\n"


def test_a_callback_and_the_trainers_dict_are_one_step():
    """The dict adds the grad norm at the step that the callback has told."""
    seen = samples(read("".join(callback(step) + trainer(step) for step in range(10, 110, 10))))

    assert [one.step for one in seen if one.loss is not None] == list(range(10, 110, 10))
    assert [one.step for one in seen if one.grad_norm is not None] == list(range(10, 110, 10))
    assert {one.step_kind for one in seen} == {"printed"}


def test_dicts_that_a_buffer_held_back_are_still_the_same_steps():
    """Five callbacks, then their five dicts."""
    blocks = [range(first, first + 50, 10) for first in (10, 60)]
    text = "".join("".join(map(callback, block)) + "".join(map(trainer, block)) for block in blocks)

    assert len(losses(read(text))) == 10


def rounded(step: int) -> str:
    """The dict of version 5: strings of four digits."""
    return f"{{'loss': '{3 - step / 100 + 0.0004:.4g}', 'grad_norm': '1.25', 'epoch': '{step / 100:.4g}'}}\n"


@pytest.mark.parametrize("dict_of", [trainer, rounded])
def test_a_callback_may_come_after_its_dict(dict_of):
    """The dict waits for its step, and the line behind it tells which it is."""
    text = "".join(
        dict_of(step) + f"step={step} | loss={3 - step / 100 + 0.0004 * (dict_of is rounded):.6f} | lr=8.04e-08\n"
        for step in range(10, 60, 10)
    )

    seen = samples(read(text))

    assert [(one.step, one.step_kind) for one in seen if one.loss is not None] == [
        (step, "printed") for step in range(10, 60, 10)
    ]
    assert all(one.grad_norm == 1.25 for one in seen)


@pytest.mark.parametrize(("first", "expected"), [(0, [10, 20, 30, 40, 50]), (1, [20, 20, 30, 40])])
def test_a_dict_that_lags_a_line_behind_its_callback_keeps_its_step(first, expected):
    """stdout in a file: the dict of step 10 comes out when the bar stands at 20; cut, it is believed."""
    pieces = [bar(10) + callback(10)]
    pieces += [
        "".join(map(bar, range(step - 9, step + 1))) + rounded(step - 10) + callback(step) for step in range(20, 60, 10)
    ]
    text = "".join(pieces[first:]) + bar(51)

    assert [one.step for one in samples(read(text)) if one.loss is not None] == expected


def test_each_dict_has_a_step_of_its_own():
    """ChatGLM-Efficient-Tuning's PPO prints a dict, then the bar of its step: no two dicts are of one step."""
    text = "".join(f"{{'loss': {step}.5, 'reward': 1.0, 'learning_rate': 5e-05}}\n{bar(step)}" for step in range(1, 6))

    assert losses(read(text)) == [(step, step + 0.5) for step in range(1, 6)]


def test_another_loss_is_another_step():
    """A script that prints its own batches beside the trainer's means has both."""
    text = "".join(f"step {step} loss {2.5 + step / 1000:.4f}\n" for step in range(1, 11)) + trainer(10)

    assert len([one for one in samples(read(text)) if one.loss is not None]) == 11


def cookbook(accumulated: int, batches: int = 12, epochs: int = 2, end: str = "\r") -> str:
    """The redraws of llama-cookbook: one at the update, with the description of the batch before, one a batch."""
    lines = []
    total = batches // accumulated
    for epoch in range(1, epochs + 1):
        done, name = 0, f"Training Epoch: {epoch}"
        bar = f"| 0/{total} [00:00<?, ?it/s]"
        for batch in range(batches):
            if (batch + 1) % accumulated == 0:
                done += 1
                bar = f"| {done}/{total} [00:0{done % 10}<00:01,  2.27it/s]"
                lines.append(f"{name}:  20%|{BLANK}{bar}")
            loss = 3 - (epoch * batches + batch) / 100
            name = f"Training Epoch: {epoch}/{epochs}, step {batch}/{batches} completed (loss: {loss})"
            lines.append(f"{name}:  20%|{BLANK}{bar}")
    return end.join(lines) + "\n"


@pytest.mark.parametrize("end", ["\r", "\n"])
@pytest.mark.parametrize("accumulated", [1, 2, 3, 4, 6])
def test_accumulated_batches_belong_to_the_step_they_complete(accumulated, end):
    """llama-cookbook names the batch and counts the optimizer steps; the loss of a step is that of its last batch."""
    seen = [one for one in samples(read(cookbook(accumulated, end=end))) if one.loss is not None]

    steps = 2 * 12 // accumulated
    assert [one.step for one in seen] == list(range(1, steps + 1))
    assert [one.loss for one in seen] == pytest.approx(
        [3 - (12 + step * accumulated - 1) / 100 for step in range(1, steps + 1)]
    )


def test_batches_of_a_step_that_was_not_completed_are_no_step():
    """The run ended in the middle of it."""
    whole = cookbook(4, epochs=1)
    cut = "\r".join(whole.split("\r")[:-3])

    assert max(one.step for one in samples(read(cut)) if one.loss is not None) == 2
