"""RETURNN, ESPnet2, fairseq and metaseq, VITS, WeNet, WaveGlow and Kaldi."""

import re

from diagnosis.formats.dialects.epochs import whole_steps
from diagnosis.formats.line_format import LineFormat, Values, where
from diagnosis.formats.parts import add_up


def against_a_discriminator(values: Values) -> bool:
    """The generator's loss is the sum of the parts."""
    values["adversarial"] = 1.0
    return add_up(values)


_RETURNN = LineFormat(
    name="returnn",
    hint=" train, step ",
    head=re.compile(r"\bep (?P<epoch>\d+) train, step (?P<step_in_epoch>\d+), "),
    fields={
        "loss": where(r" train, step \d+, [\w:/.-]+ #,"),
        "grad_norm": where(r"\bgrad_norm(?::p2)? #"),
        "lr": where(r"\b(?:lr|learning_rate) #"),
        "step_seconds": where(r"# sec/step"),
    },
)
"""The first loss of the line is the one it is trained on; the others are its auxiliary ones."""

_ESPNET = LineFormat(
    name="espnet",
    hint="epoch:train:",
    head=re.compile(r"\b(?P<epoch>\d+)epoch:train:\d+-(?P<step_in_epoch>\d+)batch: "),
    fields={
        "loss": where(r"\bloss=#"),
        "lr": where(r"\boptim0_lr0=#"),
        "grad_norm": where(r"\bgrad_norm=#"),
        "step_seconds": where(r"\btrain_time=#"),
    },
)

_FAIRSEQ_JSON = LineFormat(
    name="fairseq",
    hint="train_inner",
    head=re.compile(r"\btrain_inner\b.*\"num_updates\": \"?(?P<step>\d+)"),
    fields={
        "loss": where(r"\"loss\": \"?#"),
        "lr": where(r"\"lr\": \"?#"),
        "grad_norm": where(r"\"gnorm\": \"?#"),
        "loss_scale": where(r"\"loss_scale\": \"?#"),
        "tokens_per_second": where(r"\"wps\": \"?#"),
        "epoch": where(r"\"epoch\": \"?#"),
        "perplexity": where(r"\"ppl\": \"?#"),
        "elapsed_seconds": where(r"\"wall\": \"?#"),
    },
)

_FAIRSEQ = LineFormat(
    name="fairseq",
    hint="num_updates=",
    head=re.compile(r"\bepoch \d+:\s+\d+ / \d+ (?=.*\bloss=).*\bnum_updates=(?P<step>\d+)"),
    fields={
        "loss": where(r"\bloss=#"),
        "lr": where(r"\blr=#"),
        "grad_norm": where(r"\bgnorm=#"),
        "loss_scale": where(r"\bloss_scale=#"),
        "tokens_per_second": where(r"\bwps=#"),
        "perplexity": where(r"\bppl=#"),
        "elapsed_seconds": where(r"\bwall=#"),
    },
)

_FAIRSEQ_OLD = LineFormat(
    name="fairseq",
    hint="| epoch ",
    head=re.compile(r"\| epoch (?P<epoch>\d+):?\s+(?P<step_in_epoch>\d+) / (?P<steps_per_epoch>\d+) (?=loss=)"),
    fields={
        "loss": where(r"\bloss=#"),
        "lr": where(r"\blr=#"),
        "grad_norm": where(r"\bgnorm=#"),
        "tokens_per_second": where(r"\bwps=#"),
    },
    settle=whole_steps(1),
)

_NUMBER = r"-?\d+\.\d[\d.e-]*|nan|inf"
_VITS = LineFormat(
    name="vits",
    hint="[",
    head=re.compile(
        rf"(?:^|\s)\[(?:{_NUMBER}), (?P<part_1>{_NUMBER}), (?P<part_2>{_NUMBER}), (?P<part_3>{_NUMBER}), "
        rf"(?P<part_4>{_NUMBER}), (?P<part_5>{_NUMBER}), (?P<step>\d+), (?P<lr>[\d.e-]+)\]$"
    ),
    fields={},
    settle=against_a_discriminator,
)
"""A list without names: the discriminator's loss, the parts of the generator's, step and learning rate."""

_WENET = LineFormat(
    name="wenet",
    hint=" TRAIN Batch ",
    head=re.compile(r"\bTRAIN Batch (?P<epoch>\d+)/(?P<step_in_epoch>\d+) "),
    fields={
        "loss": where(r"(?<!\S)loss #"),
        "lr": where(r"(?<!\S)lr #"),
        "grad_norm": where(r"(?<!\S)grad_norm #"),
    },
)

_WAVEGLOW = LineFormat(
    name="waveglow",
    hint=":\t",
    head=re.compile(rf"^(?P<step>\d{{1,12}}):\t(?P<loss>{_NUMBER})$"),
    fields={},
)
"""`1200:\t-5.123456789`; its likelihood of sound makes the loss negative."""


def _to_be_raised(values: Values) -> bool:
    """A likelihood, which is to rise: it has no level to keep."""
    values["adversarial"] = 1.0
    return True


_KALDI = LineFormat(
    name="kaldi",
    hint="objective function for ",
    head=re.compile(
        r"\bAverage objective function for '[\w-]+' for minibatches \d+-(?P<step>\d+) is (?P<loss>[-\d.e]+|-?nan|-?inf)"
    ),
    fields={},
    settle=_to_be_raised,
)
"""nnet3: the log of one iteration."""

FORMATS = (_KALDI, _VITS, _WAVEGLOW, _WENET, _RETURNN, _ESPNET, _FAIRSEQ_JSON, _FAIRSEQ, _FAIRSEQ_OLD)
