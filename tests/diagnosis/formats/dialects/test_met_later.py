"""Kinds of lines that public logs and issues showed after a hundred others were read; numbers are made up."""

import pytest

from diagnosis.observations import AttemptMark
from tests.diagnosis.formats.dialects.table import Case, check
from tests.diagnosis.formats.reading import eval_losses, losses, read, reader_of, samples

CASES = [
    Case(  # SwissArmyTransformer, GLM: Megatron's line without its colons
        "megatron",
        " iteration       50/  100000 | elapsed time per iteration (ms): 1234.5 | learning rate 1.000E-04 | total loss "
        "8.412345E+00 | loss 8.312345E+00 | speed 12.34 samples/(min*GPU)\n",
        [{"step": 50, "loss": 8.312345, "lr": 1e-4, "total_steps": 100000}],
    ),
    Case(
        "megatron",
        " iteration       50/  100000 | elapsed time per iteration (ms): 1234.5 | learning rate 1.000E-04 | total loss "
        "8.412345E+00 | speed 12.34 samples/(min*GPU)\n",
        [{"step": 50, "loss": 8.412345}],
    ),
    Case(  # ms-swift's Megatron trainer: the step stands in a string
        "huggingface",
        "{'loss': 1.41234567, 'grad_norm': 1.01234, 'learning_rate': 9.99e-06, 'elapsed_time_per_iteration': 12.34, "
        "'loss_scale': 1.0, 'iteration': '5/2000', 'consumed_samples': 80, 'epoch': 0}\n",
        [{"step": 5, "loss": 1.41234567, "grad_norm": 1.01234, "total_steps": 2000}],
    ),
    Case(  # nshepperd/gpt-2
        "key and value",
        "[100 | 253.40] loss=3.12 avg=3.20\n[101 | 255.93] loss=3.10 avg=3.19\n",
        [{"step": 100, "loss": 3.12}, {"step": 101, "loss": 3.1}],
    ),
    Case(  # microsoft/CNTK, BrainScript on Windows
        "cntk",
        "05/03/2016 18:05:47:  Epoch[ 1 of 10]-Minibatch[   1-  10, 1.56%]: CrossEntropyWithSoftmax = 4.60517018 * 1280; "
        "EvalErrorPrediction = 0.9 * 1280; time = 0.1234s; samplesPerSecond = 10372.8\n"
        "05/03/2016 18:05:48:  Epoch[ 1 of 10]-Minibatch[  11-  20, 3.12%]: CrossEntropyWithSoftmax = 1.#QNAN * 1280; "
        "EvalErrorPrediction = 0.9 * 1280; time = 0.1234s; samplesPerSecond = 10372.8\n",
        [{"step": 10, "loss": 4.60517018, "step_seconds": 0.1234}, {"step": 20, "loss": float("nan")}],
    ),
    Case(
        "cntk",
        " Minibatch[ 101- 200]: loss = 2.302585 * 6400, metric = 90.12% * 6400;\n",
        [{"step": 200, "loss": 2.302585}],
    ),
    Case(  # levanter: a bar that a logger prints, whose count has three digits from a thousand on
        "levanter",
        "2023-09-01T00:41:38 - 0 - tqdm_loggable.tqdm_logging - tqdm_logging.py:145 - INFO :: Progress on:train "
        "900it/10.0kit rate:2.3it/s remaining:1:05:12 elapsed:06:30 postfix:loss=3.52\n"
        "2023-09-01T00:42:08 - 0 - tqdm_loggable.tqdm_logging - tqdm_logging.py:145 - INFO :: Progress on:train "
        "978it/10.0kit rate:2.3it/s remaining:1:05:12 elapsed:07:00 postfix:loss=3.42\n"
        "2023-09-01T00:42:38 - 0 - tqdm_loggable.tqdm_logging - tqdm_logging.py:145 - INFO :: Progress on:train "
        "1.06kit/10.0kit rate:2.3it/s remaining:1:05:12 elapsed:07:30 postfix:loss=3.32\n",
        [{"step": 900, "loss": 3.52}, {"step": 978, "loss": 3.42}, {"step": 1056, "loss": 3.32}],
    ),
    Case(  # tensorflow/models, object detection: both loggers print it
        "tensorflow dict",
        "".join(
            f"INFO:tensorflow:Step {step} per-step time 0.512s\n"
            f"I0912 11:40:27.956218 139735407601536 model_lib_v2.py:705] Step {step} per-step time 0.512s\n"
            f"INFO:tensorflow:{{'Loss/classification_loss': 0.1234567,\n 'Loss/localization_loss': 0.04,\n"
            f" 'Loss/total_loss': 0.{step},\n 'learning_rate': 0.0319994}}\n"
            f"I0912 11:40:27.956618 139735407601536 model_lib_v2.py:708] {{'Loss/classification_loss': 0.1234567,\n"
            f" 'Loss/localization_loss': 0.04,\n 'Loss/total_loss': 0.{step},\n 'learning_rate': 0.0319994}}\n"
            for step in (100, 200)
        ),
        [{"step": 100, "loss": 0.1, "lr": 0.0319994}, {"step": 200, "loss": 0.2}],
    ),
    Case(  # TensorFlow's Orbit
        "tensorflow dict",
        "train | step:    100 | steps/sec:    1.2 | output: \n    {'learning_rate': 0.00123,\n     'training_loss': 7.25}\n",
        [{"step": 100, "loss": 7.25, "lr": 0.00123}],
    ),
    Case(  # RVC: the generator's loss is the sum of its parts
        "rvc",
        "INFO:run:Train Epoch: 1 [0%]\nINFO:run:[200, 9.99e-05]\n"
        "INFO:run:loss_disc=4.212, loss_gen=3.100, loss_fm=9.001,loss_mel=21.300, loss_kl=5.100\n",
        [{"step": 200, "loss": 38.501, "lr": 9.99e-5, "adversarial": 1}],
    ),
    Case(  # Trax
        "trax",
        "Step    100: Ran 100 train steps in 12.34 secs\nStep    100: train CrossEntropyLoss |  3.12345678\n"
        "Step    100: eval  CrossEntropyLoss |  3.22345678\n",
        [{"step": 100, "loss": 3.12345678}],
    ),
    Case(  # DiffSynth and other children of Megatron name their loss
        "megatron",
        "diffsynth iteration   10/ 100 | elapsed time per iteration (ms): 123.4 | mse loss: 1.234567E-01\n",
        [{"step": 10, "loss": 0.1234567}],
    ),
    Case(  # Paxml
        "key and value",
        "I0501 12:00:01.123456 140123 trainer_lib.py:123] [PAX STATUS]: step_i: 100, training loss: 3.4521\n",
        [{"step": 100, "loss": 3.4521}],
    ),
    Case(  # spaCy: of a pipeline's losses, those of its parts that learn
        "table",
        "ℹ Initial learn rate: 0.001\n"
        "E    #       LOSS TOK2VEC  LOSS TAGGER  LOSS NER  TAG_ACC  ENTS_F  SCORE \n"
        "---  ------  ------------  -----------  --------  -------  ------  ------\n"
        "  0       0          0.00       166.59     88.50    35.70    0.00    0.15\n"
        "  0     200       3019.67     14583.43    281.79    83.54    0.00    0.48                                    \n",
        [{"step": 0, "loss": 255.09}, {"step": 200, "loss": 14865.22, "adversarial": 1}],
    ),
]


