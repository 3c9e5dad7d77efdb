"""Progress bars: which are training, the last redraw for every count, losses in their tails and names."""

import pytest

from diagnosis.observations import Phase
from tests.diagnosis.formats.dialects.table import NAN, Case, check
from tests.diagnosis.formats.reading import losses, phases, read, samples

CASES = [
    Case(
        "progress bar",
        "Epoch 0: : 100%|██████████| 2000/2000 [43:24:54<00:00, reduced_train_loss=0.139, global_step=2e+3, "
        "consumed_samples=2.56e+5, train_step_timing in s=68.70, val_loss=0.212][NeMo I 2024-06-17 08:36:41 x:480] bye\n",
        [{"step": 2000, "loss": 0.139, "consumed_samples": 2.56e5}],
    ),
    Case(
        "progress bar",
        "Epoch 1: : 1it [00:04,  4.36s/it, v_num=d3c7, reduced_train_loss=0.674, global_step=1.000, "
        "consumed_samples=128.0, train_step_timing in s=3.370]\n",
        [{"step": 1, "loss": 0.674}],
    ),
    Case(
        "progress bar",
        "Epoch 9: 100%|███████| 860/860 [00:05<00:00, 162.25it/s, v_num=1, train_loss_step=1.460, valid_loss_step=1.460, "
        "valid_loss_epoch=1.520, valid_acc=0.946, train_loss_epoch=1.510]\n",
        [{"step": 860, "loss": 1.46}],
    ),
    Case(
        "progress bar",
        "Epoch 0:   6%|▋         | 32040/500150 [6:28:43<94:39:17,  1.37it/s, loss=2.6, v_num=95nc, "
        "reduced_train_loss=2.590, global_step=3.2e+4, consumed_samples=2.56e+7]\n",
        [{"step": 32040, "loss": 2.59, "consumed_samples": 2.56e7, "total_steps": 500150}],
    ),
    Case("progress bar", "Epoch 0:   6%|▋| 32040/500150 [6:28:43<94:39:17,  1.37it/s, loss=nan]\n", [{"loss": NAN}]),
    Case(
        "progress bar",
        "Training Epoch: 2/3, step 49/50 completed (loss: 1.0359): 100%|██████████| 50/50 [01:40<00:00,  2.01s/it]\n",
        [{"step": 50, "loss": 1.0359, "step_seconds": 2.01}],
    ),
    Case(
        "progress bar",
        "100%|██████████| 500/500 [1:20:03<00:00,  9.6s/it, loss=0.312, lr=2e-6]\n",
        [{"step": 500, "loss": 0.312, "lr": 2e-6}],
    ),
    Case(
        "progress bar",
        "1|100|Loss: 1.2103:  20%|██        | 100/500 [03:20<13:20,  2.00s/it]\n",
        [{"step": 100, "loss": 1.2103}],
    ),
    Case(
        "progress bar",
        "(PolicyModelActor pid=4242) Train epoch [1/1]:  12%|█▏        | 2/16 [00:30<03:20, 14.3s/it, policy_loss=0.0213, "
        "critic_loss=0.11, act_lr=4.5e-8, kl=0.002, ret=0.31, glen=512, tlen=640]\n",
        [{"step": 2, "loss": 0.0213, "lr": 4.5e-8, "kl": 0.002}],
    ),
    Case(
        "progress bar",
        "[Epoch 5 / Train]: 100%|██████████| 1/1 [00:00<00:00,  2.05it/s, loss=107, lr=0.00015, throughput=8.2047 "
        "sample_per_sec, 7.6 Tflops]\n",
        [{"step": 1, "loss": 107}],
    ),
    Case(
        "progress bar",
        "[losses/total_loss: 1.15 | losses/policy_loss: 1.15 | losses/value_loss: 0.00]: 100%|██████████| 128/128 "
        "[10:23<00:00,  4.87s/it]\n",
        [{"step": 128, "loss": 1.15}],
    ),
    Case(
        "progress bar",
        "Epoch 12/12, Steps: 100%|██████████| 19941/20000 [16:43:41<00:59, 3.03s/it, grad_absmax=2.66e-02, lr=4e-5, "
        "step_loss=0.145]\n",
        [{"step": 19941, "loss": 0.145, "lr": 4e-5}],
    ),
    Case(
        "progress bar",
        "steps:  10%|█         | 640/6400 [19:31<2:55:40,  1.81s/it, avr_loss=0.1165]\n",
        [{"step": 640, "loss": 0.1165}],
    ),
    Case(
        "progress bar",
        "(TaskRunner pid=1651349) Training Progress:   0%|          | 33/15625 [36:51<289:24:03, 66.82s/it]\n",
        [{"step": 33, "loss": None, "step_seconds": 66.82}],
    ),
    Case(
        "progress bar",
        "512/512 [==============================] - 127s 247ms/step - loss: nan - acc: nan - val_loss: nan - val_acc: nan\n",
        [{"step": 512, "loss": NAN}],
    ),
    Case(
        "progress bar",
        "512/512 ━━━━━━━━━━━━━━━━━━━━ 127s 247ms/step - accuracy: 0.5 - loss: 1.25\n",
        [{"step": 512, "loss": 1.25}],
    ),
]


