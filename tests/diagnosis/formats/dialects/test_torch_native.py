"""torchtitan, torchtune, litgpt, OLMo, composer, nanotron, NeMo."""

import pytest

from diagnosis.observations import Phase
from tests.diagnosis.formats.dialects.table import NAN, Case, check
from tests.diagnosis.formats.reading import losses, phases, read, samples

TITAN = (
    "[rank{rank}]:[titan] 2025-10-30 14:32:58,897 - root - INFO - step: {step:2d}  loss:  {loss}  "
    "grad_norm:  3.6855  memory:  2.47GiB(3.12%)  tps: 3,502  tflops: 1.90  mfu: 0.19%\n"
)
OLMO = (
    "2025-12-12 11:05:02.009\tnode001:0\tolmo.train:979\tINFO\t[step=1/15000,epoch=0]\n"
    "    optim/total_grad_norm=0.2370\n"
    "    train/CrossEntropyLoss=2.998\n"
    "    train/Perplexity=20.04\n"
    "    throughput/total_tokens=2,097,152\n"
    "    throughput/device/tokens_per_second=74,822\n"
)
CASES = [
    Case(
        "torchtitan",
        TITAN.format(rank=0, step=1, loss="8.1661"),
        [
            {
                "step": 1,
                "loss": 8.1661,
                "grad_norm": 3.6855,
                "tokens_per_second_per_gpu": 3502,
                "mfu": 0.0019,
                "rank": 0,
                "time": 1761834778.897,
            }
        ],
    ),
    Case(
        "torchtitan",
        "[2025-09-11 14:09:46,954794][I][components/metrics:437:log] step:  1  loss: 10.8595  grad_norm:  3.2105  "
        "memory:  8.44GiB(13.20%)  tps: 149  tflops: 1.39  mfu: 0.47%\n",
        [{"step": 1, "loss": 10.8595, "grad_norm": 3.2105, "time": 1757599786.954794}],
    ),
    Case("torchtitan", TITAN.format(rank=3, step=7, loss="   nan"), [{"step": 7, "loss": NAN, "rank": 3}]),
    Case("torchtitan", TITAN.format(rank=3, step=7, loss="-1.0000"), [{"step": 7, "loss": None, "grad_norm": 3.6855}]),
    Case(
        "torchtitan",
        "\x1b[32m[rank0]:\x1b[31mstep:  5  \x1b[32mloss: 7.5  \x1b[33mmemory: 2.47GiB(3.12%)  \x1b[34mtps: 3,502\x1b[39m\n",
        [{"step": 5, "loss": 7.5, "tokens_per_second_per_gpu": 3502}],
    ),
    Case(
        "torchtune",
        "Step 0 | loss:1.7535 lr:2e-05 gpu_resources:13708965376\n"
        "Step 1 | loss:1.2103 lr:2.0e-05 tokens_per_second_per_gpu:1421.7 peak_memory_active:21.1\n",
        [{"step": 0, "loss": 1.7535, "lr": 2e-5}, {"step": 1, "loss": 1.2103, "tokens_per_second_per_gpu": 1421.7}],
    ),
    Case(
        "litgpt",
        "Epoch 34 | iter 3050700 step 610140 | loss train: 2.846, val: n/a | iter time: 112.20 ms (step) "
        "remaining time: 0:01:54\n"
        "Epoch 34 | iter 3050701 step 610141 | loss train: 2.845, val: 2.861 | iter time: 112.20 ms\n",
        [{"step": 610140, "loss": 2.846, "step_seconds": 0.1122}, {"step": 610141, "loss": 2.845}],
    ),
    Case(
        "olmo",
        OLMO,
        [
            {
                "step": 1,
                "loss": 2.998,
                "grad_norm": 0.237,
                "total_steps": 15000,
                "consumed_tokens": 2097152,
                "tokens_per_second_per_gpu": 74822,
                "node": "node001",
                "local_rank": 0,
                "time": 1765537502.009,
            }
        ],
    ),
    Case(
        "olmo",
        "2026-08-08 12:01:00 INFO [olmo_core.train.callbacks.console_logger:68] [step=1,000/2,000,epoch=0,eta=5h11m]\n"
        "    train/CE loss=6.2341\n"
        "    wiki-validation/CE loss=9.9\n"
        "    train/PPL=511.9\n"
        "2026-08-08 12:03:10 INFO [olmo_core.train.trainer:1003] next\n",
        [{"step": 1000, "loss": 6.2341, "total_steps": 2000, "time": 1786190460}],
    ),
    Case(
        "composer",
        "[batch=1/10]:\n\t Train time/batch: 0\n\t Train loss/train/total: 11.6153\n"
        "\t Train lr-DecoupledAdamW/group0: 0.0000\n\t Train l2_norm/grad/global: 2.1\n[batch=2/10]:\n"
        "\t Train time/batch: 1\n\t Train loss/train/total: 11.5\n",
        [{"step": 1, "loss": 11.6153, "lr": 0.0, "grad_norm": 2.1}, {"step": 2, "loss": 11.5}],
    ),
    Case(
        "nanotron",
        "10/17/2025 16:31:56 [INFO|DP=0|PP=0|TP=0]: iteration: 327281 / 378950 | consumed_tokens: 85.8G "
        "| elapsed_time_per_iteration_ms: 11.5K | tokens_per_sec: 22.8K | tokens_per_sec_per_gpu: 1.43K "
        "| global_batch_size: 512 | lm_loss: 2.38 | lr: 1e-05 | model_tflops_per_gpu: 20.9 | grad_norm: 1.25 "
        "| eta: 6 days, 12:10:11\n",
        [
            {
                "step": 327281,
                "loss": 2.38,
                "lr": 1e-5,
                "grad_norm": 1.25,
                "consumed_tokens": 85.8e9,
                "step_seconds": 11.5,
                "tokens_per_second": 22800,
                "time": 1760718716,
            }
        ],
    ),
    Case(
        "nemo",
        "Training epoch 0, iteration 120/149 | lr: 3e-05 | consumed_samples: 121 | global_batch_size: 1 "
        "| global_step: 120 | reduced_train_loss: 1.233 | train_step_timing in s: 0.03146 | val_loss: 4.106\n",
        [{"step": 120, "loss": 1.233, "lr": 3e-5, "step_seconds": 0.03146}],
    ),
]


