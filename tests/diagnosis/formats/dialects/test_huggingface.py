"""The Trainer's dict and its children's; the step that the dict does not have is tested in test_implied_steps."""

import pytest

from diagnosis.observations import Phase
from tests.diagnosis.formats.dialects.table import NAN, Case, check
from tests.diagnosis.formats.reading import eval_losses, losses, phases, read, samples

CASES = [
    Case(
        "huggingface",
        "{'loss': 1.5071, 'grad_norm': 7.700284481048584, 'learning_rate': 4.166666666666667e-06, 'epoch': 0.04}\n",
        [{"loss": 1.5071, "grad_norm": 7.700284481048584, "lr": 4.166666666666667e-06, "epoch": 0.04}],
    ),
    Case(
        "huggingface",
        "{'loss': '0', 'grad_norm': 'nan', 'learning_rate': '1.2e-05', 'num_tokens': '1.204e+07', 'epoch': '0.51'}\n",
        [{"loss": 0.0, "grad_norm": NAN, "lr": 1.2e-5, "consumed_tokens": 1.204e7}],
    ),
    Case(
        "huggingface",
        "{'loss': nan, 'grad_norm': inf, 'learning_rate': 2e-05, 'epoch': 0.1}\n",
        [{"loss": NAN, "grad_norm": float("inf")}],
    ),
    Case(
        "huggingface",
        "{'loss': 0.0, 'grad_norm': 0.0866, 'learning_rate': 6.91e-06, 'completion_length': 232.825, "
        "'rewards/format_reward2': 1.0, 'reward': 1.717, 'reward_std': 0.57, 'kl': 0.00053, 'epoch': 0.31}\n",
        [{"loss": 0.0, "grad_norm": 0.0866, "reward": 1.717, "kl": 0.00053}],
    ),
    Case(
        "huggingface",
        "{'eps': 1, 'objective/kl': 10.5, 'loss/policy_avg': 0.0009, 'loss/value_avg': 0.153, 'val/ratio': 0.968, "
        "'lr': 2.06e-06, 'episode': 816, 'epoch': 0.91}\n",
        [{"loss": 0.0009, "lr": 2.06e-6, "step": 816, "kl": 10.5}],
    ),
    Case(
        "huggingface",
        "{'loss': 0.9123, 'grad_norm': 0.51, 'learning_rate': 1.9e-05, 'memory/max_mem_active(gib)': 25.45, "
        "'memory/max_mem_allocated(gib)': 25.45, 'memory/device_mem_reserved(gib)': 27.1, 'epoch': 0.1}\n",
        [{"loss": 0.9123, "memory_bytes": 25.45 * 2**30}],
    ),
    Case(
        "huggingface",
        "{'loss': 20.53074074, 'grad_norm': 52.22467041, 'learning_rate': 0.0001, 'token_acc': 0.0, "
        "'epoch': 0.00228768, 'global_step/max_steps': '1/438', 'percentage': '0.23%', 'elapsed_time': '6s', "
        "'memory(GiB)': 15.97, 'train_speed(iter/s)': 0.157583}\n",
        [{"step": 1, "loss": 20.53074074, "total_steps": 438}],
    ),
]


@pytest.mark.parametrize("case", CASES)
def test_a_trainer_dict_gives_its_numbers(case):
    """Strings, NaN, memory keys and policy losses are what they are."""
    check(case)


def test_evaluation_and_closing_summary_are_no_points():
    """Only the key `loss` is the training loss."""
    seen = read(
        "{'loss': 0.7, 'learning_rate': 1e-05, 'epoch': 0.3}\n"
        "{'eval_loss': 0.686699390411377, 'eval_runtime': 128.464, 'epoch': 0.31}\n"
        "{'train_runtime': 4849.001, 'train_steps_per_second': 0.033, 'train_loss': 0.68426, 'epoch': 1.0}\n"
    )

    assert [loss for _, loss in losses(seen)] == [0.7]
    assert eval_losses(seen) == [(None, 0.686699390411377)]
    assert (Phase.FINISHED, True) in phases(seen)


def test_a_dict_that_the_terminal_broke_is_joined():
    """Rich and narrow terminals wrap a dict over lines."""
    seen = read("{'loss': '0.9446', 'grad_norm': '0.3593',\n 'learning_rate': '3.6e-05', 'epoch': '0.2703'}\nbye\n")

    assert [(one.loss, one.lr) for one in samples(seen)] == [(0.9446, 3.6e-5)]


def test_a_dict_that_never_closes_does_not_swallow_the_log():
    """After a few lines the join gives up and the log is read on."""
    seen = read("{'loss': '0.9446',\n" + "noise\n" * 8 + "{'loss': 0.5, 'epoch': 1.0}\n")

    assert [loss for _, loss in losses(seen)][-1] == 0.5


LLAMA_FACTORY = (
    "[INFO|2025-04-30 22:55:57] llamafactory.train.callbacks:143 >> {{'loss': {loss:.4f}, 'learning_rate': 4.9978e-05, "
    "'epoch': {epoch:.2f}, 'throughput': 1828.21}}\n"
)
TRAINER = "{{'loss': {loss}, 'grad_norm': 0.77, 'learning_rate': 4.997807075247146e-05, 'epoch': {epoch}}}\n"
OLDER = "02/09/2024 14:39:26 - INFO - llmtuner.extras.callbacks - {{'loss': {loss:.4f}, 'epoch': {epoch:.2f}}}\n"


@pytest.mark.parametrize("lines", [(LLAMA_FACTORY, TRAINER), (OLDER, TRAINER), (TRAINER, LLAMA_FACTORY)])
def test_a_step_that_the_logger_and_the_trainer_tell_counts_once(lines):
    """LLaMA-Factory logs a rounded dict beside the Trainer's own; the one with the grad norm is kept."""
    told = [(1.4229, 0.17), (1.3738, 0.33), (1.3738, 0.5), (1.2, 0.67)]

    seen = samples(read("".join(line.format(loss=loss, epoch=epoch) for loss, epoch in told for line in lines)))

    assert [(one.loss, one.grad_norm) for one in seen] == [(loss, 0.77) for loss, _ in told]


def test_the_trainers_dict_takes_the_loggers_time():
    """It has none of its own."""
    (seen,) = samples(read((LLAMA_FACTORY + TRAINER).format(loss=1.4229, epoch=0.17)))

    assert seen.time == 1746053757.0


def test_a_log_of_the_logger_alone_is_read():
    """`running_log.txt` holds no other dict."""
    text = "".join(LLAMA_FACTORY.format(loss=2 - step / 10, epoch=step / 10) for step in range(5))

    assert [loss for _, loss in losses(read(text))] == [2.0, 1.9, 1.8, 1.7, 1.6]