@pytest.mark.parametrize("case", CASES)
def test_a_training_bar_gives_its_count_and_its_loss(case):
    """The count of the bar is exact where a printed step is rounded; the step's loss beats the running mean."""
    check(case)


@pytest.mark.parametrize(
    ("line", "phase"),
    [
        ("Loading checkpoint shards:  50%|█████     | 2/4 [00:36<00:36, 18.06s/it]\n", Phase.LOADING),
        ("Map:  69%|██████▉   | 1000/1448 [00:00<00:00, 6256.56 examples/s]\n", Phase.TOKENISING),
        ("Running tokenizer on dataset:  10%|█ | 10/100 [00:01<00:10, 10.00it/s]\n", Phase.TOKENISING),
        ("Evaluating:  10%|█         | 10/100 [00:01<00:10, 10.00it/s]\n", Phase.EVALUATING),
        ("Validation DataLoader 0:  10%|█ | 10/100 [00:01<00:10, 10.00it/s]\n", Phase.EVALUATING),
        ("Generating:  10%|█         | 128/500 [00:01<00:10, 10.00it/s]\n", None),
        ("100%|██████████| 2/2 [00:00<00:00, 354.85it/s]\n", None),
    ],
)
def test_other_bars_are_no_steps(line, phase):
    """They say at most what is going on."""
    seen = read(line)

    assert samples(seen) == []
    assert [told for told, _ in phases(seen)] == ([phase] if phase else [])


def test_the_last_redraw_for_a_count_is_the_one_that_counts():
    """tqdm redraws when the count changes and again when the tail does."""
    bar = "\r 10%|█ | {step}/100 [00:10<00:10,  1.00s/it, loss={loss}]"
    text = "".join(bar.format(step=step, loss=loss) for step, loss in ((1, 9.0), (1, 2.5), (2, 2.5), (2, 2.25))) + "\n"

    assert losses(read(text)) == [(1, 2.5), (2, 2.25)]


def test_a_nested_evaluation_bar_is_no_step():
    """It is drawn below, with the cursor moved up behind it, or has another length."""
    train = "\r 10%|█         | {step}/100 [00:10<01:30,  1.00s/it]"
    nested = "\n\r  5%|▌         | {step}/8 [00:01<00:10,  1.00s/it]\x1b[A"
    text = train.format(step=10) + "".join(nested.format(step=step) for step in range(1, 9)) + train.format(step=11)

    assert [one.step for one in samples(read(text + "\n"))] == [10, 11]


def test_a_bar_that_begins_again_after_its_end_is_the_next_epoch():
    """Its steps go on counting."""
    bar = "Training: 10%|█ | {step}/3 [00:10<01:30,  1.00s/it, loss=2.{step}]\n"
    text = "".join(bar.format(step=step) for step in (1, 2, 3, 1, 2, 3))

    assert [step for step, _ in losses(read(text))] == [1, 2, 3, 4, 5, 6]


def test_a_message_glued_to_a_bar_is_read():
    """The watchdog does not wait for a line end."""
    seen = read(
        " 20%|██        | 24/120 [1:02:17<3:59:17, 149.55s/it]Traceback (most recent call last):\n"
        "  3/234 [..............................] - ETA: 33:37:24 - loss: 44.4110Loss is nan, stopping training\n"
    )

    assert [one.step for one in samples(seen)] == [24, 3]
    assert any("traceback" in getattr(one, "signature", "") for one in seen)
    assert any(one.signature == "loss_is_nan" for one in seen if hasattr(one, "signature"))


