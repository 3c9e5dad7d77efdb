"""MLPerf, DLLogger, HugeCTR, JSON lines, trainer_state.json, CSV and other tables."""

import json

import pytest

from diagnosis.observations import Phase
from tests.diagnosis.formats.dialects.table import Case, check
from tests.diagnosis.formats.reading import attempts, eval_losses, losses, phases, read, reader_of, samples

MLLOG = (
    ':::MLLOG {{"namespace": "", "time_ms": {time}, "event_type": "POINT_IN_TIME", "key": "{key}", "value": {value}, '
    '"metadata": {{"file": "a.py", "lineno": 102, "{place}": {at}}}}}\n'
)
CASES = [
    Case(
        "mllog",
        MLLOG.format(time=1715137678968, key="train_loss", value=3.7406, place="samples_count", at=320),
        [{"step": 320, "loss": 3.7406, "time": 1715137678.968}],
    ),
    Case(
        "mllog",
        "  0: "
        + MLLOG.format(
            time=1715976032395,
            key="tracked_stats",
            value='{"train_step_timing in s": 10.547670364379883}',
            place="step",
            at=4194304,
        ),
        [{"step": 4194304, "loss": None, "step_seconds": 10.547670364379883, "rank": 0}],
    ),
    Case(
        "dllogger",
        "DLL 2024-05-14 23:08:00.755998 - Iteration 2088 | train_acc : 0.7017 % | iteration_time : 113.94 ms "
        "| train_loss : 0.9199 \r\n"
        "DLL 2024-05-14 23:15:35.980581 - train epoch 000 | train_acc : 0.7033 % | train_time : 0:12:18  "
        "| train_loss : 4927.3770  | gpu_memory : 23184.08 MB \r\n",
        [{"step": 2088, "loss": 0.9199, "step_seconds": 0.11394, "time": 1715728080.755998}],
    ),
    Case(
        "dllogger",
        "DLL 2020-01-01 00:00:00.1 - Training Epoch: 1 Training Iteration: 2872  step_loss : 0.695  learning_rate : 1e-05\n",
        [{"step": 2872, "loss": 0.695, "lr": 1e-5}],
    ),
    Case(
        "dllogger",
        'DLLL {"timestamp": "1589552500.5", "elapsedtime": "1.5", "type": "LOG", "step": [1, 2872], '
        '"data": {"step_loss": 0.695, "learning_rate": 1e-05}}\n',
        [{"step": 2872, "loss": 0.695, "lr": 1e-5, "time": 1589552500.5}],
    ),
    Case(
        "hugectr",
        "[HCTR][19:39:43.963][INFO][RK0][main]: Iter: 100 Time(100 iters): 0.550527s Loss: 0.132958 lr:0.004\n",
        [{"step": 100, "loss": 0.132958, "lr": 0.004, "rank": 0}],
    ),
    Case(
        "json lines",
        '{"current_steps": 5, "total_steps": 250, "loss": 1.2031, "lr": 4.9e-05, "epoch": 0.02, "percentage": 2.0, '
        '"elapsed_time": "0:00:19", "remaining_time": "0:16:09"}\n',
        [{"step": 5, "loss": 1.2031, "lr": 4.9e-5, "total_steps": 250}],
    ),
    Case(
        "json lines",
        '{"current_steps": 5, "total_steps": 250, "percentage": 2.0, "elapsed_time": "0:00:19"}\n',
        [{"step": 5, "loss": None}],
    ),
    Case(
        "json lines",
        '{"loss": 20.53074074, "grad_norm": 52.22467041, "learning_rate": 0.0001, "token_acc": 0.0, "epoch": 0.00228768, '
        '"global_step/max_steps": "1/438", "percentage": "0.23%", "memory(GiB)": 15.97}\n',
        [{"step": 1, "loss": 20.53074074, "grad_norm": 52.22467041, "lr": 1e-4, "total_steps": 438}],
    ),
    Case(
        "json lines",
        '{"_step": 3, "train/loss": NaN, "_timestamp": 1715137678.5, "train/grad_norm": 1.5}\n',
        [{"step": 3, "loss": float("nan"), "grad_norm": 1.5, "time": 1715137678.5}],
    ),
    Case(
        "table",
        "epoch,lr,step,train_loss_epoch,train_loss_step,val_loss\n0,0.001,49,,2.5,\n0,0.001,99,,2.25,\n0,,99,,,2.75\n"
        "0,,99,2.4,,\n",
        [{"step": 49, "loss": 2.5, "lr": 0.001}, {"step": 99, "loss": 2.25}],
    ),
    Case(
        "table",
        '"Step","17/04/2025_a-1 - lm_loss","17/04/2025_a-1 - lm_loss__MIN","17/04/2025_a-1 - lm_loss__MAX"\n'
        '"4","12.171820640563965","12.1","12.2"\n"52","9.457798957824707","9.4","9.5"\n',
        [{"step": 4, "loss": 12.171820640563965}, {"step": 52, "loss": 9.457798957824707}],
    ),
    Case(
        "table",
        "Step \tTraining Loss \treward \treward_std\n1 \t0.500000 \t0.125000 \t0.000000\n2 \tNo log \t0.125000 \t0.000000\n",
        [{"step": 1, "loss": 0.5, "reward": 0.125}, {"step": 2, "loss": None}],
    ),
    Case(
        "table",
        "| Step | Training Loss |\n|------|---------------|\n| 10 | 1.5 |\n| 20 | 1.25 |\n",
        [{"step": 10, "loss": 1.5}, {"step": 20, "loss": 1.25}],
    ),
]


