"""Kinds of lines that were met in public logs and issues after the dialects were written; numbers are made up."""

import math

import pytest

from tests.diagnosis.formats.dialects.table import NAN, Case, check
from tests.diagnosis.formats.reading import eval_losses, losses, read, samples

CASES = [
    Case(  # marian-nmt/marian#376, marian-dev#480
        "marian",
        "[2021-07-17 12:54:33] Ep. 1 : Up. 14000 : Sen. 965,843 : Cost 5.2017 : Time 359.59s : 3007.81 words/s\n"
        "[2021-07-17 13:50:36] [valid] Ep. 1 : Up. 14000 : cross-entropy : 130.97 : new best\n"
        "[2021-07-17 13:59:33] Ep. 1 : Up. 15000 : Sen. 975,843 : Cost 5.1017 : Time 359.59s : 3007.81 words/s : "
        "L.r. 4.6154e-05\n",
        [
            {"step": 14000, "loss": 5.2017, "tokens_per_second": 3007.81, "time": 1626526473},
            {"step": 15000, "loss": 5.1017, "lr": 4.6154e-5},
        ],
    ),
    Case(  # OpenNMT-py
        "opennmt",
        "[2021-03-05 11:05:10,417 INFO] Step 50/100000; acc:  11.45; ppl: 2345.12; xent: 7.76; lr: 0.00100; "
        "9876/8765 tok/s;     20 sec\n",
        [{"step": 50, "loss": 7.76, "lr": 0.001, "tokens_per_second": 8765, "total_steps": 100000}],
    ),
    Case(  # karpathy/llama2.c#461
        "llama2.c",
        "490 | loss 5.7543 | lr 4.900000e-05 | 8060.78ms | mfu 0.21%\nstep 500: train loss 5.7373, val loss 5.9544\n"
        "500 | loss 6.0091 | lr 5.000000e-05 | 870067.53ms | mfu 0.19%\n",
        [{"step": 490, "loss": 5.7543, "lr": 4.9e-5, "step_seconds": 8.06078, "mfu": 0.0021}, {"step": 500}],
    ),
    Case(  # karpathy/nanoGPT#215: a logger's time in front
        "nanogpt",
        "2023-03-22 09:30:39 iter 2920: loss 3.9883, time 1099.34ms, mfu 15.34%\n"
        "2023-03-22 09:32:32 step 3000: train loss 4.0390, val loss 4.0427\n"
        "2023-03-22 09:32:52 iter 3010: loss nan, time 1019.95ms, mfu 14.12%\n",
        [{"step": 2920, "loss": 3.9883, "time": 1679477439}, {"step": 3010, "loss": NAN}],
    ),
    Case(  # Lightning-AI/litgpt#1055
        "litgpt",
        "Ep 1 | iter 3 | stEp 1: loss train (curr): 1.610, val (prev val iter): None | iter time: 106.92 ms\n"
        "Ep 1 | iter 4 | step 1: loss train (curr): 1.585, val (prev val iter): None | iter time: 181.34 ms (opt.step)\n",
        [{"step": 1, "loss": 1.61, "step_seconds": 0.10692}, {"step": 1, "loss": 1.585}],
    ),
    Case(  # a loss under the script's own name (MedicalDataAugmentationTool-VerSe#31)
        "key and value",
        "02:29:53: train iter: 100 loss_net: nan loss_scale: 785.4200 norm: nan norm_average: 0.8729 seconds: 122.871\n",
        [{"step": 100, "loss": NAN, "grad_norm": NAN, "loss_scale": 785.42}],
    ),
    Case(  # hongzimao/deeprm#10: one pair a line under the step
        "lines",
        "-----------------\nIteration: \t 7\nNumTrajs: \t 200\nLoss:     \t 0.1269\nMaxRew: \t -199.9\n-----------------\n",
        [{"step": 7, "loss": 0.1269}],
    ),
    Case(
        "lines",
        "Step 100/500\nloss: 2.31\nlr: 3e-4\ngrad norm: 1.5\nStep 200/500\nloss: 2.11\nlr: 3e-4\ngrad norm: 1.4\n",
        [
            {"step": 100, "loss": 2.31, "lr": 3e-4, "grad_norm": 1.5, "total_steps": 500},
            {"step": 200, "loss": 2.11, "lr": 3e-4, "grad_norm": 1.4},
        ],
    ),
    Case(  # a table whose columns are set apart by blanks
        "table",
        "Step    Loss      Grad Norm    Learning Rate\n--------------------------------------------\n"
        "10      2.4567    1.234        0.0002000\n20      2.1234    0.987        0.0001950\n",
        [{"step": 10, "loss": 2.4567, "grad_norm": 1.234, "lr": 2e-4}, {"step": 20, "loss": 2.1234}],
    ),
    Case(  # NVIDIA/DeepLearningExamples#543: the running mean stands in front of the step's loss
        "dllogger",
        "DLL 2020-05-29 11:31:45.763470 - Training Epoch: 0 Training Iteration: 1787  average_loss : 2.354  "
        "step_loss : 3.1464  learning_rate : 0.00536 \n",
        [{"step": 1787, "loss": 3.1464, "lr": 0.00536}],
    ),
    Case(  # loguru prints where in the code it stands
        "key and value",
        "2025-03-01 12:00:10.123 | INFO     | trainer:train_step:210 - step=50 train_loss=3.1 lr=1.00e-04 grad_norm=1.0\n",
        [{"step": 50, "loss": 3.1, "lr": 1e-4, "grad_norm": 1.0}],
    ),
    Case(  # InterDigitalInc/PccAI#1: the mean of an epoch has no step
        "key and value",
        "[2023-03-10 19:57:36,863]     batch count: 300/308, iter: 300, bpp_loss: 0.018857, loss: 0.1049, aux_loss: 541.0\n"
        "[2023-03-10 19:57:37,438] Epoch: 3/3 --- time: 1134.9, lr: 0.000800, avg_bpp_loss: 0.0211, avg_loss: 0.1061\n",
        [{"step": 300, "loss": 0.1049}],
    ),
    Case(  # NVIDIA-NeMo/Speech#7957: tqdm writes ".0" behind a NaN
        "progress bar",
        "Epoch 0: :   3%|▎         | 9000/301500 [1:42:42<55:37:46, v_num=0-56, reduced_train_loss=nan.0, "
        "global_step=9e+3, consumed_samples=6.3e+5, train_step_timing in s=0.615, val_loss=7.040]\n",
        [{"step": 9000, "loss": NAN}],
    ),
    Case(  # marian-dev over MPI: epochs with a fraction, a cost with its count
        "marian",
        "2022-05-01 21:54:09 [2022-05-01 14:54:07 mpi:0] Ep. 24.151 : Up. 20785 : Sen. 646,829,638 : Cost 0.12538165 * "
        "25,437,554 @ 2,305,265 after 24,150,553,337 : Time 21.29s : 1193424.53 words/s : gNorm 0.0552 : L.r. 6.5e-04\n",
        [{"step": 20785, "loss": 0.12538165, "grad_norm": 0.0552, "lr": 6.5e-4}],
    ),
    Case(  # keras-team/keras#16906: each epoch has only its last redraw
        "progress bar",
        "Epoch 1/200\n125/125 [==============================] - 7s 30ms/step - loss: 3.9305 - accuracy: 0.2280\n"
        "Epoch 2/200\n125/125 [==============================] - 4s 31ms/step - loss: 3.5681 - accuracy: 0.3268\n",
        [{"step": 125, "loss": 3.9305}, {"step": 250, "loss": 3.5681}],
    ),
    Case(  # NVIDIA/waveglow: a likelihood, so below zero; NaN at the end
        "waveglow",
        "Epoch: 0\n0:\t-2.123456789\n1:\t-2.234567890\n2:\tnan\n",
        [{"step": 0, "loss": -2.123456789}, {"step": 1, "loss": -2.23456789}, {"step": 2, "loss": NAN}],
    ),
    Case(  # metrics that a script keeps as a list in YAML
        "lines",
        "- step: 1\n  loss: 2.5\n  lr: 0.001\n- step: 2\n  loss: 2.25\n  lr: 0.001\n",
        [{"step": 1, "loss": 2.5, "lr": 0.001}, {"step": 2, "loss": 2.25, "lr": 0.001}],
    ),
    Case(  # numbers as Python prints them: a tensor, a JAX array, a numpy scalar
        "key and value",
        "step 7 loss tensor(2.3125, device='cuda:0', grad_fn=<NllLossBackward0>)\n"
        "step: 8, loss: Array(2.25, dtype=float32), lr: 0.001\n"
        "Iteration: 9, Loss: tensor([2.125], device='cuda:0'), lr: np.float64(0.001)\n",
        [{"step": 7, "loss": 2.3125}, {"step": 8, "loss": 2.25, "lr": 0.001}, {"step": 9, "loss": 2.125, "lr": 0.001}],
    ),
    Case(  # stable-baselines3: the section rows of the box have no value
        "boxed table",
        "-----------------------------------------\n| rollout/                |             |\n"
        "|    ep_rew_mean          | 21.5        |\n| time/                   |             |\n"
        "|    total_timesteps      | 4096        |\n| train/                  |             |\n"
        "|    learning_rate        | 0.0003      |\n|    loss                 | 3.25        |\n"
        "-----------------------------------------\n",
        [{"step": 4096, "loss": 3.25, "lr": 0.0003}],
    ),
    Case(  # fairseq#1895: the epoch's dict with --log-format json
        "key and value",
        '2020-02-07 13:21:07 | INFO | train | {"epoch": 1, "train_loss": "11.049", "train_nll_loss": "10.399", '
        '"train_num_updates": "500", "train_lr": "6.2e-05", "train_gnorm": "1.4"}\n',
        [{"step": 500, "loss": 11.049, "lr": 6.2e-5, "grad_norm": 1.4}],
    ),
    Case(  # tqdm in a terminal too narrow for the bar itself
        "progress bar",
        "  4% 100/2238 [1:49:59<42:08:58, 70.97s/it, loss=1.5]\n  4% 101/2238 [1:51:10<42:07:47, 70.97s/it, loss=1.25]\n",
        [{"step": 100, "loss": 1.5}, {"step": 101, "loss": 1.25}],
    ),
    Case(  # stable-diffusion-webui#3277: the mean over the data set in front of the bar
        "progress bar",
        "dataset loss: 0.1425575:   1%|▍         | 811/100000 [06:19<12:53:21,  2.14it/s]\n",
        [{"step": 811, "loss": 0.1425575}],
    ),
    Case(  # espnet#4092 (Chainer's PrintReport): empty cells, each column under its name
        "table",
        "epoch       iteration   main/loss   validation/main/loss  elapsed_time\n"
        "0           100         0.0183482                         123.279\n"
        "0           200         -0.00548435                       236.267\n",
        [{"step": 100, "loss": 0.0183482}, {"step": 200, "loss": -0.00548435}],
    ),
    Case(  # flashlight/wav2letter#947
        "key and value",
        "epoch:        1 | nupdates:           76 | lr: 0.025000 | lrcriterion: 0.020000 | loss:    3.83998 | train-TER:  0.00"
        " | 1_validate.lst-loss:    2.24709 | timestamp: 2021-03-13 05:50:20\n",
        [{"step": 76, "loss": 3.83998, "lr": 0.025}],
    ),
    Case(  # mindyolo#402
        "key and value",
        "2024-12-25 09:58:42,787 [INFO] Epoch 1/200, Step 100/3995, imgsize (640, 640), loss: 11.6707, lbox: 3.6262, "
        "cur_lr: 0.09924906492233276\n",
        [{"step": 100, "loss": 11.6707, "lr": 0.09924906492233276}],
    ),
    Case(  # neuronx-nemo-megatron#28: what Lightning calls loss is its running mean, here NaN for a reason of its own
        "key and value",
        "Epoch 0: 566/20101 2:12:32, loss=nan, v_num=, val_loss_step=11.30, reduced_train_loss=3.910, global_step=564.0\n",
        [{"step": 564, "loss": 3.91}],
    ),
    Case(  # facebookresearch/lingua: metrics.jsonl
        "json lines",
        '{"global_step": 10, "acc_step": 0, "speed/wps": 12345.6, "optim/grad_norm": 1.23, "optim/lr": 0.0003, '
        '"loss/out": 3.624, "created_at": "2024-10-25T10:11:00.123+00:00"}\n',
        [{"step": 10, "loss": 3.624, "lr": 0.0003, "grad_norm": 1.23}],
    ),
    Case(  # PaddleX#2884
        "metric logger",
        "[02/04 22:46:24] ppdet.engine.callbacks INFO: Epoch: [1] [2087/7312] learning_rate: 0.000029 loss: 4.504654 "
        "loss_cls: 1.374781 eta: 67 days, 10:28:48 ips: 96.1758 images/s\n",
        [{"step": 9399, "loss": 4.504654, "lr": 0.000029}],
    ),
    Case(  # AlexeyAB/darknet: the running mean stands behind the step's own loss
        "darknet",
        " (next mAP calculation at 1000 iterations) \n 1: 1452.927612, 1452.927612 avg loss, 0.000000 rate, 1.875576 "
        "seconds, 64 images, 100.5 hours left\nLoaded: 0.000080 seconds\n"
        " 2: -nan, 1452.946106 avg, 0.001000 rate, 2.093251 seconds, 128 images\n",
        [
            {"step": 1, "loss": 1452.927612, "lr": 0.0, "step_seconds": 1.875576, "consumed_samples": 64},
            {"step": 2, "loss": NAN, "lr": 0.001, "rank": None},
        ],
    ),
    Case(  # stable-baselines#1035: the box pasted without its edges
        "boxed table",
        "".join(
            f"| explained_variance | 0.865          |\n| policy_loss               | -{step}.5e-08 |\n"
            f"| total_timesteps       | {40 * step}          |\n| value_loss                | 0.00052024494  |\n"
            for step in (1, 2)
        ),
        [{"step": 40, "loss": -1.5e-8}, {"step": 80, "loss": -2.5e-8}],
    ),
    Case(  # rsl_rl, of Isaac Lab
        "rsl_rl",
        "".join(
            "#" * 80 + f"\n                       Learning iteration {step}/1500                        \n\n"
            "                       Computation: 17530 steps/s (collection: 1.2s, learning 0.5s)\n"
            f"               Value function loss: 0.0123\n                    Surrogate loss: -0.00{step}\n"
            "             Mean action noise std: 1.00\n                       Mean reward: 0.56\n" + "-" * 80 + "\n"
            "                   Total timesteps: 98304\n                    Iteration time: 5.61s\n"
            for step in (7, 8)
        ),
        [{"step": 7, "loss": -0.007, "total_steps": 1500, "reward": 0.56}, {"step": 8, "loss": -0.008}],
    ),
    Case(  # a chart saved from TensorBoard
        "table",
        "Wall time,Step,Value\n1712345678.5,10,2.31\n1712345688.5,20,nan\n",
        [{"step": 10, "loss": 2.31, "time": 1712345678.5}, {"step": 20, "loss": NAN}],
    ),
    Case(  # home-made scripts: the word loss left out
        "key and value",
        "epoch   2/300  train 2.1759  val 1.7484  mr 0.50  lr 1.83e-04\n"
        "[pretrain] epoch   3/300  train=1.4298  heldout=1.0110  lr=2.83e-04  (best)\n",
        [{"loss": 2.1759, "lr": 1.83e-4}, {"loss": 1.4298, "lr": 2.83e-4}],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[f"{place} {case.dialect}" for place, case in enumerate(CASES)])
def test_it_is_read(case):
    """Step, loss and the rest, number for number."""
    check(case)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            (
                "Epoch 1/10: 100%|████| 40/40 [01:25<00:00,  2.14s/it, loss=3.3562, acc=37.88%]\n"
                "Epoch 1/10 - Train Loss: 3.3562, Train Acc: 37.88%, Test Acc: 59.38%\n"
                "Epoch 2/10: 100%|████| 40/40 [01:22<00:00,  2.07s/it, loss=2.0977, acc=54.86%]\n"
                "Epoch 2/10 - Train Loss: 2.0977, Train Acc: 54.86%, Test Acc: 64.59%\n"
            ),
            [(40, 3.3562), (80, 2.0977)],
        ),
        (
            (
                "100%|████| 352/352 [37:30<00:00,  6.39s/it, loss=0.429]\nTrain Loss: 0.4776 | Train Accuracy: 0.7752\n"
                "Val Loss:   0.3424 | Val Accuracy:   0.8536\n\n100%|████| 352/352 [35:47<00:00,  6.10s/it, loss=0.427]\n"
            ),
            [(352, 0.429), (704, 0.427)],
        ),
    ],
)
def test_the_last_redraw_of_each_epoch_goes_on_from_the_one_before(text, expected):
    """With or without a name; the lines that sum the epoch up are no points."""
    assert losses(read(text)) == expected


