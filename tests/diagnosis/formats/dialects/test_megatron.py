"""Megatron's line in all its years: fields by name, a vanished loss, `now/mean` pairs, the pipeline's twin line."""

import pytest

from tests.diagnosis.formats.dialects.table import NAN, Case, check
from tests.diagnosis.formats.reading import eval_losses, losses, read, samples

CLASSIC = (
    " iteration       30/    1000 | consumed samples:          120 | elapsed time per iteration (ms): 1376.1 "
    "| learning rate: 1.500E-04 | global batch size:     4 | lm loss: 2.247505E+01 | loss scale: 16384.0 "
    "| grad norm: 16.999 | number of skipped iterations:   1 | number of nan iterations:   0 |\n"
)
ALL_SKIPPED = (
    " iteration        1/    1000 | consumed samples:         1024 | elapsed time per iteration (ms): 150891.7 "
    "| learning rate: 0.000E+00 | global batch size:  1024 | loss scale: 4294967296.0 "
    "| number of skipped iterations:   1 | number of nan iterations:   0 |\n"
)
CASES = [
    Case(
        "megatron",
        CLASSIC,
        [
            {
                "step": 30,
                "loss": 22.47505,
                "grad_norm": 16.999,
                "lr": 1.5e-4,
                "loss_scale": 16384,
                "skipped_steps": 1,
                "nan_iterations": 0,
                "batch_size": 4,
                "consumed_samples": 120,
                "step_seconds": 1.3761,
                "total_steps": 1000,
            }
        ],
    ),
    Case("megatron", ALL_SKIPPED, [{"step": 1, "loss": None, "grad_norm": None, "lr": 0.0, "skipped_steps": 1}]),
    Case(
        "megatron",
        " iteration        1/    1000 | elapsed time per iteration (ms): 123742.4 | learning rate: 1.875E-05 "
        "| lm loss: 1.252221E+01 | loss scale: 1024.0 | number of skipped iterations:   0 |\n",
        [{"step": 1, "loss": 12.52221, "step_seconds": 123.7424}],
    ),
    Case(
        "megatron",
        " iteration        1/    1000 | consumed samples: 1024 | lm-loss: 1.244238E+01 | loss scale: -1.0 "
        "| grad norm: 0.000 | num zeros: 0.0 |\n",
        [{"step": 1, "loss": 12.44238, "loss_scale": None, "grad_norm": 0.0, "num_zeros": 0.0}],
    ),
    Case(
        "megatron",
        " [2024-04-06 02:59:36] iteration       43/     100 | consumed samples:         5504 | elapsed time per "
        "iteration (ms): 5444.9 | throughput per GPU (TFLOP/s/GPU): 239.8 | learning rate: 8.600000E-06 | global "
        "batch size:   128 | lm loss: 1.825991E+00 | load_balancing_loss: 1.019746E+00 | loss scale: 1.0 "
        "| grad norm: 1.426 | num zeros: 0.0 | number of skipped iterations:   0 | number of nan iterations:   0 |\n",
        [{"step": 43, "loss": 1.825991, "load_balancing_loss": 1.019746, "tflops": 239.8, "time": 1712372376}],
    ),
    Case(
        "megatron",
        " [2025-10-21 16:20:01.123456] iteration 44/ 100 | mtp_1 loss: 2.10E+00 | lm loss: 1.90E+00 "
        "| seq_load_balancing_loss: 1.01E+00 |\n",
        [{"step": 44, "loss": 1.9, "time": 1761063601.123456}],
    ),
    Case(
        "megatron",
        "[default7]: iteration    31219/  115311 | consumed samples:     47778736 | consumed tokens:  97850851328 "
        "| elapsed time per iteration (s): 106.36 | learning rate: 5.279E-05 | global batch size:  2048 "
        "| lm loss: 5.098124E+00 | grad norm: 960.351 | num zeros: 0.0 | number of skipped iterations:   0 "
        "| number of nan iterations:   0 | samples per second: 19.256 | TFLOPs: 147.43 |\n",
        [
            {
                "step": 31219,
                "loss": 5.098124,
                "grad_norm": 960.351,
                "step_seconds": 106.36,
                "local_rank": 7,
                "samples_per_second": 19.256,
                "tflops": 147.43,
                "consumed_tokens": 97850851328,
            }
        ],
    ),
    Case(
        "megatron",
        " iteration     5426/  250000 | consumed samples:        43408 | consumed tokens:     88899584 | elapsed time "
        "per iteration (ms): 4247.9 | learning rate: 2.999E-04 | global batch size:     8 | loss scale: 1.0 "
        "| grad norm: nan | actual seqlen:  2048 | number of skipped iterations:   0 | number of nan iterations:   0 "
        "| samples per second: 1.886 | TFLOPs: 78.46 |\n",
        [{"step": 5426, "loss": None, "grad_norm": NAN, "sequence_length": 2048, "skipped_steps": 0}],
    ),
    Case(
        "megatron",
        " samples/sec: 51.200 | iteration       10/      50 | elapsed time per iteration (ms): 9876.5 | learning rate: "
        "1.234E-04 | approx flops per GPU: 150.3TFLOPS | lm_loss: 7.123456E+00 | number of skipped iterations:   0 "
        "| number of nan iterations:   0 |\n",
        [{"step": 10, "loss": 7.123456, "samples_per_second": 51.2, "tflops": 150.3}],
    ),
    Case(
        "megatron",
        "[20251202 09:12:08][rank-7/8][INFO ] [--------trainer.py:2560] : iteration      126/    5000 | consumed "
        "samples: 16128 | elapsed time per iteration (ms): 13372.8/13364.7 | hip mem usage/free/total/usage_ratio: "
        "153.81GB/102.17GB/255.98GB/60.08% | throughput per GPU (TFLOP/s/GPU): 567.6/568.0 | tokens per GPU "
        "(tokens/s/GPU): 9801.4/9807.3 | learning rate: 9.984820E-06 | global batch size:   128 "
        "| lm loss: 6.548988E-03 |\n",
        [
            {
                "step": 126,
                "loss": 6.548988e-3,
                "step_seconds": 13.3728,
                "tflops": 567.6,
                "tokens_per_second_per_gpu": 9801.4,
                "rank": 7,
                "time": 1764666728,
            }
        ],
    ),
    Case(
        "megatron",
        " [2025-10-21T16:18:53+08:00] iteration       12/   2000 | consumed samples: 10 | elapsed time per iteration "
        "(ms): 8211.0 | lm loss: 9.871E+00 | loss scale: 1.0 | grad norm: 12.11 | actual seqlen:  4096 "
        "| tgs (tokens/gpu/second): 353.02 |\n",
        [{"step": 12, "loss": 9.871, "time": 1761034733, "tokens_per_second_per_gpu": 353.02}],
    ),
    Case(
        "megatron",
        "7:  [2026-05-27 07:58:10.261551] iteration        1/       4 | consumed samples: 2 | lm loss: 1.1E+01 |\n",
        [{"step": 1, "loss": 11.0, "rank": 7, "time": 1779868690.261551}],
    ),
]