@pytest.mark.parametrize("case", CASES)
def test_a_line_met_later_is_read(case):
    """Each in its own words."""
    check(case)


def test_a_step_whose_dict_does_not_come_is_a_step_all_the_same():
    """TensorFlow's object detection prints the dict now and then only."""
    seen = samples(read("INFO:tensorflow:Step 100 per-step time 0.512s\nsaved\nstep 101 loss 2.5\n"))

    assert [(one.step, one.loss) for one in seen] == [(100, None), (101, 2.5)]


@pytest.mark.parametrize(
    "line",
    [
        "3 3000 loss of signal 5.0",
        "step {n}: packet loss 0.{n} rtt 1.2",
        "step {n}: signal loss 0.{n}",
        "In step {n} we saw a loss of 3 nodes",
    ],
)
def test_a_loss_of_something_is_no_training_loss(line):
    """Prose, and what a network loses."""
    assert losses(read("".join(line.format(n=n) + "\n" for n in range(1, 20)))) == []


@pytest.mark.parametrize("written", ["#015", "\r"])
def test_control_characters_that_a_collector_wrote_out_are_what_they_were(written):
    """rsyslog and CloudWatch print a carriage return as `#015` and a colour as `#033[36m`."""
    text = "".join(
        f"{written} {step}%|█▏        | {step * 10}/500 [00:10<08:00,  1.2it/s]\n"
        f"#033[36m(main pid=1)#033[0m {{'loss': 2.{step}, 'learning_rate': 4.9e-05, 'epoch': 0.{step}}}\n"
        for step in range(1, 6)
    )

    assert losses(read(text)) == [(step * 10, 2 + step / 10) for step in range(1, 6)]


