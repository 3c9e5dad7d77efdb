"""Means of epochs and estimates of evaluations are points only where a log tells no other losses."""

import pytest

from tests.diagnosis.formats.reading import eval_losses, losses, read

BATCH = "2025-03-02 08:16:{} - INFO - Epoch {} - Batch loss: {}\n"
MEAN = "2025-03-02 08:16:50 - INFO - Epoch {} - Average Train Loss: {}\n"
ESTIMATE = "step {}: train loss {:.4f}, val loss {:.4f}\n"


def test_a_mean_below_its_batches_is_no_point():
    """A T5 script of one's own: forty batches an epoch, and their mean."""
    epochs = "".join(
        "".join(BATCH.format(second, epoch, 0.5 - second / 100) for second in range(10, 50)) + MEAN.format(epoch, 0.7)
        for epoch in range(1, 4)
    )

    assert len(losses(read(epochs))) == 120
    assert 0.7 not in {loss for _, loss in losses(read(epochs))}


def test_a_mean_in_front_of_the_first_batch_is_no_point_either():
    """A log that was cut in the middle of an epoch."""
    text = MEAN.format(4, 0.9) + "".join(BATCH.format(second, 5, 0.5) for second in range(10, 20))

    assert {loss for _, loss in losses(read(text))} == {0.5}


def test_means_are_the_curve_where_there_is_nothing_else():
    """One line an epoch is all that this script prints."""
    text = "".join(MEAN.format(epoch, 1 / epoch) for epoch in range(1, 5))

    assert losses(read(text)) == [(1, 1.0), (2, 0.5), (3, pytest.approx(1 / 3)), (4, 0.25)]


def test_an_epochs_sum_with_its_own_step_is_no_point_between_iterations():
    """OpenLTM, Autoformer and kin: `Steps: 1288` is the length of the epoch."""
    text = "".join(
        f"\titers: {step}, epoch: {epoch} | loss: 0.{step}5\n\tspeed: 0.0710s/iter; left time: 907.8888s\n"
        + (f"Epoch: {epoch}, Steps: 1288 | Train Loss: 0.7 Vali Loss: 0.8 Test Loss: 0.9\n" if step == 300 else "")
        for epoch in (1, 2)
        for step in (100, 200, 300)
    )

    assert [step for step, _ in losses(read(text))] == [100, 200, 300, 400, 500, 600]


def test_a_step_that_was_evaluated_is_still_a_step():
    """The line of every tenth step has the evaluation's loss as well."""
    text = "".join(f"step {step} loss 2.5 lr 1e-4{' val_loss 2.7' if step % 3 == 0 else ''}\n" for step in range(1, 10))

    assert [step for step, _ in losses(read(text))] == list(range(1, 10))


def test_estimates_alone_are_the_curve():
    """The script of Karpathy's lecture prints nothing else."""
    seen = read("".join(ESTIMATE.format(step, 4 - step / 1000, 4.1 - step / 1000) for step in range(0, 2000, 500)))

    assert [step for step, _ in losses(seen)] == [0, 500, 1000, 1500]
    assert [step for step, _ in eval_losses(seen)] == [0, 500, 1000, 1500]


def test_estimates_beside_iterations_are_none():
    """As in nanoGPT, whatever the words of the iterations are."""
    text = "".join(
        (ESTIMATE.format(step, 4, 4.1) if step % 20 == 0 else "") + f"step {step} | loss {5 - step / 100}\n"
        for step in range(0, 60, 10)
    )

    assert [step for step, _ in losses(read(text))] == [0, 10, 20, 30, 40, 50]


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("[1,  2000] loss: 2.173\n[1,  4000] loss: 1.873\n[2,  2000] loss: 1.573\n", [2000, 4000, 6000]),
        ("[100/1000] loss: 2.3\n[200/1000] loss: 2.2\n", [100, 200]),
        ("100/1000 loss 2.3\n200/1000 loss 2.2\n", [100, 200]),
        ("[INFO] - 87: train loss   0.1508 | t: 56.9872\n[INFO] - 88: train loss   0.1507 | t: 56.1\n", [87, 88]),
        ("| epoch   1 |   200/ 2983 batches | lr 20.00 | loss  7.63 | ppl  2050.14\n", [200]),
        ("Train Epoch: 1 [640/60000 (1%)]\tLoss: 1.3\nTrain Epoch: 2 [0/60000 (0%)]\tLoss: 0.3\n", [640, 60000]),
    ],
)
def test_a_counter_without_a_word_is_the_step(text, steps):
    """PyTorch's tutorials and examples, and scripts that were made from them."""
    assert [step for step, _ in losses(read(text))] == steps


@pytest.mark.parametrize("text", ["Epoch 3/10 - loss: 2.5 - lr: 0.01\n", "[Fold 1/5] epoch 3 loss 2.5\n"])
def test_not_every_fraction_counts_steps(text):
    """How many epochs and folds there are."""
    assert [step for step, _ in losses(read(text))] == [1]


