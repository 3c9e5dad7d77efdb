"""JAX, TensorFlow, Chinese stacks, single-file trainers."""

import pytest

from tests.diagnosis.formats.dialects.table import INF, NAN, Case, check
from tests.diagnosis.formats.reading import eval_losses, losses, read, samples

CASES = [
    Case(
        "minimind",
        "Epoch:[1/1](10/39695), loss: 8.5371, logits_loss: 8.5371, aux_loss: 0.0000, lr: 0.00050000, epoch_time: "
        "130.0min\n",
        [{"step": 10, "loss": 8.5371, "lr": 5e-4}],
    ),
    Case(
        "minimind",
        "Epoch:[1/2](4290/4292), loss: 0.6605, dpo_loss: 0.6605, aux_loss: 0.0000, learning_rate: 0.00000004, "
        "epoch_time: 0.000min\nEpoch:[2/2](10/4292), loss: 0.5605, dpo_loss: 0.6605, aux_loss: 0.0000, "
        "learning_rate: 0.00000004, epoch_time: 0.000min\n",
        [{"step": 4290, "loss": 0.6605, "lr": 4e-8}, {"step": 4302, "loss": 0.5605}],
    ),
    Case(
        "minimind",
        "Epoch:[1/1](3/9751), Reward: -1.4468, KL_ref: 0.0409, Adv Std: 0.9257, Adv Mean: -0.0000, Actor Loss: 0.0065, "
        "Avg Response Len: 286.75, Learning Rate: 0.00000030\n",
        [{"step": 3, "loss": 0.0065, "lr": 3e-7, "reward": -1.4468}],
    ),
    Case(
        "minimind", "Epoch:[1/19](0/44160) loss:8.940 lr:0.0005500 epoch_Time:123.0min:\n", [{"step": 0, "loss": 8.94}]
    ),
    Case(
        "mlx",
        "Iter 10: Train loss 0.753, Learning Rate 1.000e-04, It/sec 0.944, Tokens/sec 436.770, Trained Tokens 4627, "
        "Peak mem 5.910 GB\n",
        [{"step": 10, "loss": 0.753, "lr": 1e-4, "tokens_per_second": 436.77, "consumed_tokens": 4627}],
    ),
    Case(
        "tinygrad",
        "    4 4.32 s run, 11.8750 loss, 0.000000000002 LR, 1454.57 GB used, 401488.40 GFLOPS\n",
        [{"step": 4, "loss": 11.875, "lr": 2e-12, "step_seconds": 4.32}],
    ),
    Case(
        "bigdl",
        "[Epoch 42 933888/1281167][Iteration 17442][Wall Clock 1022.3s] Trained 3072 records in 2.7 seconds. "
        "Throughput is 1137.8 records/second. Loss is 1.72319.\n",
        [{"step": 17442, "loss": 1.72319, "samples_per_second": 1137.8}],
    ),
    Case(
        "gluon-nlp",
        "Epoch: 1, Batch: 3900/8164, Loss span/answer/total=0.7729/0.1773/0.9502, LR=0.00001989, grad_norm=21.59\n",
        [{"step": 3900, "loss": 0.9502, "lr": 1.989e-5, "grad_norm": 21.59}],
    ),
    Case(
        "maxtext",
        "completed step: 9, seconds: 5.667, TFLOP/s/device: 134.924, Tokens/s/device: 8672.758, total_weights: 196608, "
        "loss: 10.374, main_model_loss: 9.9, mtp_loss: 0.4\n",
        [{"step": 9, "loss": 10.374, "step_seconds": 5.667, "tokens_per_second_per_gpu": 8672.758}],
    ),
    Case(
        "maxtext",
        "I0804 08:20:00.123456 1 metric_logger.py:210] completed step: 9, seconds: 5.667, TFLOP/s/device: 134.924, "
        "Tokens/s/device: 8672.758, total_weights: 196608, loss: nan\n",
        [{"step": 9, "loss": NAN}],
    ),
    Case(
        "pytorch/xla",
        "| Training Device=xla:0/4 Epoch=1 Step=780 Loss=0.00152 Rate=545.11 GlobalRate=406.16 Time=01:54:23\n",
        [{"step": 780, "loss": 0.00152, "samples_per_second": 545.11}],
    ),
    Case(
        "cerebras",
        "2024-03-30 13:03:36,111 INFO:   | Train Device=CSX, Step=200, Loss=8.48438, Rate=6761.58 samples/sec, "
        "GlobalRate=6776.30 samples/sec\n",
        [{"step": 200, "loss": 8.48438, "time": 1711803816.111}],
    ),
    Case(
        "tensorflow estimator",
        "INFO:tensorflow:loss = 76982.47, step = 101 (1.080 sec)\nINFO:tensorflow:global_step/sec: 160.064\n"
        "INFO:tensorflow:loss = 76.5, precision = 0.5, step = 201 (1.080 sec)\n",
        [{"step": 101, "loss": 76982.47}, {"step": 201, "loss": 76.5}],
    ),
    Case(
        "internevo",
        "2023-07-10 14:26:28,977\tINFO train.py:317 in record_current_batch_training_metrics -- tflops=188.0,step=36,"
        "loss=5.459,tgs (tokens/gpu/second)=4233.73,lr=7.6e-06,loss_scale=65536.0,grad_norm=12.54,micro_num=4,"
        "num_consumed_tokens=4849664,inf_nan_skip_batches=0,num_samples_in_batch=60,largest_length=2048,"
        "largest_batch=31,smallest_batch=4,adam_beta2=0.95,fwd_bwd_time=6.15\n",
        [
            {
                "step": 36,
                "loss": 5.459,
                "lr": 7.6e-6,
                "loss_scale": 65536,
                "grad_norm": 12.54,
                "tokens_per_second_per_gpu": 4233.73,
                "nan_total": 0,
                "time": 1688999188.977,
            }
        ],
    ),
    Case(
        "internevo",
        "2024-03-21 14:48:31,587      INFO training_internlm.py:599 in record_current_batch_training_metrics -- "
        "tflops=186.62241336587493 step=1 loss=11.63248062133789 tgs (tokens/gpu/second)=3917.95 "
        "tgs/last_tgs_1=3917.97 lr=6.000000000000001e-07 loss_scale=65536.0 grad_norm={'0_default': "
        "23.297677981215344, '1_fp32': 0.0} micro_num=4\n",
        [{"step": 1, "loss": 11.63248062133789, "grad_norm": 23.297677981215344, "lr": 6.000000000000001e-7}],
    ),
    Case(
        "xtuner",
        "[XTuner][RANK 0][2025-09-08 03:04:13][INFO] Step 1/13 data_time: 0.0091 lr: 0.000060 time: 0.6024 text_tokens: "
        "4054.0 total_loss: 12.075, reduced_llm_loss: 12.075 max_memory: 5.36 GB reserved_memory: 7.05 GB grad_norm: "
        "15.847 tgs: 6729.9 e2e_tgs: 6630.0\n",
        [{"step": 1, "loss": 12.075, "grad_norm": 15.847, "lr": 6e-5, "rank": 0, "time": 1757300653}],
    ),
    Case(
        "paddlenlp",
        "[2024-08-28 18:19:56,302] [    INFO] - loss: 1.5980545,\n\t\tlearning_rate: 5e-06,\n\t\tglobal_step: 10,\n"
        "\t\tinterval_runtime: 808.1082,\n\t\tinterval_samples_per_second: 0.198,\n\t\tepoch: 10.0\nnext\n",
        [{"step": 10, "loss": 1.5980545, "lr": 5e-6, "time": 1724869196.302}],
    ),
    Case(
        "paddlenlp",
        "\x1b[32m[2022-08-31 16:19:16,008] [    INFO]\x1b[0m - loss: 3.25806541, learning_rate: 2.99e-05, global_step: 10, "
        "interval_runtime: 2.2591, interval_samples_per_second: 3.541, interval_steps_per_second: 4.427, "
        "epoch: 0.0265\x1b[0m\n",
        [{"step": 10, "loss": 3.25806541, "lr": 2.99e-5, "samples_per_second": 3.541, "time": 1661962756.008}],
    ),
    Case(
        "paddleocr",
        "epoch: [1/2], global_step: 100, lr: 0.000005, loss: 69.376022, avg_reader_cost: 0.1 s, ips: 355.1 samples/s, "
        "eta: 0:32:33\n",
        [{"step": 100, "loss": 69.376022, "lr": 5e-6, "samples_per_second": 355.1}],
    ),
    Case(
        "mindformers",
        "2025-04-07 15:34:27,308 - mindformers[mindformers/core/callback/callback.py:529] - INFO - { Epoch:[  1/  2], "
        "step:[    1/   19], loss: 10.649, per_step_time: 103328ms, lr: 0.0, overflow cond: False, loss_scale: 1.0, "
        "global_norm: [1 31049], train_throughput_per_npu: 2.896T\n"
        "- INFO -    0.0% |                                                  | 0.00600 samples/s/p  25 days, 2:07:47 }\n"
        "2025-04-07 15:36:27,308 - mindformers[mindformers/core/callback/callback.py:529] - INFO - { Epoch:[  2/  2], "
        "step:[    3/   19], loss: 9.649, per_step_time: 103328ms, lr: 0.0, overflow cond: False, loss_scale: 1.0, "
        "global_norm: [44.313248], train_throughput_per_npu: 2.896T\n",
        [
            {"step": 1, "loss": 10.649, "grad_norm": None, "step_seconds": 103.328, "time": 1744040067.308},
            {"step": 22, "loss": 9.649, "grad_norm": 44.313248},
        ],
    ),
    Case(
        "mindformers",
        "[INFO] 2023-07-11 10:48:37,162 [.../callback.py:269] print_output_info: Epoch:[  1/  1], step:[  116/  125], "
        "loss:[2.220/2.221], time:1951.612 ms, lr:[2.4499998e-06], overflow cond: False, loss_scale: 16384.0\n"
        "[INFO] 2023-07-11 10:48:37,163 [.../callback.py:146] epoch_end: Per sink_size step time: 1963.915 ms, per step "
        "time: 490.979 ms, avg loss: 2.220\n",
        [{"step": 116, "loss": 2.22, "lr": 2.4499998e-6, "loss_scale": 16384, "step_seconds": 1.951612}],
    ),
    Case(
        "mindformers",
        "[INFO] 2023-07-11 10:48:37,162 [.../callback.py:269] print_output_info: Epoch:[  1/  1], step:[  1/  125], "
        "loss:[0.000/0.000], time:1951.612 ms, lr:[2.4e-06], overflow cond: True, loss_scale: 16384.0\n",
        [{"step": 1, "loss": None, "skipped_steps": 1}],
    ),
    Case(
        "mindformers",
        "... { step:[    1/   10], loss:  11.813965, per_step_time:  13570ms, grad_norm:  13.83, throughput:   1.36T\n",
        [{"step": 1, "loss": 11.813965, "grad_norm": 13.83, "step_seconds": 13.57}],
    ),
    Case(
        "verl",
        "\x1b[36m(main_task pid=28294)\x1b[0m step:2 - critic/kl:-0.000 - critic/vf_loss:3.138 - critic/grad_norm:237.830 "
        "- critic/lr:0.000 - actor/entropy_loss:0.442 - actor/pg_loss:-0.005 - actor/ppo_kl:-0.000 - actor/grad_norm:2.197 "
        "- actor/lr:0.000 - critic/score/mean:0.008 - timing_s/step:33.1\n",
        [{"step": 2, "loss": -0.005, "grad_norm": 2.197, "lr": 0.0, "step_seconds": 33.1}],
    ),
    Case(
        "verl",
        "(TaskRunner pid=1) step:2 - actor/pg_loss:np.float64(0.25) - actor/grad_norm:np.float64(nan) - timing_s/step:1.0\n",
        [{"step": 2, "loss": 0.25, "grad_norm": NAN}],
    ),
    Case("verl", "(TaskRunner pid=1) step:0 - val/test_score/gsm8k:0.5\n", [{"step": 0, "loss": None}]),
    Case(
        "slime",
        "(MegatronTrainRayActor pid=32167) [2025-12-17 14:10:28] model.py:649 - step 11: {'train/loss': "
        "-6.05359673500061e-09, 'train/pg_loss': -6.05359673500061e-09, 'train/entropy_loss': 0.1844, 'train/kl_loss': "
        "0.0020, 'train/grad_norm': 0.0799, 'train/lr-pg_0': 1e-06, 'train/lr-pg_1': 1e-06, 'train/step': 11}\n",
        [{"step": 11, "loss": -6.05359673500061e-09, "grad_norm": 0.0799, "lr": 1e-6, "time": 1765980628}],
    ),
    Case(
        "prime-rl",
        "[default0]:00:20:21 SUCCESS Step 0 | Time: 60.98s | Loss: 0.0000 | Entropy: 0.5\n",
        [{"step": 0, "loss": 0.0, "step_seconds": 60.98, "local_rank": 0}],
    ),
    Case(
        "cosmos-rl",
        "[rank0]:[cosmos] 2025-06-13 11:29:05,978 - cosmos - INFO - Step: 826/4725, Loss: -0.01001, Learning rate: "
        "2.00000e-06, Iteration time: 80.240s, Completion length: 426, Reward: 1.5\n",
        [{"step": 826, "loss": -0.01001, "lr": 2e-6, "step_seconds": 80.24, "reward": 1.5, "rank": 0}],
    ),
    Case(
        "nemo-rl",
        "========================= Step 2/20 =========================\n▶ Preparing batch...\n"
        "📊 Training Results:\n  • Loss: 0.6645\n  • Grad Norm: 1.5\n",
        [{"step": 2, "loss": 0.6645, "grad_norm": 1.5, "total_steps": 20}],
    ),
    Case(
        "dreamer",
        "[7000] expl_amount 0.3 / model_grad_norm nan / value_grad_norm 81.3 / image_loss 8496855334057326588896827408384.0 "
        "/ model_loss inf / fps 9.3\n",
        [{"step": 7000, "loss": INF, "grad_norm": NAN}],
    ),
    Case(
        "boxed table",
        "---------------------------------\n| approxkl           | 0.0001     |\n| policy_loss        | -2.98e-08  |\n"
        "| total_timesteps    | 1280       |\n---------------------------------\n",
        [{"step": 1280, "loss": -2.98e-8}],
    ),
    Case(
        "block",
        "[Aug29-02-11-40_gpu4_step][e2e.yaml][Step 552121 / 720000]\n\t\tloss: 0.410040, lr: 0.000050 time: 0.711537, eta: "
        "1 days, 9:06:34\n\t\taccuracy_cls: 0.930422\n\t\tloss_cls: 0.145275, loss_bbox: 0.090948\n",
        [{"step": 552121, "loss": 0.41004, "lr": 5e-5}],
    ),
]


@pytest.mark.parametrize("case", CASES)
def test_a_line_of_another_trainer_is_read(case):
    """Each in its own words."""
    check(case)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Iter 200: Val loss 0.227, Val took 7.406s\n", (200, 0.227)),
        ("eval metrics after step: 9, loss=9.420, total_weights=75264.0\n", (9, 9.42)),
        ("iter 1400: val loss 2.9000, val time: 8123.45 ms\n", (1400, 2.9)),
    ],
)
def test_their_evaluations_are_kept_apart(text, expected):
    """A validation line may have the same head as a training line."""
    seen = read(text)

    assert losses(seen) == []
    assert eval_losses(seen) == [expected]


def test_a_micro_batchs_loss_is_none_of_the_curve():
    """Debug lines carry losses of parts of a step."""
    assert samples(read("[GRAD-DBG] it=67 micro=7/10 loss=3.2387 toks=108 grad_l2=1.253e+01\n")) == []
