"""Attempts: banners, resumes and counters that go back; once per restart, however many ranks tell it."""

import pytest

from tests.diagnosis.formats.reading import attempts, losses, read

STEP = "step={step} loss=2.5 lr=1\n"


def steps(*numbers):
    """A log of steps."""
    return "".join(STEP.format(step=number) for number in numbers)


@pytest.mark.parametrize(
    ("banner", "why"),
    [
        (
            "W1227 00:57:12.792000 49154 torch/distributed/run.py:803] Setting OMP_NUM_THREADS environment variable",
            "torchrun",
        ),
        ("[2023-06-09 05:17:49,071] [INFO] [runner.py:555:main] cmd = python train.py", "DeepSpeed"),
        ("***** Running training *****", "trainer"),
        ("[before the start of training step] datetime: 2023-08-16 11:59:58 ", "Megatron"),
        ("Resuming from checkpoint at /data/checkpoint-500", "resumes"),
        ("  successfully loaded checkpoint from /data/ckpt at iteration 500", "resumes"),
        ("[titan] Training starts at step 11, with local batch size 2", "starts"),
    ],
)
def test_a_banner_after_steps_opens_an_attempt(banner, why):
    """And says in words why."""
    marks = attempts(read(steps(1, 2, 3) + banner + "\n" + steps(2, 3, 4)))

    assert len(marks) == 1
    assert why in marks[0].why


def test_many_lines_of_one_launch_open_one_attempt():
    """Every rank and every layer of launchers prints its own."""
    banners = "[runner.py:555:main] cmd = python train.py\n" + "***** Running training *****\n" * 8

    assert len(attempts(read(banners + steps(1, 2, 3)))) == 1


def test_a_counter_that_goes_back_opens_an_attempt():
    """A resumed run that prints no banner."""
    marks = attempts(read(steps(*range(100, 130), *range(110, 120))))

    assert [mark.why for mark in marks] == ["the step went back from 129 to 110"]


def test_ranks_that_share_a_file_out_of_order_open_none():
    """Their lines lag by one or two."""
    assert attempts(read(steps(1, 2, 1, 2, 3, 2, 3, 4, 3, 4))) == []


def test_all_ranks_that_go_back_open_one_attempt():
    """The first one says it, the others follow."""
    text = "".join(
        f"[rank{rank}]: {STEP.format(step=step)}" for step in (*range(50, 60), *range(20, 30)) for rank in range(4)
    )

    assert len(attempts(read(text))) == 1


def test_what_the_banner_tells_of_the_environment_goes_with_the_mark():
    """The difference between two attempts is often the answer."""
    marks = attempts(
        read(
            "[2023-06-09 05:17:49,071] [INFO] [runner.py:555:main] cmd = python -u train.py --lr 1\n"
            "torch version .................... 2.1.0+cu121\nNCCL version 2.18.1+cuda12.1\n"
            + steps(1, 2, 3)
            + "***** Running training *****\n"
        )
    )

    assert marks[0].environment["command"] == "python -u train.py --lr 1"
    assert marks[1].environment["torch"] == "2.1.0+cu121"
    assert marks[1].environment["nccl"] == "2.18.1"


def test_steps_beyond_the_total_are_steps():
    """`step=7640/7630` happens."""
    assert losses(read("step: 7640/7630, loss: 2.5, lr: 1\n")) == [(7640, 2.5)]


def test_a_resumed_run_may_begin_anywhere():
    """The first step need not be 1."""
    assert losses(read(steps(140749, 140750))) == [(140749, 2.5), (140750, 2.5)]


@pytest.mark.parametrize("line", ["epoch {e} step {n}/10 loss 2.5", "Epoch {e}, Batch {n}, Loss 2.5"])
@pytest.mark.parametrize("banner", ["", "Resuming from checkpoint at /data/checkpoint-500\n"])
@pytest.mark.parametrize("first", [1, 4])
def test_a_run_resumed_in_an_epoch_counts_from_there(line, banner, first):
    """With or without a banner it is one more attempt; a counter that begins again with each epoch stays global."""
    before = "".join(line.format(e=e, n=n) + "\n" for e in (1, 2) for n in range(1, 11))
    after = "".join(line.format(e=e, n=n) + "\n" for e in (2, 3) for n in range(first if e == 2 else 1, 11))

    seen = read(before + banner + after)

    assert [step for step, _ in losses(seen)] == [*range(1, 21), *range(10 + first, 31)]
    assert len(attempts(seen)) == 1


def test_another_run_from_its_first_epoch_on_counts_from_the_beginning():
    """Whatever the epochs of the run before it were."""
    run = "".join(f"epoch {e} step {n}/10 loss 2.5\n" for e in (1, 2, 3) for n in range(1, 11))

    seen = read(run + run)

    assert [step for step, _ in losses(seen)] == [*range(1, 31), *range(1, 31)]
    assert len(attempts(seen)) == 1
