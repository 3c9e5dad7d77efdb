"""Logs that never say "loss": a cost, an objective, a perplexity."""

import math

import pytest

from tests.diagnosis.formats.reading import losses, read, samples


def log(line, values=(3.5, 3.25, 3.125)):
    return "".join(line.format(step, value) + "\n" for step, value in enumerate(values, 1))


@pytest.mark.parametrize("word", ["cost", "Cost", "mse", "MSE", "bpc", "objective", "ELBO"])
@pytest.mark.parametrize(
    "line",
    [
        "step {} {word}: {} lr: 1e-4",
        "Iteration {}, {word} = {}",
        "[iter {}] train {word} {}",
        "step {} | average {word} {}",
        "12:00:01 INFO step={} total_{word}={}",
    ],
)
def test_the_only_number_that_stands_for_a_loss_is_the_loss(word, line):
    """Beside a step."""
    assert losses(read(log(line.replace("{word}", word)))) == [(1, 3.5), (2, 3.25), (3, 3.125)]


@pytest.mark.parametrize("word", ["ppl", "Perplexity"])
def test_the_loss_of_a_perplexity_is_its_logarithm(word):
    """So that it moves as a loss does: 20,000 to 3,000 is no spike."""
    seen = samples(read(log("step {} | " + word + " {} | lr 1e-4", (20000.5, 3000.5))))

    assert [one.loss for one in seen] == [pytest.approx(math.log(20000.5)), pytest.approx(math.log(3000.5))]
    assert [one.fields["perplexity"] for one in seen] == [20000.5, 3000.5]


@pytest.mark.parametrize(("word", "has_level"), [("objective", False), ("elbo", False), ("cost", True)])
def test_what_may_rise_has_no_level_to_keep(word, has_level):
    """A lower bound that rises is no divergence."""
    assert all(("adversarial" not in one.fields) is has_level for one in samples(read(log("step {} " + word + " {}"))))


@pytest.mark.parametrize(
    "line",
    [
        "step {} time cost: {}",
        "step {} cost {} s",
        "step {} cost {}ms",
        "step {} cost {} GB",
        "step {} val ppl: {}",
        "step {} validation perplexity: {}",
        "step {} valid cost {}",
        "Evaluation step {} ppl {}",
        "step {} cost 12 of {}",
        "step {} val_mse: {}",
        "step {} communication cost: {} lr 0.1",
        "round: 3, step: {}, storage cost={}",
        "step {} MSE: {} (val)",
        "step {} mse {} [test]",
        "step {} teacher ppl: {}",
    ],
)
def test_what_costs_something_else_or_was_evaluated_is_no_loss(line):
    """The word alone says little."""
    assert losses(read(log(line))) == []


def test_beside_losses_a_perplexity_is_none():
    """Whichever comes first."""
    pair = "step {0} ppl {1} of the batch\nstep {0} loss {1}\n"

    assert losses(read("".join(pair.format(step, 4.5 - step / 8) for step in (1, 2, 3)))) == [
        (step, 4.5 - step / 8) for step in (1, 2, 3)
    ]