def test_bars_that_are_glued_together_without_their_ends_are_still_redraws():
    """Neuron's NeMo in a captured terminal: each pair has its comma, no bar its bracket; the first redraw is stale."""
    piece = (
        "Epoch 0:   3%|▎         | {}/20101 [2:12:19<76:15:08, 14.05s/it, loss=nan, v_num=, val_loss_step=11.30, "
        "reduced_train_loss={}, gradient_norm=1.010, global_step={}.0, consumed_samples=1.45e+5, throughput=19.00, "
    )
    text = "throughput=19.00, " + "".join(
        piece.format(step, 5 - (step - 1) / 1000, step - 2) + piece.format(step, 5 - step / 1000, step - 1)
        for step in range(565, 570)
    )

    assert losses(read(text + "\n")) == [(step, 5 - step / 1000) for step in range(565, 570)]


def test_a_bar_that_begins_with_its_epoch_trains():
    """Ultralytics prints the parts of its loss: what it trains on is their sum."""
    text = "".join(
        "      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size\n"
        f"      {epoch}/100      2.61G      1.153      1.398      1.192         81        640: "
        f" 50%|█████     | 4/8 [00:01<00:00,  5.33it/s]\r      {epoch}/100      2.61G      1.153      1.398      1.192"
        "         81        640: 100%|██████████| 8/8 [00:01<00:00,  5.33it/s]\n"
        "                 Class     Images  Instances      Box(P          R      mAP50  mAP50-95): 100%|██████████| 4/4 "
        "[00:00<00:00,  9.09it/s]\n"
        for epoch in (1, 2)
    )

    seen = samples(read(text))

    assert [(one.step, one.loss) for one in seen] == [(4, 3.743), (8, 3.743), (12, 3.743), (16, 3.743)]
    assert seen[0].fields["step_seconds"] == pytest.approx(1.0 / 5.33)


@pytest.mark.parametrize(
    "name", ["Generating train split", "Map (train)", "Tokenizing train dataset", "Loading training data"]
)
def test_a_bar_that_prepares_the_training_data_does_not_train(name):
    """The dict behind it owes its step to the training bar."""
    text = "".join(f"{name}:  {count}%|##   | {count}/100 [00:00<00:01, 67.03it/s]\r" for count in (10, 50, 100))
    text += "\n" + "".join(f"\r {step}%|# | {step}/90 [00:10<00:80,  1.0s/it]" for step in range(1, 11))
    text += "{'loss': 2.5, 'epoch': 0.1}\n\r 12%|# | 11/90 [00:11<00:79,  1.0s/it]\n"

    seen = samples(read(text))

    assert [one.step for one in seen] == [*range(1, 11), 10, 11]
    assert [(one.step, one.loss) for one in seen if one.loss is not None] == [(10, 2.5)]


def test_a_loss_that_is_set_before_its_step_is_counted_is_told_once():
    """The first stands at 0/3, so the last one stands at 2/3, and again at 3/3."""
    text = "".join(
        f"\rEpoch {epoch}:   0%|          | {count}/3 [00:0{count}<00:09,  1.18it/s, loss={epoch}.{number}, lr=0]"
        for epoch in (2, 3)
        for number in (9, 5, 4)
        for count in ((0, 1), (1, 2), (2, 3))[(9, 5, 4).index(number)]
    )

    assert losses(read(text + "\n")) == [(0, 2.9), (1, 2.5), (2, 2.4), (3, 3.9), (4, 3.5), (5, 3.4)]


def test_a_loss_that_is_set_after_its_step_was_counted_is_told_at_the_end():
    """None stands at 0/3; that the last two are the same is chance."""
    text = "".join(
        f"\rTraining:   0%|          | {n}/3 [00:0{n}<00:09,  1.18it/s{loss}]"
        for n, loss in ((0, ""), (1, ", loss=2.9"), (2, ", loss=2.5"), (3, ", loss=2.5"))
    )

    assert losses(read(text + "\n")) == [(1, 2.9), (2, 2.5), (3, 2.5)]
