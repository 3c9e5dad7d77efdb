"""RETURNN, ESPnet, fairseq, meters of vision code, mmengine: epoch-wise counters and running means in brackets."""

import pytest

from diagnosis.observations import Phase
from tests.diagnosis.formats.dialects.table import INF, NAN, Case, check
from tests.diagnosis.formats.reading import eval_losses, losses, phases, read, skips

CASES = [
    Case(
        "returnn",
        "[default0]:ep 55 train, step 1347, ce 0.324, ctc_4 1.006, ctc_10 0.776, grad_norm:p2 3.388, num_seqs 27, "
        "mem_usage:cuda:0 67.8GB, 0.855 sec/step, elapsed 0:16:59, exp. remaining 0:03:45, complete 81.92%\n",
        [{"step": 1347, "loss": 0.324, "grad_norm": 3.388, "step_seconds": 0.855, "local_rank": 0, "epoch": 55}],
    ),
    Case(
        "vissl",
        "INFO 2021-12-02 18:52:20,806 log_hooks.py: 277: Rank: 0; [ep: 0] iter: 57; lr: 0.71785; loss: 2.94718; "
        "btime(ms): 192; eta: 0:00:08; peak_mem(M): 4176;\n",
        [{"step": 57, "loss": 2.94718, "lr": 0.71785, "step_seconds": 0.192, "rank": 0, "time": 1638471140.806}],
    ),
    Case(
        "espnet",
        "[node001] 2021-04-23 19:22:56,245 (trainer:636) INFO: 2epoch:train:12009-12640batch: iter_time=1.4e-04, "
        "forward_time=0.214, loss=65.129, backward_time=0.156, optim_step_time=0.05, optim0_lr0=1.485e-05, "
        "train_time=0.624\n",
        [{"step": 12640, "loss": 65.129, "lr": 1.485e-5, "node": "node001", "time": 1619205776.245}],
    ),
    Case(
        "fairseq",
        '[2022-04-08 18:48:05,372][train_inner][INFO] - {"epoch": 1, "update": 0.416, "loss": "9.276", '
        '"nll_loss": "8.1", "num_updates": "200", "lr": "3.125e-06", "gnorm": "1.421", "loss_scale": "128", '
        '"train_wall": "404", "wall": "425"}\n',
        [{"step": 200, "loss": 9.276, "lr": 3.125e-6, "grad_norm": 1.421, "loss_scale": 128, "time": 1649443685.372}],
    ),
    Case(
        "fairseq",
        'slurm_procid 0 : 2022-11-11 14:05:27 | INFO | train_inner | {"epoch": 1, "actv_norm": "0.035", '
        '"loss": "15.878", "ppl": "60214.8", "num_updates": "1", "lr": "2.80112e-07", "gnorm": "16.981"}\n',
        [{"step": 1, "loss": 15.878, "grad_norm": 16.981, "rank": 0, "time": 1668175527}],
    ),
    Case(
        "fairseq",
        "2020-07-17 06:48:46 | INFO | train_inner | epoch 001:    100 / 167138 loss=15.073, ppl=34470.4, wps=25871, "
        "ups=3.96, wpb=6529, bsz=8, num_updates=100, lr=1e-06, gnorm=7.216, loss_scale=128, train_wall=25, wall=83\n",
        [{"step": 100, "loss": 15.073, "lr": 1e-6, "grad_norm": 7.216, "tokens_per_second": 25871}],
    ),
    Case(
        "fairseq",
        "| epoch 010  2000 / 8223 loss=1.27 (1.50), wps=962, wpb=908, bsz=32, lr=0.001, clip=100%, gnorm=2.1427\n",
        [{"step": 9 * 8223 + 2000, "loss": 1.27, "grad_norm": 2.1427}],
    ),
    Case(
        "metric logger",
        "Epoch: [0]  [ 10/582]  eta: 0:17:00  lr: 0.000001  min_lr: 0.000000  loss: 0.6931 (0.6931)  loss_scale: "
        "32768.0000 (32768.0000)  weight_decay: 0.0500 (0.0500)  grad_norm: 0.3857 (inf)  time: 1.7  data: 0.4  "
        "max mem: 8900\n"
        "Epoch: [1]  [  0/582]  eta: 0:17:00  lr: 0.000001  min_lr: 0.000000  loss: nan (nan)  loss_scale: "
        "32768.0000 (32768.0000)  weight_decay: 0.0500 (0.0500)  grad_norm: inf (inf)  time: 1.7  data: 0.4  "
        "max mem: 8900\n",
        [
            {"step": 10, "loss": 0.6931, "grad_norm": 0.3857, "loss_scale": 32768},
            {"step": 582, "loss": NAN, "grad_norm": INF},
        ],
    ),
    Case(
        "detectron2",
        "[11/24 17:17:38 d2.utils.events]:  eta: 0:03:49  iter: 19  total_loss: 5.922  loss_cls: 1.709  loss_box_reg: "
        "0.001663  loss_mask: 0.6814  time: 0.8241  data_time: 0.8461  lr: 3.9962e-05  max_mem: 1966M\n",
        [{"step": 19, "loss": 5.922, "lr": 3.9962e-5, "step_seconds": 0.8241}],
    ),
    Case("detectron2", "[05/17 23:21:41 d2.utils.events]:  iter: 0       lr: N/A\n", [{"step": 0, "loss": None}]),
    Case(
        "timm",
        "Train: 0 [   0/2502 (  0%)]  Loss:  7.023479 (7.0235)  Time: 3.680s,  139.14/s  (3.680s,  139.14/s)  "
        "LR: 1.000e-06  Data: 1.6 (1.6)\n"
        "Train: 1 [2500/2502 (100%)]  Loss:  6.023479 (7.0235)  Time: 3.680s,  139.14/s  (3.680s,  139.14/s)  "
        "LR: 1.000e-06  Data: 1.6 (1.6)\n",
        [{"step": 0, "loss": 7.023479, "lr": 1e-6, "samples_per_second": 139.14}, {"step": 5002, "loss": 6.023479}],
    ),
    Case(
        "swin",
        "[2023-03-09 03:59:21 swin] (main.py 231): INFO Train: [1/300][10/1251]\teta 5:00:00 lr 0.000100\t wd 0.0500\t"
        "time 2.3000 (2.4000)\tloss 6.9000 (6.9100)\tgrad_norm 1.2000 (1.3000)\tloss_scale 65536.0000 (65536.0000)\t"
        "mem 10000MB\n",
        [{"step": 1261, "loss": 6.9, "lr": 1e-4, "grad_norm": 1.2, "loss_scale": 65536, "step_seconds": 2.3}],
    ),
    Case(
        "imagenet meters",
        "Epoch: [0][   0/1563]\tTime  2.207 ( 2.207)\tLoss 3.3179e+00 (3.3179e+00)\tAcc@1   0.00 (  0.00)\t"
        "Acc@5  37.50 ( 37.50)\n"
        "Epoch: [1][  10/1563]\tTime  2.207 ( 2.207)\tLoss 2.3179e+00 (3.3179e+00)\tAcc@1   0.00 (  0.00)\t"
        "Acc@5  37.50 ( 37.50)\n",
        [{"step": 0, "loss": 3.3179}, {"step": 1573, "loss": 2.3179}],
    ),
    Case(
        "mmengine",
        "10/30 22:18:02 - mmengine - INFO - Epoch(train) [1][200/735]  lr: 1.9802e-04  eta: 2:46:39  time: 2.8918  "
        "data_time: 0.0043  memory: 10762  loss: 2.7522  grad_norm: 3.0608\n"
        "10/30 22:48:02 - mmengine - INFO - Epoch(train) [2][ 10/735]  lr: 1.9802e-04  eta: 1 day, 2:46:39  time: "
        "2.8918  data_time: 0.0043  memory: 10762  loss: 2.7  grad_norm: 3.0608\n",
        [{"step": 200, "loss": 2.7522, "grad_norm": 3.0608, "lr": 1.9802e-4}, {"step": 745, "loss": 2.7}],
    ),
    Case(
        "mmengine",
        "10/30 22:18:02 - mmengine - INFO - Iter(train) [ 8859/96000]  lr: 2.0e-05  eta: 18 days, 16:13:38  time: "
        "18.5  data_time: 0.01  memory: 40211  loss: 1.2108  grad_norm: nan\n",
        [{"step": 8859, "loss": 1.2108, "grad_norm": NAN, "total_steps": 96000}],
    ),
    Case(
        "mmengine",
        "2021-05-01 10:00:00,000 - mmdet - INFO - Epoch [1][50/7330]\tlr: 1.978e-03, eta: 1 day, 2:46:39, time: 0.512, "
        "data_time: 0.05, memory: 3771, loss_rpn_cls: 0.6, loss: 5.9, grad_norm: 2.5\n",
        [{"step": 50, "loss": 5.9, "grad_norm": 2.5, "time": 1619863200}],
    ),
]