@pytest.mark.parametrize(
    "prefix",
    [
        "2024-05-01T12:00:00.123456+02:00 node17 run.sh[123]: ",
        "2024-05-01T12:00:00+0200 node17 python3[123]: ",
        "<14>1 2024-05-01T12:00:00.123Z node17 train 1234 - - ",
        '<14>1 2024-05-01T12:00:00.123Z node17 train 1234 ID47 [meta sequenceId="1"] ',
    ],
)
def test_syslog_of_today_tells_time_and_node(prefix):
    """rsyslog's own format, journalctl's `short-iso`, and what one machine sends another."""
    reader, seen = reader_of("".join(f"{prefix}step: {step} loss: 2.{step} lr: 1e-4\n" for step in range(1, 9)))

    assert [(one.step, one.origin.node, one.time is not None) for one in samples(seen)] == [
        (step, "node17", True) for step in range(1, 9)
    ]
    assert reader.envelope == "syslog"


def bar(step, total):
    return f"\r{100 * step // total:3d}%|█▏        | {step}/{total} [00:{step % 60:02d}<12:00,  2.25s/it]"


def told(step):
    return f"\n{{'loss': {2 + step / 1000}, 'grad_norm': 1.0, 'learning_rate': 1e-05, 'epoch': {step / 1000:.2f}}}\n"


def trained(first, total, *, every=10, is_told=lambda step: True):
    return "".join(
        bar(step, total) + (told(step) if step > first and step % every == 0 and is_told(step) else "")
        for step in range(first, total + 1)
    )


SUMMARY = "\n{'train_runtime': 123.4, 'train_samples_per_second': 1.2, 'train_loss': 2.1, 'epoch': 3.0}\n"


def test_the_dicts_of_a_resumed_trainer_have_the_steps_of_its_bar():
    """The first one too, whose bar stands between the banner and it; the last one, behind which no bar comes."""
    before = "".join(bar(step, 1000) + (told(step) if step and step % 10 == 0 else "") for step in range(565))
    again = "\n***** Running training *****\n  Total optimization steps = 1,000\n" + trained(500, 1000)
    seen = losses(read(before + again + SUMMARY))

    assert [step for step, _ in seen] == [*range(10, 565, 10), *range(510, 1001, 10)]
    assert all(loss == pytest.approx(2 + step / 1000) for step, loss in seen)


def test_several_trainings_of_one_script_each_begin_at_0():
    """Their summaries stand between them."""
    seen = read("".join(trained(0, total) + SUMMARY for total in (100, 150, 80)))

    assert [step for step, _ in losses(seen)] == [*range(10, 101, 10), *range(10, 151, 10), *range(10, 81, 10)]
    assert [mark.why for mark in seen if isinstance(mark, AttemptMark)] == ["the trainer trains again"] * 2


