"""What scripts of many kinds print, each with lines as its authors print them: points, first and last."""

import pytest

from diagnosis.findings import Severity
from diagnosis.formats.reader import LogReader
from diagnosis.judge import Judge
from diagnosis.observations import Origin, StepSample
from tests.diagnosis.lines import findings, kinds


def read(text):
    reader = LogReader("train.log", Origin(run="run42"))
    return reader, reader.feed(text.encode()) + reader.close()


def points(text):
    return [(one.step, one.loss) for one in read(text)[1] if isinstance(one, StepSample) and one.loss is not None]


def lines(told, places=range(1, 6)):
    return "".join(told(place) + "\n" for place in places)


LOSS_ALONE = [
    lambda place: f"loss: {2.5 - place / 10:.4f}",
    lambda place: f"2024-05-01 10:00:0{place},123 - INFO - loss: {2.5 - place / 10:.4f}",
    lambda place: f"[10:00:0{place}] train loss={2.5 - place / 10:.4f}",
    lambda place: f"training loss: {2.5 - place / 10:.4f}, acc: 0.5",
]


@pytest.mark.parametrize("told", LOSS_ALONE)
def test_a_loss_alone_is_a_point_in_the_order_of_the_lines(told):
    """Without any counter its step is its place."""
    assert points(lines(told)) == [(place, pytest.approx(2.5 - place / 10)) for place in range(1, 6)]


@pytest.mark.parametrize("told", LOSS_ALONE)
def test_a_loss_alone_beside_steps_is_no_point(told):
    """It is the mean of what was told before."""
    steps = lines(lambda place: f"step {place} loss 3.{place} lr 1e-4")

    assert points(steps + lines(told, range(2)) + steps.replace("step ", "step 1")) == [
        *((place, pytest.approx(3 + place / 10)) for place in range(1, 6)),
        *((10 + place, pytest.approx(3 + place / 10)) for place in range(1, 6)),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "chosen: -31.9375, rejected: -33.96875, loss: 0.6650807857513428",
        "validation loss: 2.31",
        "the smallest loss: 2.31",
        "best loss: 2.31",
        "layer 3 loss: 2.31",
    ],
)
def test_a_loss_behind_other_words_is_none_of_these(line):
    """Whatever it is, its order is no step."""
    assert points(f"{line}\n" * 5) == []


@pytest.mark.parametrize(
    ("told", "first", "last"),
    [
        (lambda n: f"[0/25][{n * 50}/1583]\tLoss_D: 1.9\tLoss_G: 5.{n}\tD(x): 0.57\tD(G(z)): 0.59 / 0.0077", 50, 5.5),
        (lambda n: f"[Epoch 0/200] [Batch {n}/938] [D loss: 0.69] [G loss: 0.{n}]", 1, 0.5),
        (lambda n: f"step: {n} D_loss: 0.69, G_loss: 0.{n}", 1, 0.5),
        (lambda n: f"{n}00 [D loss: 0.693, acc.: 51.56%] [G loss: 0.{n}]", 100, 0.5),
    ],
)
def test_of_two_losses_that_fight_the_generators_is_shown(told, first, last):
    """And nothing that keeps a level is judged by it."""
    text = lines(told)
    seen = points(text)

    assert (seen[0][0], seen[-1][1]) == (first, last)
    assert all(one.fields["adversarial"] == 1.0 for one in read(text)[1])