@pytest.mark.parametrize("case", CASES)
def test_a_meter_line_is_read(case):
    """The first number counts, not the mean behind it; epochs add up."""
    check(case)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '[2022-04-08 18:58:04,035][valid][INFO] - {"epoch": 1, "valid_loss": "6.389", "valid_num_updates": "479"}\n',
            [(479, 6.389)],
        ),
        (
            "| epoch 081 | valid on 'valid' subset | loss 6.846 | nll_loss 4.610 | ppl 24.41 | num_updates 10092\n",
            [(None, 6.846)],
        ),
        ('[2022-04-08 21:30:47,168][train][INFO] - {"epoch": 10, "train_loss": "3.924", "train_wps": "15929"}\n', []),
        ("| epoch 001 | loss 14.220 | nll_loss 13.935 | ppl 15664.53 | wps 1 | num_updates 67 | lr 1.68483e-05\n", []),
    ],
)
def test_fairseqs_evaluations_and_epoch_means_are_no_points(text, expected):
    """Only `train_inner` is the curve."""
    seen = read(text)

    assert losses(seen) == []
    assert eval_losses(seen) == expected


@pytest.mark.parametrize(
    "line",
    [
        "val[ 0/40]\tTime  2.171 ( 2.171)\tLoss 7.1221e-02 (7.1221e-02)\tAcc@1  98.44 ( 98.44)\n",
        "Test:  [ 0/40]  eta: 0:00:10  loss: 0.5 (0.5)  acc1: 80.0 (80.0)\n",
        "10/30 23:00:00 - mmengine - INFO - Iter(val) [100/200]  eta: 0:01:00  time: 0.6  data_time: 0.001\n",
    ],
)
def test_the_same_meters_of_an_evaluation_are_a_phase(line):
    """The line looks alike and is none of training."""
    seen = read(line)

    assert losses(seen) == []
    assert phases(seen) == [(Phase.EVALUATING, True)]


def test_a_counter_within_epochs_of_unknown_length_goes_on():
    """RETURNN's step begins again with each epoch."""
    line = "ep {epoch} train, step {step}, ce 0.3, num_seqs 27, 0.855 sec/step\n"
    text = "".join(line.format(epoch=epoch, step=step) for epoch in (5, 6) for step in (0, 50, 100))

    assert [step for step, _ in losses(read(text))] == [0, 50, 100, 100, 150, 200]


def test_the_skip_lines_of_speech_stacks_count():
    """One line, one step."""
    text = (
        "[2022-04-08 18:55:11,305][fairseq.trainer][INFO] - NOTE: gradient overflow detected, ignoring gradient, "
        "setting loss scale to: 128.0\n"
    )

    assert len(skips(read(text * 3))) == 3