@pytest.mark.parametrize("case", CASES)
def test_a_record_is_read(case):
    """One line or several, colours or commas: the numbers come out."""
    check(case)


def test_ranks_of_a_pipeline_that_hold_no_loss_give_none():
    """With pipeline parallel all ranks but the last print -1: they are steps, not losses."""
    text = "".join(
        TITAN.format(rank=rank, step=step, loss="8.0" if rank == 3 else "-1.0000")
        for step in (1, 2)
        for rank in range(4)
    )

    seen = samples(read(text))

    assert {one.origin.rank for one in seen if one.loss is not None} == {3}
    assert len(seen) == 8


def test_records_of_two_ranks_may_interleave_line_by_line():
    """Each rank's lines go to its own record."""
    first = OLMO.splitlines()
    second = OLMO.replace("2.998", "3.5").splitlines()
    text = "".join(f"[default0]:{one}\n[default1]:{other}\n" for one, other in zip(first, second, strict=True))

    assert sorted(loss for _, loss in losses(read(text))) == [2.998, 3.5]


def test_a_checkpoint_save_is_a_phase():
    """It explains the pause that follows."""
    seen = read(
        "2026-08-08 12:03:10 INFO [olmo_core.train.trainer:1003] Saving checkpoint for step 100 to 's3://b/k'...\n"
    )

    assert phases(seen) == [(Phase.SAVING, True)]