def test_a_generator_may_climb_as_it_likes():
    """Its loss is no level: no divergence, no plateau, nothing that asks a person; a NaN is one all the same."""
    climb = lines(lambda n: f"step: {n} D_loss: 0.1, G_loss: {1.0 + n * 0.02 + n % 7 * 0.1:.3f}", range(1, 1500))
    judge = Judge()

    said = [verdict for one in read(climb)[1] for verdict in judge.observe(one)]
    gone = [verdict for one in read("step: 1500 D_loss: nan, G_loss: nan\n")[1] for verdict in judge.observe(one)]

    assert [one for one in findings(said) if one.severity is not Severity.INFO] == []
    assert "plateau" not in kinds(said)
    assert "nonfinite_loss" in kinds(gone)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (
            lambda n: f"[ 1/ 3][ {n}00/ 1000] loss: 3.{n} grad_norm: 1.0{n} | clipped grad norm: 1.0 lr: 3e-4",
            [(100, 3.1), (500, 3.5)],
        ),
        (
            lambda n: (
                f"[  0]     {n}0 ||  B: 5.1 | C: 16.2 | M: 5.9 | S: 2.5 | T: 3{n}.5 || ETA: 5 days || timer: 0.50"
            ),
            [(10, 31.5), (50, 35.5)],
        ),
        (
            lambda n: f"[INFO] [1.46, 3.3, 14.7{n}, 13.0, 0.4, 1.0, 2{n}7000, 1.1124354334266811e-05]",
            [(217000, 32.41), (257000, 32.45)],
        ),
        (
            lambda n: (
                f"     {n}/299     3.29G   0.04   0.07   0.01   213   640: 100%|██████████| 100/100 [04:20<00:00,  7.1it/s]"
            ),
            [(100, 0.12), (500, 0.12)],
        ),
        (
            lambda n: (
                f"   {n - 1}/4999  55.1G  0.05461  0.01017  0.03715  0.1019  26  1856: 100%|██| 295/295 [12:51<00:00,  2.62s/it]"
            ),
            [(295, 0.1019), (1475, 0.1019)],
        ),
        (
            lambda n: f"2021-01-01 10:00:00,123 DEBUG TRAIN Batch 0/{n}00 loss 45.{n} loss_att 50.1 lr 0.00001 rank 0",
            [(100, 45.1), (500, 45.5)],
        ),
        (
            lambda n: f"INFO:root:Epoch[0] Batch [{n}00]\tSpeed: 123.40 samples/sec\taccuracy=0.1\tloss=2.{n}",
            [(100, 2.1), (500, 2.5)],
        ),
        (
            lambda n: (
                f"I0101 10:00:00.123456 140 logging_writer.py:48] [{n}00] accuracy=0.1, learning_rate=0.1, loss=2.{n}"
            ),
            [(100, 2.1), (500, 2.5)],
        ),
        (lambda n: f"333 15{n} Loss=0.{n} Time=0.040", [(151, 0.1), (155, 0.5)]),
        (
            lambda n: f"tick {n}     kimg {n}0.5     time 10m 05s       sec/tick 57.0    reserved 9.1   loss 0.2{n}",
            [(10500, 0.21), (50500, 0.25)],
        ),
        (
            lambda n: (
                "---------------------------\n| grad_norm      | 0.039    |\n| loss           | 0.1"
                f"{n}     |\n| loss_q0        | 0.2      |\n| step           | {n}00      |\n---------------------------"
            ),
            [(100, 0.11), (500, 0.15)],
        ),
        (lambda n: f"1875/1875 - 4s - loss: 0.{n} - accuracy: 0.9143 - 4s/epoch - 2ms/step", [(1, 0.1), (5, 0.5)]),
        (lambda n: f"[{n}]\ttrain-logloss:0.{n}\teval-logloss:0.7", [(1, 0.1), (5, 0.5)]),
        (lambda n: f"[{n}]\ttraining's binary_logloss: 0.{n}\tvalid_1's binary_logloss: 0.7", [(1, 0.1), (5, 0.5)]),
        (
            lambda n: f"{n}:\tlearn: 0.{n}\ttest: 0.7\tbest: 0.7 ({n})\ttotal: 1.1s\tremaining: 10s",
            [(1, 0.1), (5, 0.5)],
        ),
        (
            lambda n: (
                f"2021-01-01 10:00:00,123 INFO: [train..][epoch:  0, iter:{n:8,d}, lr:(1.000e-04,)] "
                f"[eta: 3 days, 1:10:10, time (data): 0.540 (0.002)] l_pix: {n}.0000e-02 "
            ),
            [(1, 0.01), (5, 0.05)],
        ),
        (
            lambda n: (
                f"\n\x1b[1m   --> TIME: 2022-01-01 10:00:00 -- STEP: {n}0/1299 -- GLOBAL_STEP: {n}0\x1b[0m\n"
                f"     | > decoder_loss: 33.5  (33.7)\n     | > loss: 2.{n}  (2.3)\n     | > current_lr: 0.00025\n"
            ),
            [(10, 2.1), (50, 2.5)],
        ),
        (
            lambda n: f"{{'accuracy': 0.3,\n 'learning_rate': 0.0003,\n 'loss': 2.{n},\n 'step': {n}0}}",
            [(10, 2.1), (50, 2.5)],
        ),
    ],
)
def test_lines_of_other_frameworks(told, expected):
    """Step and loss of the first and the last of five."""
    seen = points(lines(told))

    assert len(seen) == 5
    assert [seen[0], seen[-1]] == [(step, pytest.approx(loss)) for step, loss in expected]


def test_the_parts_of_a_table_are_added_up():
    """Ultralytics' `results.csv`, an epoch a row."""
    table = "epoch, time, train/box_loss, train/cls_loss, train/dfl_loss, metrics/precision(B), val/box_loss, lr/pg0\n"
    table += lines(lambda n: f"{n}, {n}0.5, 1.{n}, 2.0, 1.0, 0.5, 1.3, 0.001")

    assert points(table) == [(n, pytest.approx(4 + n / 10)) for n in range(1, 6)]


def test_a_norm_told_twice_is_the_one_before_clipping():
    """Whichever comes first."""
    for line in ("grad_norm: 7.5 | clipped grad norm: 1.0", "clipped grad norm: 1.0 | grad_norm: 7.5"):
        (seen,) = (one for one in read(f"step: 3 loss: 2.5 {line}\n")[1] if isinstance(one, StepSample))
        assert seen.grad_norm == 7.5


@pytest.mark.parametrize(
    "told",
    [
        lambda n: f"{n}0 2.{n}000 0.0010 0.000100",
        lambda n: f"{n}0,2.{n}000,0.000100",
        lambda n: f" B: 3.1 | C: 4.{n} | T: 7.3",
        lambda n: f"(epoch: 1, iters: {n}00, time: 0.118, data: 0.004) G_GAN: 1.{n} G_L1: 13.5 D_real: 0.9 D_fake: 0.2",
    ],
)
def test_numbers_that_nobody_can_name_are_counted(told):
    """Not read wrongly, and not passed over: from the second line of a kind on."""
    reader, seen = read(lines(told))

    assert not any(isinstance(one, StepSample) for one in seen)
    assert reader.unread.count == 4
    assert reader.unread.samples[0] == told(2).strip()


@pytest.mark.parametrize(
    "line",
    [
        "AdamW(lr=0.001, eps=0.00000001, weight_decay=0.01)",
        "memory (MB) | allocated: 15492.8 | max allocated: 15492.8 | reserved: 20344.0",
        "10.0.0.1 10.0.0.2 10.0.0.3",
        "2024 10 11",
    ],
)
def test_settings_and_addresses_are_no_metrics(line):
    """However often they come."""
    assert read(f"{line}\n" * 5)[0].unread.count == 0