@pytest.mark.parametrize("case", CASES)
def test_a_benchmark_or_file_line_is_read(case):
    """Samples as x, numbers as strings, sparse rows."""
    check(case)


def test_eval_accuracy_of_a_language_model_is_its_evaluation_loss():
    """So MLPerf calls it."""
    seen = read(MLLOG.format(time=1715976032395, key="eval_accuracy", value=2.75, place="epoch_num", at=50331648))

    assert losses(seen) == []
    assert [loss for _, loss in eval_losses(seen)] == [2.75]


def test_run_stop_ends_the_run():
    """With it MLPerf says that training is over."""
    seen = read(MLLOG.format(time=1, key="run_stop", value="null", place="epoch_num", at=1))

    assert (Phase.FINISHED, True) in phases(seen)


def test_the_step_kind_of_mllog_is_samples():
    """Its x counts samples under three names."""
    seen = samples(read(MLLOG.format(time=1, key="train_loss", value=1.5, place="epoch_num", at=512)))

    assert [(one.step, one.step_kind) for one in seen] == [(512, "samples")]


def test_midnight_does_not_make_time_run_back():
    """A log with the time of day only goes into the next day."""
    line = "[HCTR][{clock}][INFO][RK0][main]: Iter: {step} Time(100 iters): 0.5s Loss: 0.13 lr:0.004\n"
    seen = samples(read(line.format(clock="23:59:59.500", step=100) + line.format(clock="00:00:01.500", step=200)))

    assert seen[1].time - seen[0].time == pytest.approx(2.0)


def test_an_embedded_history_is_not_counted_again():
    """The last line of ms-swift's logging.jsonl holds all losses once more."""
    history = [{"loss": 1.0, "step": step} for step in range(5)]
    text = '{"loss": 2.5, "global_step/max_steps": "1/2"}\n' + json.dumps({"log_history": history, "best": 1}) + "\n"

    assert losses(read(text)) == [(1, 2.5)]


def test_trainer_state_gives_its_history_and_nothing_else():
    """Evaluations and the closing `train_loss` stand in the same list."""
    state = {
        "best_metric": None,
        "global_step": 30,
        "log_history": [
            {"epoch": 0.1, "grad_norm": 0.34, "learning_rate": 1e-06, "loss": 0.6922, "step": 10},
            {"epoch": 0.2, "eval_loss": 0.68, "eval_runtime": 1.0, "step": 20},
            {"epoch": 0.2, "grad_norm": 0.30, "learning_rate": 5e-07, "loss": float("nan"), "step": 20},
            {"epoch": 0.3, "step": 30, "total_flos": 0.0, "train_loss": 0.68, "train_runtime": 4849.0},
        ],
        "max_steps": 30,
    }
    reader, seen = reader_of(json.dumps(state, indent=2))

    assert [(one.step, one.grad_norm) for one in samples(seen)] == [(10, 0.34), (20, 0.30)]
    assert eval_losses(seen) == [(20, 0.68)]
    assert reader.dialect == "trainer_state.json"


def test_a_csv_may_begin_again_with_other_columns():
    """Lightning rewrites the header when a column is new."""
    text = "step,train_loss\n1,2.5\n2,2.4\nepoch,step,train_loss\n0,3,2.3\n"

    assert losses(read(text)) == [(1, 2.5), (2, 2.4), (3, 2.3)]


def test_rows_that_are_repeated_after_a_resume_open_an_attempt():
    """trainer_log.jsonl goes on from the checkpoint: counters go back."""
    text = "".join(
        json.dumps({"current_steps": step, "total_steps": 90, "loss": 2.0}) + "\n" for step in range(5, 60, 5)
    )
    text += "".join(json.dumps({"current_steps": step, "total_steps": 90, "loss": 2.0}) + "\n" for step in (30, 35, 40))

    assert [mark.why for mark in attempts(read(text))] == ["the step went back from 55 to 30"]