@pytest.mark.parametrize(
    "name",
    ["aux_loss", "kl_loss", "val_loss_net", "best_loss", "loss_ema", "critic_loss", "moe_router_loss", "loss_weight"],
)
def test_a_single_loss_that_is_not_the_training_loss_is_none(name):
    """A part, a mean, an evaluation or a setting does not become the loss because no other stands there."""
    assert losses(read(f"step: 100 {name}: 0.25 lr: 0.001\n")) == []


def test_counts_of_a_data_set_are_no_losses():
    """`train` and `val` with whole numbers tell how many examples there are."""
    assert losses(read("epoch: 3 train: 8939 val: 1119\ntrain: 1457  val: 181  test (held-out): 181\n")) == []


def test_two_losses_of_unknown_names_are_not_guessed():
    """Which of them is the whole cannot be told."""
    assert losses(read("step: 100 loss_a: 0.25 loss_b: 0.5\n")) == []
    assert eval_losses(read("step: 100 loss_a: 0.25 loss_b: 0.5\n")) == []


def test_steps_that_are_rounded_to_thousands_go_on_at_the_pace_of_the_exact_ones():
    """LeRobot prints 1000, 1200 and 1400 alike as `1K`."""
    line = "INFO 2026-06-12 10:53:24 ot_train.py:357 step:{} smpl:13K ep:40 epch:1.01 loss:{}.5 grdn:49.8 lr:1.0e-05 updt_s:0.5\n"
    printed = ("600", "800", "1K", "1K", "1K", "2K", "2K", "2K")
    text = "".join(line.format(step, place) for place, step in enumerate(printed))

    assert [step for step, _ in losses(read(text))] == [600, 800, 1000, 1200, 1400, 1600, 1800, 2000]