@pytest.mark.parametrize("case", CASES)
def test_a_megatron_line_is_read_by_the_names_of_its_fields(case):
    """Extra fields, missing fields, other units and another order change nothing."""
    check(case)


def test_an_evaluation_is_no_point_of_the_curve():
    """`validation loss at` and `lm loss value` are kept apart."""
    seen = read(
        CLASSIC
        + " validation loss at iteration 200 | lm loss value: 7.487306E+00 | lm loss PPL: 1.785236E+03 | \n"
        + "> working on iteration: 30\n"
    )

    assert losses(seen) == [(30, 22.47505)]
    assert eval_losses(seen) == [(200, 7.487306)]


def test_the_pipeline_engines_twin_line_is_counted_once():
    """The same step with fewer digits, printed first, gives way to Megatron's own line."""
    pair = "steps: 1 loss: 12.7902 iter time (s): 150.471 samples/sec: 6.805\n"
    own = (
        " iteration        1/    1000 | elapsed time per iteration (ms): 150471.3 | learning rate: 1.875E-05 "
        "| lm loss: 1.279022E+01 |\n"
    )

    assert losses(read(pair + own)) == [(1, 12.79022)]
    assert losses(read(pair + pair.replace("steps: 1", "steps: 2"))) == [(1, 12.7902), (2, 12.7902)]


def test_a_loss_that_vanishes_leaves_the_step():
    """A fork drops the field when the loss is NaN; the step is still told, with its grad norm."""
    seen = samples(read(CLASSIC + CLASSIC.replace("30/", "31/").replace("lm loss: 2.247505E+01 | ", "")))

    assert [one.step for one in seen] == [30, 31]
    assert seen[1].loss is None
    assert seen[1].grad_norm == pytest.approx(16.999)
