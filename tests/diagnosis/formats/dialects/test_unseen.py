"""Kinds of lines of logs that were read for the first time after their right answers were written; numbers are made up."""

import math

import pytest

from tests.diagnosis.formats.dialects.table import Case, check
from tests.diagnosis.formats.reading import attempts, losses, read, samples

CASES = [
    Case(  # MLPerf's RNN-T: one line in a thousand steps
        "dllogger",
        "DLL 2023-05-15 13:57:16.743792 - epoch   23 | iter   18/181 | loss   28.58 | utts/s   203 | took  7.58 s | lrate 7.20e-03\n"
        "DLL 2023-05-15 13:58:26.000085 - epoch   23 | avg train utts/s  3615 | took 76.92 s\n"
        "DLL 2023-05-15 13:58:26.676906 - epoch   23 |   dev ema wer   8.08 | took  0.68 s\n"
        "DLL 2023-05-15 14:04:25.166276 - epoch   28 | iter  113/181 | loss   30.79 | utts/s    32 | took 47.93 s | lrate 7.20e-03\n",
        [{"step": 4000, "loss": 28.58, "epoch": 23, "lr": 7.2e-3}, {"step": 5000, "loss": 30.79, "epoch": 28}],
    ),
    Case(  # facebookresearch/demucs: its validation's lines have the same shape
        "audiocraft",
        "- Train | Epoch 1 | 572/573 | 1.48 it/sec | Loss 0.2019 | Reco 0.1994 | Grad 0.0963 | Penalty 247.226\n"
        "- Train Summary | Epoch 1 | Loss=0.2019 | Reco=0.1994 | Grad=0.0963 | Penalty=247.2265\n"
        "- Valid | Epoch 1 | 1/3 | 0.31 it/sec | Loss 0.2213 | Reco 0.2213 | Nsdr 3.922\n"
        "- Train | Epoch 2 | 143/573 | 1.47 it/sec | Loss 0.1825 | Reco 0.1803 | Grad 0.0848 | Penalty 214.215\n",
        [{"step": 572, "loss": 0.2019, "grad_norm": 0.0963}, {"step": 573 + 143, "loss": 0.1825}],
    ),
    Case(  # HKBU-HPML/FADNet: a row is an epoch
        "table",
        "train_loss\ttrain_EPE\tEPE\n14.6918\t27.5545\t21.5814\n11.6241\t19.7480\t18.7638\n",
        [{"step": 1, "loss": 14.6918}, {"step": 2, "loss": 11.6241}],
    ),
    Case(  # eriklindernoren/PyTorch-YOLOv3: parts, and their sum
        "key and value",
        "[Epoch 0/30, Batch 322/1313] [Losses: x 0.1123, y 0.1123, w 0.9123, h 0.8123, conf 0.7551, cls 0.1023, total 2.8067]\n"
        "[Epoch 0/30, Batch 323/1313] [Losses: x nan, y nan, w nan, h nan, conf 0.7551, cls nan, total nan]\n",
        [{"step": 322, "loss": 2.8067}, {"step": 323, "loss": math.nan}],
    ),
    Case(  # LeelaChessZero: the squared error is a part
        "key and value",
        "step 100, lr=0.02 policy=3.1123 value=0.912 mse=0.212 reg=1.112 total=4.5123 (320.11 pos/s)\n"
        "step 200, lr=0.02 policy=3.0123 value=0.902 mse=0.202 reg=1.112 total=4.4123 (320.11 pos/s)\n",
        [{"step": 100, "loss": 4.5123, "lr": 0.02}, {"step": 200, "loss": 4.4123}],
    ),
    Case(  # JDAI-CV/fast-reid: the date is no counter
        "key and value",
        "[04/14 11:48:20 fastreid.utils.events]:  eta: 0:10:21  epoch/iter: 52/13673  total_loss: 7.286  loss_cls_b1: "
        "0.7251  loss_triplet_b1: 0.05893  time: 0.3308  lr: 4.56e-05  max_mem: 18418M\n"
        "[04/14 11:49:04 fastreid.utils.events]:  eta: 0:09:38  epoch/iter: 53/13799  total_loss: 7.206  loss_cls_b1: "
        "0.712  loss_triplet_b1: 0.05681  time: 0.3309  lr: 3.41e-05  max_mem: 18418M\n",
        [{"step": 13673, "loss": 7.286, "epoch": 52, "lr": 4.56e-5}, {"step": 13799, "loss": 7.206, "epoch": 53}],
    ),
    Case(  # pmixer/SASRec.pytorch
        "key and value",
        "loss in epoch 1 iteration 0: 1.3861\nloss in epoch 1 iteration 1: 1.3761\nloss in epoch 2 iteration 0: 1.3661\n"
        "loss in epoch 2 iteration 1: 1.3561\n",
        [{"step": 0, "loss": 1.3861}, {"step": 1, "loss": 1.3761, "epoch": 1}, {"loss": 1.3661}, {"loss": 1.3561}],
    ),
    Case(  # milesial/Pytorch-UNet counts images
        "progress bar",
        "Epoch 1/5:   2%|2         | 96/4580 [00:20<15:12,  4.91img/s, loss (batch)=0.812]\n"
        "Epoch 1/5:   4%|4         | 192/4580 [00:40<14:52,  4.91img/s, loss (batch)=0.712]\n",
        [{"step": 96, "loss": 0.812}, {"step": 192, "loss": 0.712}],
    ),
    Case(  # mlfoundations/open_clip: `Batch (t)` is a time
        "key and value",
        "2023-06-29,15:44:40 | INFO | Train Epoch: 0 [    64/109468 (0%)] Loss: 1.0672 (1.067) Data (t): 14.173 "
        "Batch (t): 18.240, 1.75441/s LR: 0.000000 Logit Scale: 100.000 - V4\n"
        "2023-06-29,15:45:36 | INFO | Train Epoch: 0 [  6464/109468 (3%)] Loss: 0.97884 (1.023) Data (t): 0.158 "
        "Batch (t): 0.559, 36.0876/s LR: 0.000001 Logit Scale: 99.995 - V4\n",
        [{"step": 64, "loss": 1.0672, "lr": 0.0}, {"step": 6464, "loss": 0.97884, "lr": 1e-6}],
    ),
    Case(  # keras-rl: the steps of an episode are no step
        "key and value",
        " 39160/50000: episode: 569, duration: 0.350s, episode steps: 70, steps per second: 200, loss: 78.835, mae: 121\n"
        " 39260/50000: episode: 570, duration: 0.500s, episode steps: 100, steps per second: 200, loss: 66.13, mae: 120\n",
        [{"step": 39160, "loss": 78.835}, {"step": 39260, "loss": 66.13}],
    ),
    Case(  # DeepGraphLearning/KnowledgeGraphEmbedding: two parts, and what they make
        "key and value",
        "2021-11-08 04:46:56 INFO     Training average positive_sample_loss at step 0: 3.182809\n"
        "2021-11-08 04:46:56 INFO     Training average negative_sample_loss at step 0: 0.052633\n"
        "2021-11-08 04:46:56 INFO     Training average loss at step 0: 1.617721\n"
        "2021-11-08 04:47:30 INFO     Training average positive_sample_loss at step 100: 2.451416\n"
        "2021-11-08 04:47:30 INFO     Training average negative_sample_loss at step 100: 0.146308\n"
        "2021-11-08 04:47:30 INFO     Training average loss at step 100: 1.298862\n",
        [{"step": 0, "loss": 1.617721}, {"step": 100, "loss": 1.298862}],
    ),
    Case(  # WangYueFt/dgcnn
        "key and value",
        "Train 0, loss: 1.786924, train acc: 0.726222, train avg acc: 0.607413\n"
        "Test 0, loss: 1.532116, test acc: 0.818071, test avg acc: 0.737116\n"
        "Train 1, loss: 1.512924, train acc: 0.816222, train avg acc: 0.727413\n",
        [{"step": 0, "loss": 1.786924}, {"step": 1, "loss": 1.512924}],
    ),
    Case(  # charlesq34/pointnet
        "key and value",
        "**** EPOCH 000 ****\n----0-----\nmean loss: 2.510424\naccuracy: 0.361024\n----1-----\nmean loss: 2.110424\n"
        "accuracy: 0.461024\neval mean loss: 1.810970\neval accuracy: 0.550324\n**** EPOCH 001 ****\n----0-----\n"
        "mean loss: 1.810424\n",
        [{"step": 1, "loss": 2.510424}, {"step": 2, "loss": 2.110424}, {"step": 3, "loss": 1.810424}],
    ),
    Case(  # isl-org/Open3D-ML
        "key and value",
        "INFO - 2021-04-01 12:00:01,003 - semantic_segmentation - === EPOCH 0/100 ===\n"
        "INFO - 2021-04-01 12:05:01,001 - semantic_segmentation - loss train: 1.981  eval: 2.344\n"
        "INFO - 2021-04-01 12:05:01,002 - semantic_segmentation - acc train: 0.281  eval: 0.244\n"
        "INFO - 2021-04-01 12:05:01,003 - semantic_segmentation - === EPOCH 1/100 ===\n"
        "INFO - 2021-04-01 12:10:01,001 - semantic_segmentation - loss train: 1.571  eval: 2.044\n",
        [{"step": 1, "loss": 1.981}, {"step": 2, "loss": 1.571}],
    ),
    Case(  # Calamari-OCR/calamari
        "key and value",
        "#00000100: loss=123.4213 ler=0.9000 dt=0.2000s\n PRED: 'Dr hnd'\n TRUE: 'Der Hund'\n"
        "#00000200: loss=73.4213 ler=0.6000 dt=0.2000s\n",
        [{"step": 100, "loss": 123.4213}, {"step": 200, "loss": 73.4213}],
    ),
    Case(  # RasaHQ/rasa
        "progress bar",
        "Epochs:  10%|#         | 10/100 [00:01<00:09, 9.50it/s, t_loss=3.23, i_acc=0.512]\n"
        "Epochs:  20%|##        | 20/100 [00:02<00:08, 9.50it/s, t_loss=2.23, i_acc=0.812]\n",
        [{"step": 10, "loss": 3.23}, {"step": 20, "loss": 2.23}],
    ),
    Case(  # xiaotudui/pytorch-tutorial
        "key and value",
        "-------第 1 轮训练开始------\n训练次数：100, Loss：1.9817\n训练次数：200, Loss：1.9057\n整体测试集上的Loss: 262.62\n"
        "整体测试集上的正确率: 0.38\n-------第 2 轮训练开始------\n训练次数：300, Loss：1.2562\n",
        [{"step": 100, "loss": 1.9817}, {"step": 200, "loss": 1.9057}, {"step": 300, "loss": 1.2562}],
    ),
    Case(  # xiaolonw/TimeCycle: no column counts the rows
        "table",
        "Learning Rate\tTrain Loss\tTheta Loss\t\n0.000200\t-0.002401\t0.366\t\n0.000200\t-0.001740\t0.402\t\n",
        [{"step": 1, "loss": -0.002401, "lr": 2e-4}, {"step": 2, "loss": -0.00174}],
    ),
    Case(  # reczoo/FuxiCTR: the process's number behind the time
        "key and value",
        "2022-01-24 13:22:26,561 P834 INFO Train loss: 0.461620\n"
        "2022-01-24 13:22:26,561 P834 INFO ************ Epoch=1 end ************\n"
        "2022-01-24 13:34:08,415 P834 INFO [Metrics] AUC: 0.806814 - logloss: 0.444616\n"
        "2022-01-24 13:34:08,692 P834 INFO Train loss: 0.456468\n",
        [{"step": 1, "loss": 0.46162}, {"step": 2, "loss": 0.456468}],
    ),
    Case(  # google/flax, ImageNet on several hosts
        "clu",
        "I1002 21:38:13.425730 139917864867392 logging_writer.py:35] [400] steps_per_second=1.58, train_accuracy=0.37, "
        "train_learning_rate=0.358, train_loss=3.2198\n"
        "I1002 21:39:20.572115 139917864867392 logging_writer.py:35] [500] eval_accuracy=0.71, eval_loss=1.31\n",
        [{"step": 400, "loss": 3.2198, "lr": 0.358}],
    ),
    Case(  # the first BasicSR
        "basicsr",
        "19-08-11 17:44:05.314 - INFO: <epoch:  1, iter:     100, lr:2.000e-04> l_pix: 6.0063e-02 \n"
        "19-08-11 17:54:10.926 - INFO: <epoch:  5, iter:     300> psnr: 1.3831e+01\n"
        "19-08-11 17:58:55.067 - INFO: <epoch:  7, iter:   1,400, lr:2.000e-04> l_pix: 4.7359e-02 \n",
        [{"step": 100, "loss": 0.060063, "lr": 2e-4}, {"step": 1400, "loss": 0.047359}],
    ),
    Case(  # deepmodeling/deepmd-kit: lcurve.out
        "table",
        "#  step      rmse_val    rmse_trn    rmse_e_trn    rmse_f_trn         lr\n"
        "# If there is no available reference data, rmse_*_{val,trn} will print nan\n"
        "      0      2.54e+01      2.77e+01      6.40e-01      8.74e-01    1.0e-03\n"
        "    100      1.39e+01      1.29e+01      2.22e-01      4.39e-01    9.9e-04\n",
        [{"step": 0, "loss": 27.7, "lr": 1e-3}, {"step": 100, "loss": 12.9, "lr": 9.9e-4}],
    ),
    Case(  # NumPy's savetxt
        "table",
        "# step loss lr\n10 2.5 0.001\n20 2.25 0.001\n",
        [{"step": 10, "loss": 2.5, "lr": 0.001}, {"step": 20, "loss": 2.25}],
    ),
    Case(  # apache/mxnet
        "key and value",
        "INFO:root:Epoch[0] Batch [10]\tSpeed: 3.22 samples/sec\tCrossEntropy=4.200497\tSmoothL1=0.816728\n"
        "INFO:root:Epoch[0] Batch [20]\tSpeed: 3.32 samples/sec\tCrossEntropy=3.900497\tSmoothL1=0.716728\n",
        [{"step": 10, "loss": 4.200497}, {"step": 20, "loss": 3.900497}],
    ),
    Case(  # deepinsight/insightface on mxnet
        "key and value",
        "INFO:root:Epoch[0] Batch [115980-116000]\tSpeed: 3.24 samples/sec\tacc=0.0015\tlossvalue=35.065247\n",
        [{"step": 115980, "loss": 35.065247}],
    ),
    Case(
        "key and value",
        "Round 5, Train Loss: 0.411, Test Acc: 0.81\nRound 6, Train Loss: 0.401, Test Acc: 0.82\n",
        [{"step": 1, "loss": 0.411, "epoch": 5}, {"step": 2, "loss": 0.401, "epoch": 6}],
    ),
    Case(  # coqui-ai/TTS, VITS: a discriminator's sum before the model's
        "coqui",
        "    --> STEP: 49/377 -- GLOBAL_STEP: 370050\n     | > loss_disc: 2.40120  (2.51074)\n"
        "     | > loss_0: 2.40120  (2.51074)\n     | > grad_norm_0: 58.95755  (36.29088)\n"
        "     | > loss_gen: 2.45456  (2.27450)\n     | > loss_mel: 17.61349  (17.25639)\n"
        "     | > loss_1: 31.08367  (30.01000)\n     | > grad_norm_1: 799.00659  (482.22906)\n"
        "     | > current_lr_0: 0.00018 \n     | > current_lr_1: 0.00017 \n     | > step_time: 0.55960  (0.62170)\n\n",
        [{"step": 370050, "loss": 31.08367, "grad_norm": 799.00659, "lr": 0.00017, "adversarial": 1.0}],
    ),
    Case(  # lululxvi/deepxde: one loss for each equation
        "table",
        "Step      Train loss                        Test loss                         Test metric\n"
        "0         [1.45e+02, 3.45e+04, 8.46e-03]    [1.42e+02, 3.43e+04, 0.00e+00]    []  \n"
        "1000      [1.16e+02, 7.83e+02, 1.00e+02]    [7.88e+01, 5.48e+02, 0.00e+00]    []  \n",
        [{"step": 0, "loss": 34645.00846}, {"step": 1000, "loss": 999.0}],
    ),
    Case(  # suragnair/alpha-zero-general
        "key and value",
        "Epoch 10 Iter: 1 Training Net |################| (404/404) Data: 0.000s | Batch: 0.031s | Total: 0:00:12 | "
        "ETA: 0:00:01 | Loss_pi: 0.9987 | Loss_v: 0.241\n",
        [{"step": 1, "loss": 0.9987}],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.text[:40])
def test_unseen_kinds(case):
    """Read with every field, and with the right name."""
    check(case)


def test_a_round_of_clients_tells_the_training_s_loss():
    """tensorflow-federated: a heading, the evaluation's line, the training's."""
    text = "Round {n}\n\tEval metrics: loss=9.5, accuracy=0.500\n\tTrain metrics: loss={l}, accuracy=0.347\n"

    seen = losses(read("".join(text.format(n=n, l=2.5 - n / 4) for n in range(4))))

    assert seen == [(1, 2.5), (2, 2.25), (3, 2.0), (4, 1.75)]


def test_a_time_that_is_called_after_the_loss_is_none():
    """V2AI/Det3D prints the loss itself in another line."""
    line = "Epoch [1/20000][{n}0/1000]\tlr: 0.00003, time: 4.022, loss_parse_time: 0.000 memory: 2641, \n"

    assert losses(read("".join(line.format(n=n) for n in range(1, 9)))) == []


@pytest.mark.parametrize("word", ["total step", "total_step", "total iteration:", "Total iter =", "total_iters:"])
def test_a_total_is_the_step_where_it_counts(word):
    """At the beginning of a line as well as behind an epoch."""
    text = "".join(f"{word} {n}0, loss: 2.{n}\nepoch 1 {word} {n}5 loss: 2.{n}\n" for n in range(1, 6))

    assert [step for step, _ in losses(read(text))] == [n * 10 + half for n in range(1, 6) for half in (0, 5)]


@pytest.mark.parametrize("line", ["total steps: 1000, loss: 2.{n}", "total_steps=1000 loss=2.{n}"])
def test_how_many_steps_there_will_be_is_no_step(line):
    """The same number on all lines."""
    assert all(one.step != 1000 for one in samples(read("".join(line.format(n=n) + "\n" for n in range(1, 9)))))


@pytest.mark.parametrize(
    "line", ["total iteration: 5000, iter: {n}, loss: 2.{n}", "iter {n} total step 900 loss 2.{n}"]
)
def test_beside_a_step_a_total_is_none(line):
    """Wherever it stands."""
    assert [step for step, _ in losses(read("".join(line.format(n=n) + "\n" for n in range(1, 6))))] == [1, 2, 3, 4, 5]


def test_numbers_of_several_equations_are_one_loss_only_if_all_are_numbers():
    """`[nan, 1.0]` is NaN."""
    table = "Step    Train loss    Test loss\n0    [1.0, 2.0]    [1.0, 2.0]\n5    [nan, 2.0]    [1.0, 2.0]\n"

    first, second = losses(read(table))
    assert first == (0, 3.0)
    assert second[0] == 5
    assert math.isnan(second[1])


def test_two_halves_of_a_loss_are_no_points():
    """awslabs/dgl-ke tells what true and made up edges cost, and then the loss."""
    text = "".join(
        f"[proc 0][Train]({step}/40000) average {name}: {loss}\n"
        for step, half, other, whole in ((1000, 0.7142, 0.5642, 0.6392), (2000, 0.4142, 0.3642, 0.3892))
        for name, loss in (("pos_loss", half), ("neg_loss", other), ("loss", whole), ("regularization", 0.0012))
    )

    assert [(one.step, one.loss) for one in samples(read(text))] == [(1000, 0.6392), (2000, 0.3892)]


def test_the_iteration_of_an_exception_is_no_loss():
    """Detectron2 ends with it."""
    text = "FloatingPointError: Loss became infinite or NaN at iteration=2!\nloss_dict = {'loss_mask': tensor(nan)}\n"

    assert samples(read(text)) == []


@pytest.mark.parametrize(
    "table",
    ["model,train_loss,val_loss\nsmall,2.31,2.41\nlarge,1.31,1.41\n", "loss,score\n2.31,0.41\n1.31,0.51\n"],
    ids=["rows with names", "any loss"],
)
def test_a_table_of_results_is_no_curve(table):
    """Nothing counts its rows, and not only numbers of a training stand in it."""
    assert samples(read(table)) == []


def test_means_since_the_start_are_no_losses():
    """MLPerf's Mask R-CNN tells each point in a line of its own, and the means of its meters in MLLOG."""
    text = "".join(
        f"2023-05-12 03:28:0{n},112 maskrcnn_benchmark.trainer INFO: eta: 0:39:10  iter: 275{n}0  time: 0.1835 (0.1888)  "
        f"data: 0.0002 (0.0140)  loss: 0.595{n} (0.7941)  loss_classifier: 0.1958 (0.2733)  lr: 0.080000  loss_scaler: "
        '32768.0  max mem: 19164\n:::MLLOG {"namespace": "", "time_ms": 1683862086112, "event_type": "POINT_IN_TIME", "key": '
        '"tracked_stats", "value": {"time": 0.18875, "data": 0.01403, "loss": 0.79412, "loss_classifier": 0.27326, '
        f'"throughput": 339.06}}, "metadata": {{"lineno": 485, "step": 275{n}0}}}}\n'
        for n in range(1, 6)
    )

    assert losses(read(text)) == [(27500 + 10 * n, pytest.approx(0.595 + n / 10000)) for n in range(1, 6)]


def test_the_samples_of_a_block_are_no_new_beginning():
    """NeMo's MLPerf runs tell the pace of each block between two evaluations, with as many samples as it had."""
    line = (
        '0: :::MLLOG {{"namespace": "", "time_ms": 17783820629{n}5, "event_type": "POINT_IN_TIME", "key": "tracked_stats", '
        '"value": {{"train_step_time": 0.56{loss}}}, "metadata": {{"lineno": 328, "samples_count": {samples}}}}}\n'
    )
    told = [(1, ', "reduced_train_loss": 3.75', 72192), (2, "", 12288), (3, ', "reduced_train_loss": 3.5', 73728)]
    reader = read("".join(line.format(n=n, loss=loss, samples=samples) for n, loss, samples in told))

    assert losses(reader) == [(72192, 3.75), (73728, 3.5)]
    assert attempts(reader) == []