@pytest.mark.parametrize("printed", ["120k", "120.0k", "120K"])
def test_thousands_have_a_small_letter_too(printed):
    """`Tok/s=120k`."""
    seen = read(f"Step=10   Loss=2.31   LR=1.0e-4   GradNorm=0.9   Tok/s={printed}\n")

    assert seen[0].fields["tokens_per_second"] == 120_000


def test_what_a_fork_adds_to_a_known_line_is_read():
    """mlx-lm with a grad norm and its learning rate under another name."""
    seen = read("Iter 10: Train loss 1.3797, LR 4.500e-07, grad_norm 4.232,        skipped 0\n")

    assert [(one.step, one.loss, one.lr, one.grad_norm) for one in seen] == [(10, 1.3797, 4.5e-7, 4.232)]


def test_of_two_learning_rates_the_one_in_force_is_told():
    """YOLO-World prints the base beside it."""
    seen = read(
        "03/26 00:31:00 - mmengine - INFO - Epoch(train) [100][2150/4309]  base_lr: 2.0000e-03 lr: 5.9600e-05  "
        "eta: 11:24:42  time: 1.0185  memory: 8141  grad_norm: 1046.4071  loss: 1127.8197  loss_cls: 402.5087\n"
    )

    assert [(one.lr, one.grad_norm, one.loss) for one in seen] == [(5.96e-5, 1046.4071, 1127.8197)]


def test_what_sums_an_epoch_up_below_its_bar_is_no_point():
    """The bar has told each step, or at least the last one of the epoch."""
    text = "".join(
        f"Epoch {epoch}: 100%|████| 40/40 [01:25<00:00,  2.14s/it, loss=3.{epoch}]\n"
        f"Epoch {epoch} - Train Loss: 3.5, Val Loss: 3.6\n"
        for epoch in range(1, 5)
    )

    assert losses(read(text)) == [(40, 3.1), (80, 3.2), (120, 3.3), (160, 3.4)]


def test_behind_the_word_loss_may_stand_the_step():
    """Tacotron 2 and scripts that print pairs: a whole number, then the loss."""
    seen = read(
        "Train loss 100 0.345678 Grad Norm 1.234567 2.34s/it\nTrain loss 101 nan Grad Norm 1.25 2.34s/it\n"
        "Validation loss 101:  0.2500  \nTrain loss 102 0.335678 Grad Norm 1.224567 2.34s/it\n"
    )

    assert repr(losses(seen)) == "[(100, 0.345678), (101, nan), (102, 0.335678)]"
    assert eval_losses(seen) == [(101, 0.25)]


def test_a_cross_validation_is_no_training():
    """WeNet calls its evaluation CV."""
    text = "".join(
        f"2023-01-01 00:00:00,123 DEBUG {what} Batch 0/{batch} loss 12.34 loss_att 9.0 lr 0.0001 rank 0\n"
        for what, batch in (("TRAIN", 0), ("TRAIN", 100), ("CV", 0), ("CV", 100))
    )

    assert [step for step, _ in losses(read(text))] == [0, 100]


def test_a_rank_and_its_world_behind_the_place_in_the_code():
    """icefall: each rank tells its own loss."""
    line = "2023-01-01 00:00:00,123 INFO [train.py:900] ({}/8) Epoch 1, batch {}, loss[loss=1.{}, over 7000 frames.]\n"
    seen = read("".join(line.format(rank, batch, rank) for batch in (50, 100) for rank in (0, 1)))

    assert [(one.origin.rank, one.step, one.loss) for one in seen] == [
        (0, 50, 1.0),
        (1, 50, 1.1),
        (0, 100, 1.0),
        (1, 100, 1.1),
    ]


def test_an_epoch_of_one_line_is_as_long_as_it_says():
    """mindyolo with seven steps an epoch: `Step 7/7` each time."""
    line = "2025-04-15 13:48:51,311 [INFO] Epoch {}/300, Step 7/7, imgsize (640, 640), loss: 0.2{}, cur_lr: 0.03\n"

    assert [step for step, _ in losses(read("".join(line.format(epoch, epoch) for epoch in (1, 2, 3))))] == [7, 14, 21]


@pytest.mark.parametrize(("printed", "seconds"), [("654.40 ms", 0.6544), ("654.40ms", 0.6544), ("0.6544", 0.6544)])
def test_a_step_time_has_the_unit_that_stands_behind_it(printed, seconds):
    """mindyolo prints milliseconds."""
    seen = read(f"Epoch 1/200, Step 100/3995, loss: 2.5, step time: {printed}\n")

    assert seen[0].fields["step_seconds"] == pytest.approx(seconds)


def test_a_word_inside_a_metrics_name_refuses_nothing():
    """goodfire-ai/spd calls an aggregate `summary`."""
    line = "[step {}] 2:31<6:50 train/loss/total={} train/grad_norms/summary/total=42.8 train/perf/step_time_s=0.342\n"

    assert losses(read(line.format(300, 1163) + line.format(310, 1103.5))) == [(300, 1163), (310, 1103.5)]