@pytest.mark.parametrize("first", [0, 1])
def test_a_counter_that_begins_again_goes_on_behind_the_whole_epoch(first):
    """SDF-Net: the last lines of an epoch go unprinted, and the line tells how long it is."""
    line = "[2026-06-15 10:23:21,019] INFO - Epoch [{}/100] Step [{}/756] Loss: {}.25\n"
    text = "".join(line.format(first + place // 3, place % 3 * 370, place) for place in range(6))

    assert [step for step, _ in losses(read(text))] == [0, 370, 740, 756, 1126, 1496]


def test_a_counter_that_goes_on_through_the_epochs_is_the_step():
    """Its total is the run's, not the epoch's."""
    text = "".join(f"epoch {1 + step // 500} step {step}/1000 loss {step}.25\n" for step in range(100, 1000, 200))

    assert [step for step, _ in losses(read(text))] == [100, 300, 500, 700, 900]


@pytest.mark.parametrize("first", [0, 1])
def test_epochs_are_counted_from_the_first_that_there_is(first):
    """minimind called its first epoch 0 once, and calls it 1 today."""
    line = "Epoch:[{}/20]({}/41914) loss:{}.25 lr:0.0001998 epoch_Time:56.0min:\n"
    text = "".join(line.format(first + place // 2, place % 2 * 41900, place) for place in range(4))

    assert [step for step, _ in losses(read(text))] == [0, 41900, 41914, 83814]


def test_a_log_that_begins_in_a_later_epoch_says_where_it_is():
    """A resumed run; the epochs before it are no part of this log."""
    assert [step for step, _ in losses(read("Epoch:[3/20](10/1000) loss:2.25 lr:0.0001998 epoch_Time:1min:\n"))] == [
        2010
    ]


def test_a_norm_that_is_called_grad_is_told_and_an_evaluation_between_is_no_point():
    """A trainer of one's own: a table of pipes, evaluations indented."""
    line = "step   {} | loss 1.{} | lr 1.79e-04 | grad 0.075 | 113.4k tok/s | mfu 114.07%\n"
    text = line.format(47700, 47) + "  [eval] step 47700 | val_loss 4.07\n" + line.format(47710, 46)
    text += "  eval 47710: train 1.5510 | val 1.5317\n" + line.format(47720, 45)

    reading = read(text)

    assert losses(reading) == [(47700, 1.47), (47710, 1.46), (47720, 1.45)]
    assert [one.grad_norm for one in samples(reading)] == [0.075] * 3


@pytest.mark.parametrize("printed", ["grad 30 ms", "grad: 30ms", "grad 0.03s", "grad=2.1GB"])
def test_a_norm_has_no_unit(printed):
    """A trainer that says how long each part of a step took, or how much memory it holds."""
    reading = read("".join(f"step {step} | loss 2.{step} | {printed} | lr 1e-4\n" for step in (1, 2)))

    assert losses(reading) == [(1, 2.1), (2, 2.2)]
    assert [one.grad_norm for one in samples(reading)] == [None, None]


@pytest.mark.parametrize("value", ["nan", "NaN", "inf", "-inf", "Infinity"])
@pytest.mark.parametrize("behind", ["", " | tok/s 900", " saved"])
def test_a_loss_that_is_no_number_is_not_the_next_value(value, behind):
    """Key and value stand side by side, and the learning rate behind them is no loss."""
    seen = samples(read(f"step 40/1000 loss {value} lr 1e-4{behind}\n"))

    assert [(one.step, one.lr) for one in seen] == [(40, 1e-4)]
    assert not math.isfinite(seen[0].loss)


def test_a_loss_that_is_not_there_is_not_the_next_value():
    """`None` and `N/A` say that there was none."""
    assert all(one.loss is None for one in samples(read("step 1 loss None lr 1e-4\nstep 2 loss N/A lr 1e-4\n")))
