"""Steps for dicts that carry none, against a model of the Trainer with real bars and real buffering."""

import pytest

from diagnosis.formats import ReadSettings
from diagnosis.formats.reader import LogReader
from diagnosis.observations import Origin
from tests.diagnosis.formats.reading import attempts, losses, read, samples


def bar(step, total, seconds):
    """One redraw of tqdm."""
    elapsed = int(step * seconds)
    rate = f"{seconds:5.2f}s/it" if seconds >= 1 else f"{1 / seconds:5.2f}it/s"
    clock = f"{elapsed // 3600}:{elapsed // 60 % 60:02d}:{elapsed % 60:02d}"
    filled = "█" * (10 * step // total)
    return f"\r{100 * step // total:3d}%|{filled:<10}| {step}/{total} [{clock}<1:00:00, {rate}]"


def trainer(
    total, every, seconds, *, buffer=0, start=0, epochs=1, first=False, evaluate=0, until=None, redraws=True, opens=True
):
    """The output of a training, and the true (step, loss) pairs. `buffer`: bytes that stdout holds back."""
    out, true, held, now, drawn = [], [], "", 0.0, -1.0
    if opens:
        out.append(bar(start, total, seconds))
    for step in range(start + 1, (until or total) + 1):
        now += seconds
        if now - drawn >= 0.1:
            out.append(bar(step, total, seconds))
            drawn = now
        if step % every == 0 or (first and step == 1):
            loss = round(1 + step % 97 / 100, 4)
            line = (
                f"{{'loss': {loss}, 'grad_norm': 0.5, 'learning_rate': 1e-05, 'epoch': {step / total * epochs:.2f}}}\n"
            )
            true.append((step, loss))
            if buffer:
                held += line
                while len(held) >= buffer:
                    out.append(held[:buffer])
                    held = held[buffer:]
            elif redraws:
                out += ["\r" + " " * 50 + "\r", line, bar(step, total, seconds)]
            else:
                out += ["\n", line]
        if evaluate and step % evaluate == 0:
            out += [f"\n{bar(done, 8, 1.2)}\x1b[A" for done in range(9)] + ["\n"]
    out.append("\n" + held + "{'train_runtime': 10.0, 'train_loss': 0.5, 'epoch': 1.0}\n")
    return "".join(out), true


@pytest.mark.parametrize(
    "model",
    [
        {"total": 160, "every": 10, "seconds": 25},
        {"total": 160, "every": 10, "seconds": 25, "buffer": 1500},
        {"total": 160, "every": 10, "seconds": 25, "buffer": 8192},
        {"total": 1000, "every": 10, "seconds": 0.02},
        {"total": 1000, "every": 10, "seconds": 0.02, "buffer": 8192},
        {"total": 1000, "every": 5, "seconds": 0.3, "buffer": 8192},
        {"total": 300, "every": 1, "seconds": 3},
        {"total": 300, "every": 1, "seconds": 3, "buffer": 8192},
        {"total": 300, "every": 1, "seconds": 0.05},
        {"total": 5000, "every": 50, "seconds": 1.2, "start": 2000},
        {"total": 5000, "every": 50, "seconds": 1.2, "start": 2000, "buffer": 8192},
        {"total": 5000, "every": 50, "seconds": 1.2, "start": 2000, "buffer": 8192, "opens": False},
        {"total": 500, "every": 10, "seconds": 2, "first": True},
        {"total": 500, "every": 10, "seconds": 2, "first": True, "buffer": 2000},
        {"total": 400, "every": 10, "seconds": 2, "evaluate": 50},
        {"total": 400, "every": 10, "seconds": 2, "evaluate": 50, "buffer": 3000},
        {"total": 400, "every": 10, "seconds": 2, "redraws": False},
        {"total": 400, "every": 7, "seconds": 2},
        {"total": 400, "every": 7, "seconds": 2, "buffer": 2048},
        {"total": 4000, "every": 100, "seconds": 1.5, "epochs": 3, "buffer": 8192},
        {"total": 4000, "every": 25, "seconds": 0.5, "epochs": 3, "until": 1777, "buffer": 8192},
        {"total": 181, "every": 10, "seconds": 9.7, "buffer": 4096},
    ],
    ids=str,
)
def test_the_true_steps_come_out(model):
    """Slow and fast bars, buffered or not, resumed, with evaluations in between."""
    text, true = trainer(**model)
    seen = read(text)

    assert losses(seen) == true
    assert {one.step_kind for one in samples(seen) if one.loss is not None} == {"implied"}
    assert attempts(seen) == []


def test_rows_that_were_lost_under_bars_do_not_shift_the_others():
    """A screen capture loses lines; the bar beside the rest is right."""
    text, true = trainer(300, 1, 3)
    lines = text.split("\n")
    kept = [line for number, line in enumerate(lines) if number % 9 != 4]

    steps = dict(losses(read("\n".join(kept))))

    assert len(steps) < len(true)
    assert all(true[step - 1][1] == loss for step, loss in steps.items())


def test_bars_printed_now_and_then_explain_the_dicts_before_them():
    """A cleaned log has one bar for four dicts, and dicts behind the last bar."""
    text = bar(100, 400, 6)[1:] + "\n"
    for step in range(110, 250, 10):
        text += f"{{'loss': {step}.5, 'epoch': {step / 400:.2f}}}\n"
        if step % 40 == 20:
            text += bar(step, 400, 6)[1:] + "\n"

    assert losses(read(text)) == [(step, step + 0.5) for step in range(110, 250, 10)]


def test_without_any_bar_only_the_order_is_known():
    """Then the number is a position, and says so."""
    seen = samples(read("{'loss': 2.5, 'epoch': 0.1}\n{'loss': 2.4, 'epoch': 0.2}\n"))

    assert [(one.step, one.step_kind) for one in seen] == [(1, "ordinal"), (2, "ordinal")]


@pytest.mark.parametrize("seconds", [0.001, 0.4, 5.0])
def test_a_dict_without_a_bar_waits_a_second_at_most(seconds):
    """However many follow it: a NaN among them is told at once once it is clear that no bar comes."""
    reader = LogReader("train.log", Origin())
    delays = []

    for place in range(1, 600):
        now = 1e9 + place * seconds
        told = reader.feed(b"{'loss': 2.5, 'epoch': 0.1}\n", now) + reader.idle(now + min(seconds, 1.0) / 2)
        told += reader.idle(now + 1.0) if seconds > 1 else []
        delays += [place - one.evidence.line for one in told]

    assert [one * seconds <= 1.0 + seconds for one in delays] == [True] * len(delays)
    assert delays[-200:] == [0] * 200


def test_a_told_interval_is_enough():
    """From the log's own arguments or from a person."""
    told = "logging_steps=25,\n{'loss': 2.5, 'epoch': 0.1}\n{'loss': 2.4, 'epoch': 0.2}\n"

    assert [step for step, _ in losses(read(told))] == [25, 50]
    assert [step for step, _ in losses(read(told[18:], settings=ReadSettings(logging_interval=10)))] == [10, 20]


def test_epochs_are_enough_where_the_log_says_how_many_steps_they_have():
    """`Total optimization steps` and `Num Epochs` stand at the top of every HF log at level INFO."""
    text = "  Num Epochs = 2\n  Total optimization steps = 1,000\n"
    text += "".join(
        f"{{'loss': 2.0, 'learning_rate': 1e-05, 'epoch': {step / 500:.2f}}}\n" for step in range(50, 550, 50)
    )

    assert [step for step, _ in losses(read(text))] == list(range(50, 550, 50))


def test_two_ranks_bars_and_dicts_do_not_mix():
    """Each stream has its own bar and its own dicts."""
    text = "".join(
        f"[rank{rank}]: {bar(step, 100, 6)[1:]}\n[rank{rank}]: {{'loss': {step}.{rank}, 'epoch': 0.1}}\n"
        for step in range(10, 40, 10)
        for rank in range(2)
    )

    assert sorted(losses(read(text))) == [(step, step + rank / 10) for step in (10, 20, 30) for rank in range(2)]
