"""nanoGPT and descendants: which line is the train loss, and z-scores that are not NaN."""

import pytest

from diagnosis.observations import Phase
from tests.diagnosis.formats.dialects.table import NAN, Case, check
from tests.diagnosis.formats.reading import eval_losses, losses, phases, read

CASES = [
    Case(
        "nanogpt",
        "iter 260: loss 1.4879, time 893.76ms, mfu 16.68%\n",
        [{"step": 260, "loss": 1.4879, "step_seconds": 0.89376, "mfu": 0.1668}],
    ),
    Case("nanogpt", "iter 260: loss nan, time 893.76ms\n", [{"step": 260, "loss": NAN}]),
    Case(
        "nanogpt",
        "iter 0: loss 12.5435 BPC, time 242620.93ms, mfu -100.00%\n",
        [{"step": 0, "loss": 12.5435, "step_seconds": 242.62093}],
    ),
    Case(
        "llm.c",
        "step    7/19560 | loss 10.299289 (+nanz)| norm 7.1370 (+nanz)| lr 6.00e-06 | 4107.86 ms | 32.9% bf16 MFU "
        "| 119013 tok/s\n"
        "step  129/19560 | loss 6.803634 (-1.25z)| norm 1.1751 (-0.36z)| lr 1.11e-04 | 4187.09 ms | 32.2% bf16 MFU "
        "| 125309 tok/s\n"
        "step  130/19560 | loss     nan (+nanz)| norm    nan (+nanz)| lr 8.57e-07 | 3597.58 ms | 37.5% bf16 MFU "
        "| 144223 tok/s\n",
        [
            {"step": 7, "loss": 10.299289, "grad_norm": 7.137, "lr": 6e-6, "step_seconds": 4.10786, "mfu": 0.329},
            {"step": 129, "loss": 6.803634, "grad_norm": 1.1751, "tokens_per_second": 125309},
            {"step": 130, "loss": NAN, "grad_norm": NAN, "total_steps": 19560},
        ],
    ),
    Case(
        "llm.c",
        "step    1/74: train loss 4.367631 (acc 4.367631) (1500.123 ms, 2731 tok/s)\n",
        [{"step": 1, "loss": 4.367631}],
    ),
    Case("llm.c main.log", "s:0 trl:10.965596 lr:0.000600 norm:1.2\n", [{"step": 0, "loss": 10.965596, "lr": 6e-4}]),
    Case(
        "modded-nanogpt",
        "step:2/5100 train_loss:9.4947 train_time:53466ms step_avg:nanms\n"
        "step:12/5100 train_loss:7.1 train_time:54466ms step_avg:176.43ms\n",
        [{"step": 2, "loss": 9.4947, "elapsed_seconds": 53.466}, {"step": 12, "loss": 7.1, "step_seconds": 0.17643}],
    ),
    Case("modded-nanogpt", "step:4/1680 train_time:330ms step_avg:82.39ms\n", [{"step": 4, "loss": None}]),
    Case("build-nanogpt", "0 train 10.938573\n250 train 6.5\n", [{"step": 0, "loss": 10.938573}, {"step": 250}]),
    Case(
        "key and value",
        "step 0 | loss: 10.938573 | lr: 6.0000e-05 | norm: 27.0159 | time: 17830.71ms | tokens/sec: 29403.65\n",
        [{"step": 0, "loss": 10.938573, "lr": 6e-5, "grad_norm": 27.0159, "tokens_per_second": 29403.65}],
    ),
]


@pytest.mark.parametrize("case", CASES)
def test_a_line_of_the_family_is_read(case):
    """Units glued to numbers, z-scores and missing fields are no trouble."""
    check(case)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("step 250: train loss 1.5440, val loss 1.7220\n", (250, 1.722)),
        ("val loss 11.008742\n", (None, 11.008742)),
        ("step:125/5100 val_loss:4.9493 train_time:20289ms step_avg:176.43ms\n", (125, 4.9493)),
        ("s:0 tel:10.968871\n", (0, 10.968871)),
        ("validation loss: 10.9507\n", (None, 10.9507)),
        ("0 val 10.9507\n", (0, 10.9507)),
    ],
)
def test_an_estimate_is_no_point_of_the_curve(text, expected):
    """The words `train loss` may stand in it; its own loss is kept as the evaluation's."""
    seen = read(text)

    assert losses(seen) == []
    assert eval_losses(seen) == [expected]


def test_hellaswag_progress_is_an_evaluation():
    """`evaluating HellaSwag: 10/1256` is no step."""
    seen = read("evaluating HellaSwag: 10/1256\revaluating HellaSwag: 20/1256\r\n")

    assert losses(seen) == []
    assert (Phase.EVALUATING, True) in phases(seen)


def test_half_a_line_with_a_message_glued_to_it_keeps_what_it_says():
    """Slurm writes into the middle of a line: the loss is read, the grad norm is not there, the message is told."""
    head = (
        "step  901/19560 | loss 3.213 (+0.2z)| norm 0.5 (+0.1z)| lr 6.00e-04 | 3587.07 ms | 37.6% bf16 MFU | 1 tok/s\n"
    )
    seen = read(
        head
        + "step  902/19560 | loss     nan (+nanz)|slurmstepd: error: *** JOB 1 ON node001 CANCELLED AT "
        + "2024-10-10T02:20:29 DUE TO TIME LIMIT ***\n"
    )

    assert [step for step, _ in losses(seen)] == [901, 902]
    assert any("slurm" in getattr(one, "signature", "") for one in seen)


def test_an_error_inside_a_step_line_does_not_stop_the_reading():
    """stderr is not buffered and may cut a line in two; the steps after it are read."""
    cut = "step   31/19560 | loss 3.9 (-0.39z)| norm 0.2206 (-0.39z)| lError: Token out of vocabulary at train_gpt2.cu:675\n"
    good = (
        "step   32/19560 | loss 3.8 (-0.39z)| norm 0.2206 (-0.39z)| lr 6.00e-04 | 1.0 ms | 37.6% bf16 MFU | 1 tok/s\n"
    )

    assert losses(read(cut + good)) == [(31, 3.9), (32, 3.8)]
