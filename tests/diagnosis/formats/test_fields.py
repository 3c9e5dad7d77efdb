"""Names: every printed key leads to a documented one, and the training loss is told from all other losses."""

import pytest

from diagnosis.formats.dialects import FORMATS, GENERAL
from diagnosis.formats.fields import ALIASES, COUNTING, FIELDS, METRICS, field_of, is_evaluation, loss_key, normalise
from diagnosis.formats.line_format import LineFormat


def test_every_alias_leads_to_a_documented_name():
    """So that `fields` of a sample can be looked up."""
    assert {name for name, _ in ALIASES.values()} <= set(FIELDS) | set(METRICS) | COUNTING


def test_every_dialect_uses_documented_names():
    """Heads and fields alike."""
    formats = [one for one in FORMATS if isinstance(one, LineFormat)]
    used = {name for one in formats for name in (*one.fields, *one.head.groupindex, *one.flags)}

    assert used <= set(FIELDS) | set(METRICS) | COUNTING


def test_every_dialect_has_a_hint_and_a_name():
    """A hint that is empty would make every line of chatter dear."""
    assert all(one.hint and one.name for one in FORMATS)
    assert GENERAL.name


@pytest.mark.parametrize(
    ("printed", "name", "factor"),
    [
        ("learning rate", "lr", 1),
        ("Learning-Rate", "lr", 1),
        ("'grad_norm'", "grad_norm", 1),
        ("tokens/sec", "tokens_per_second", 1),
        ("tgs (tokens/gpu/second)", "tokens_per_second_per_gpu", 1),
        ("train_step_timing in s", None, 1),
        ("memory(GiB)", "memory_bytes", float(1 << 30)),
        ("mfu", "mfu", 0.01),
        ("nonsense", None, 1),
    ],
)
def test_a_printed_key_is_translated(printed, name, factor):
    """With the factor to our unit."""
    found = field_of(normalise(printed))

    assert found == (None if name is None else (name, factor))


@pytest.mark.parametrize(
    ("keys", "loss"),
    [
        (["loss", "aux_loss"], "loss"),
        (["total_loss", "ce_loss", "z_loss"], "total_loss"),
        (["train_loss_epoch", "train_loss_step"], "train_loss_step"),
        (["loss", "reduced_train_loss"], "loss"),
        (["eval_loss", "val_loss", "valid_loss", "test_loss"], None),
        (["kl_loss", "reg_loss", "load_balancing_loss", "critic/vf_loss", "cri_loss"], None),
        (["lm_loss__min", "lm_loss", "lm_loss__max"], "lm_loss"),
        ([], None),
    ],
)
def test_the_training_loss_is_told_from_other_losses(keys, loss):
    """The most whole one of a line; never an evaluation's, never a part."""
    assert loss_key(keys) == loss


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("eval_loss", True),
        ("val/loss", True),
        ("valid_loss", True),
        ("held_out/loss", True),
        ("lm_loss__min", True),
        ("loss", False),
        ("value_loss", False),
    ],
)
def test_an_evaluations_key_is_known(name, expected):
    """By whole words."""
    assert is_evaluation(name) is expected
