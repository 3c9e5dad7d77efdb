"""DeepSpeed prints steps without a loss; skipped steps are counted once, however many lines tell them."""

import pytest

from tests.diagnosis.formats.dialects.table import Case, check
from tests.diagnosis.formats.reading import eval_losses, losses, read, samples, skips

CASES = [
    Case(
        "deepspeed",
        "[2023-04-18 01:47:06,590] [INFO] [logging.py:96:log_dist] [Rank 0] step=20, skipped=6, "
        "lr=[9.649913847830647e-06, 9.649913847830647e-06], mom=[(0.9, 0.95), (0.9, 0.95)]\n",
        [{"step": 20, "loss": None, "lr": 9.649913847830647e-6, "skipped_steps": 6, "rank": 0, "time": 1681782426.59}],
    ),
    Case(
        "deepspeed timer",
        "[2023-04-18 01:47:06,619] [INFO] [timer.py:199:stop] epoch=0/micro_step=40/global_step=20, "
        "RunningAvgSamplesPerSec=172.66, CurrSamplesPerSec=171.40, MemAllocated=3.96GB, MaxMemAllocated=22.95GB\n",
        [{"step": 20, "loss": None, "samples_per_second": 171.4, "memory_bytes": 22.95e9}],
    ),
    Case(
        "deepspeed-chat",
        "epoch: 0|step: 104|ppo_ep: 1|act_loss: -0.720703125|cri_loss: -0.243896484375|unsuper_loss: 0.0\n"
        "average reward score: 3.705078125\n"
        "|E2E latency=3.76s |Gather latency=0.00s (0.00%) |Generate time=2.46s (65.36%)|CurSamplesPerSec=17.01\n",
        [{"step": 104, "loss": -0.720703125}],
    ),
    Case(
        "deepspeed-chat",
        "Epoch: 0 | Step: 3 | PPO Epoch: 1 | Actor Loss: 0.25 | Critic Loss: 0.5 | Unsupervised Loss: 0.0\n",
        [{"step": 3, "loss": 0.25}],
    ),
    Case(
        "lmops",
        "train | data_epochs  0/10 | inner iter:   7/  8 | ppo epoch:  2/ 4 | global iter:     13/  5000| tot_loss: "
        "2.3541 | rl_loss: -0.0407 | pt_loss: 2.3948 | lr: 2.5000e-07 | scale: 128.00 | time: 1.874 "
        "| step time: 0.000\n",
        [{"step": 13, "loss": 2.3541, "lr": 2.5e-7, "loss_scale": 128, "total_steps": 5000}],
    ),
    Case("key and value", "loss:0.92626953125, global_step:160\n", [{"step": 160, "loss": 0.92626953125}]),
]


@pytest.mark.parametrize("case", CASES)
def test_a_deepspeed_line_is_read(case):
    """A list of learning rates gives its first; the loss of PPO is the actor's."""
    check(case)


def test_means_and_evaluations_of_deepspeed_chat_are_no_points():
    """The words `loss` and `loss:` stand there all the same."""
    seen = read(
        "***** Evaluating perplexity, Epoch 15/16 *****\nppl: 1.805456280708313\n"
        "chosen: -31.9375, rejected: -33.96875, loss: 0.6650807857513428\n"
        "Epoch 1/1 with loss 0.5754789632299672\n"
    )

    assert losses(seen) == []
    assert eval_losses(seen) == [(None, 0.6650807857513428)]


def test_a_skip_told_by_every_rank_is_one_skip():
    """`Grad overflow on iteration N` stands for nothing beside the engine's own line."""
    repeats = "Grad overflow on iteration 0\n" * 8
    engine = (
        "[2025-01-02 15:47:32,713] [INFO] [logging.py:128:log_dist] [Rank 0] Overflow detected. Skipping step. "
        "Attempted loss scale: 65536, reducing to 32768.0\n"
    )

    told = skips(read(repeats + engine))

    assert [(one.count, one.loss_scale, one.origin.rank) for one in told] == [(1, 32768.0, 0)]


@pytest.mark.parametrize(
    ("line", "scale"),
    [
        (
            (
                "[2023-04-18 01:46:53,259] [INFO] [loss_scaler.py:181:update_scale] [deepspeed] OVERFLOW! Rank 0 Skipping "
                "step. Attempted loss scale: 65536, reducing to 32768\n"
            ),
            32768,
        ),
        (
            (
                "[2023-04-18 01:46:52,554] [INFO] [loss_scaler.py:188:update_scale] [deepspeed] OVERFLOW! Rank 0 Skipping "
                "step. Attempted loss scale: 65536, but hysteresis is 2. Reducing hysteresis to 1\n"
            ),
            65536,
        ),
        ("[deepscale] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 256, reducing to 256\n", 256),
        ("Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 32768.0\n", 32768),
        (
            (
                "[2022-04-08 18:55:11,305][fairseq.trainer][INFO] - NOTE: gradient overflow detected, ignoring gradient, "
                "setting loss scale to: 128.0\n"
            ),
            128,
        ),
        ("overflow, still update, loss scale adjust to 1024.0\n", 1024),
        ("- INFO - opt_global_step: 0, skip_data_grad_norm_threshold: 3.0, is_skip: [ True]\n", None),
        (
            "[node001] 2021-04-23 19:20:00,000 (trainer:300) WARNING: The grad norm is nan. Skipping updating the model.\n",
            None,
        ),
    ],
)
def test_every_spelling_of_a_skip_is_one(line, scale):
    """With the scale in force after it, where the line tells it."""
    told = skips(read(line))

    assert [one.loss_scale for one in told] == [scale]


def test_a_counter_of_skips_gives_what_each_interval_added():
    """`skipped=` only grows; the samples say by how much."""
    line = "[Rank 0] step={step}, skipped={skipped}, lr=[1e-05], mom=[(0.9, 0.95)]\n"
    text = "".join(line.format(step=step, skipped=total) for step, total in ((10, 4), (20, 6), (30, 6)))

    assert [one.fields["skipped_steps"] for one in samples(read(text))] == [4, 2, 0]