@pytest.mark.parametrize("epoch", ["3.0", "'3.0'"])
def test_a_dict_that_comes_late_behind_the_summary_begins_no_training(epoch):
    """It tells the epoch at which the summary says that all ended, and no bar follows."""
    dicts = "".join(
        f"{{'loss': 2.{step}, 'learning_rate': 1e-4, 'epoch': {step / 100}}}\n" for step in range(10, 300, 10)
    )
    seen = read(
        dicts + f"{{'train_runtime': 9.0, 'train_loss': 1.5, 'epoch': {epoch}}}\n{{'loss': 1.5, 'epoch': {epoch}}}\n"
    )

    assert len(losses(seen)) == 30
    assert [mark for mark in seen if isinstance(mark, AttemptMark)] == []


@pytest.mark.parametrize("every", [1, 2, 10, 25])
def test_a_first_step_that_is_logged_is_no_interval(every):
    """`logging_first_step`: behind 1 comes the interval, and the last dict has no bar behind it."""
    text = "".join(
        bar(step, 300) + (told(step) if step == 1 or (step and step % every == 0) else "") for step in range(301)
    )

    assert [step for step, _ in losses(read(text))] == sorted({1, *range(every, 301, every)})


@pytest.mark.parametrize("redraws", [1, 2])
@pytest.mark.parametrize("head", ["Epoch {epoch}/3\n", ""])
@pytest.mark.parametrize("ahead", ["{step:4d}/60 [====>...] - ETA: 1s - loss: {loss} - accuracy: 0.5", "{bar}"])
def test_an_epoch_goes_on_where_the_one_before_ended_however_often_its_last_bar_is_drawn(ahead, head, redraws):
    """Keras and tqdm draw the full bar again when an epoch is over."""
    text = ""
    for epoch in range(3):
        text += head.format(epoch=epoch + 1)
        for step in [*range(1, 61), *[60] * (redraws - 1)]:
            loss = f"{3 - epoch - step / 100:.2f}"
            tqdm = f"{step * 100 // 60}%|█▏   | {step}/60 [00:10<00:10,  1.20it/s, loss={loss}]"
            text += "\r" + ahead.format(step=step, loss=loss, bar=tqdm)
        text += "\n"

    assert [step for step, _ in losses(read(text))] == list(range(1, 181))


def test_a_last_row_behind_lost_ones_has_the_step_of_its_bar():
    """A tracker's copy of the screen loses rows under bars."""
    text = "".join(bar(step, 60)[1:] + (told(step) if step not in (40, 58, 59) else "\n") for step in range(1, 61))

    assert [step for step, _ in losses(read(text))] == [step for step in range(1, 61) if step not in (40, 58, 59)]


@pytest.mark.parametrize(
    "described",
    [
        "Epoch 1 loss: 2.{step:03d}",
        "Step {step} Loss 2.{step:03d}",
        "Epoch [1/3] Train Loss: 2.{step:03d}",
        "epoch=1, loss=2.{step:03d}",
        "loss: 2.{step:03d}",
    ],
)
def test_a_loss_in_front_of_a_bar_is_told(described):
    """As scripts set a bar's description."""
    text = "".join(
        f"\r{described.format(step=step)}:  {step}%|█ | {step}/100 [00:10<01:00,  1.2s/it]" for step in range(1, 81)
    )

    assert losses(read(text)) == [(step, pytest.approx(2 + step / 1000)) for step in range(1, 81)]


@pytest.mark.parametrize("described", ["Val loss: 2.{step:03d}", "Epoch 1 best loss: 2.{step:03d}", "test loss: 2.1"])
def test_another_loss_in_front_of_a_bar_is_none(described):
    """Of an evaluation, or the best so far."""
    text = "".join(
        f"\r{described.format(step=step)}:  {step}%|█ | {step}/100 [00:10<01:00,  1.2s/it]" for step in range(1, 81)
    )

    assert losses(read(text)) == []


def test_what_a_model_wrote_into_a_table_is_no_metric():
    """TRL prints its completions in frames."""
    frame = "╭──── Step 3 ────╮\n│ in step 3 the loss: 5.0 │ is it so │ 1.20 │\n╰───╯\n"
    text = "".join(bar(step, 100) + "\n" + frame + told(step)[1:] for step in range(1, 41))

    assert [step for step, _ in losses(read(text))] == list(range(1, 41))


def test_torchtitans_validation_is_kept_apart():
    """Its line looks like that of a step."""
    head = "[titan] 2025-10-30 14:32:58,897 - root - INFO - "
    seen = read(
        f"{head}step: 10  loss:  3.1661  grad_norm:  3.6855  memory:  2.47GiB(3.12%)  tps: 3,502\n"
        f"{head}validate step: 10  loss:  3.2000  memory:  2.47GiB(3.12%)  tps: 3,502\n"
    )

    assert losses(seen) == [(10, 3.1661)]
    assert eval_losses(seen) == [(10, 3.2)]


@pytest.mark.parametrize(
    "line",
    [
        "Loss at step {step}: {loss}",
        "Average loss at step {step} : {loss}",
        "Minibatch loss at step {step} = {loss}",
        "Cost after iteration {step}: {loss}",
        "INFO: training loss at iteration {step}/100: {loss} lr 1e-4",
        "Loss at step 1,0{step:02}: {loss}",
        "step: {step} loss: [{loss}] lr: [0.0001]",
        "第{step}步，损失：{loss}，学习率：1e-4",
        "step {step} nll {loss} bpb 1.2",
        "step {step}: xent {loss}, acc 0.5",
    ],
)
def test_the_number_behind_a_step_is_no_loss(line):
    """Whatever words stand between the loss and its value."""
    text = "".join(line.format(step=step, loss=f"{3 - step / 100:.2f}") + "\n" for step in range(1, 41))

    begin = 1000 if "1,0" in line else 0
    assert losses(read(text)) == [(begin + step, pytest.approx(3 - step / 100)) for step in range(1, 41)]


@pytest.mark.parametrize(
    "line",
    [
        "Training loss for epoch 3 | step: {step} | loss: {loss}",
        "[INFO] loss for batch 12: step {step} loss {loss} lr 0.0003",
        "step: {step}, loss: {loss} (best loss at step 1)",
        "step {step}: train loss {loss}, best loss at step 1 2.99",
        "iter {step} | loss {loss} | min loss in epoch 2",
        "│ step: {step} │ loss: {loss} │",
        "step {step} sum_of_loss {loss}",
    ],
)
def test_a_loss_that_is_told_elsewhere_is_read_beside_such_words(line):
    """They speak of another step, or of the whole epoch."""
    text = "".join(line.format(step=step, loss=f"{3 - step / 100:.2f}") + "\n" for step in range(1, 41))

    assert losses(read(text)) == [(step, pytest.approx(3 - step / 100)) for step in range(1, 41)]


@pytest.mark.parametrize("line", ["Loss at epoch {n}: {loss}", "Loss after epoch {n} = {loss}"])
def test_a_loss_at_an_epoch_is_a_point_where_nothing_else_is(line):
    """And none below the steps of that epoch."""
    sums = "".join(line.format(n=n, loss=f"{3 - n / 100:.2f}") + "\n" for n in range(1, 9))
    steps = "".join(f"step {n} loss 2.5 lr 1e-4\n" for n in range(1, 9))

    assert [loss for _, loss in losses(read(sums))] == [pytest.approx(3 - n / 100) for n in range(1, 9)]
    assert len(losses(read(steps + sums))) == 8


@pytest.mark.parametrize("line", ["Test loss at step {n}: 2.5", "validation loss at step {n}: 2.5", "loss at step {n}"])
def test_another_loss_at_a_step_is_none(line):
    """An evaluation's, or one without a value."""
    assert losses(read("".join(line.format(n=n) + "\n" for n in range(1, 30)))) == []
