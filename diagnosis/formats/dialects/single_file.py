"""Small trainers of one file each: minimind, mlx-lm, tinygrad, fastText, BigDL, gluon-nlp, audiocraft, Demucs."""

import re

from diagnosis.formats.dialects.epochs import whole_steps
from diagnosis.formats.line_format import LineFormat, where

_MINIMIND = LineFormat(
    name="minimind",
    hint="Epoch:",
    head=re.compile(r"\bEpoch: ?\[(?P<epoch>\d+)/\d+\] ?\((?P<step_in_epoch>\d+)/(?P<steps_per_epoch>\d+)\)[, ]"),
    fields={
        "loss": (where(r"[ ,)]loss: ?#"), where(r"\bActor Loss: ?#"), where(r"\bactor_loss: ?#")),
        "lr": where(r"\b(?:lr|learning_rate|Learning Rate): ?#"),
        "grad_norm": where(r"\bgrad_norm: ?#"),
        "reward": where(r"\b[Rr]eward: ?#"),
        "kl": where(r"\bKL(?:_ref)?: ?#"),
    },
    settle=whole_steps(1),
    needs=("loss", "reward"),
)

_MLX = LineFormat(
    name="mlx",
    hint="Iter ",
    head=re.compile(r"\bIter (?P<step>\d+): Train loss "),
    fields={
        "loss": where(r"Train loss #"),
        "lr": where(r"Learning Rate #"),
        "tokens_per_second": where(r"Tokens/sec #"),
        "consumed_tokens": where(r"Trained Tokens #"),
        "memory_bytes": where(r"Peak mem # GB", 1e9),
    },
)

_TINYGRAD = LineFormat(
    name="tinygrad",
    hint=" run, ",
    head=re.compile(r"^\s*(?P<step>\d+)\s+[\d.]+ m?s run,.*? loss,"),
    fields={
        "loss": where(r"# loss,"),
        "lr": where(r"# LR\b"),
        "step_seconds": (where(r"# s run,"), where(r"# ms run,", 0.001)),
        "memory_bytes": where(r"# GB used", 1e9),
    },
)

_BIGDL = LineFormat(
    name="bigdl",
    hint="[Iteration ",
    head=re.compile(r"\[Epoch (?P<epoch>\d+) \d+/\d+\]\[Iteration (?P<step>\d+)\]"),
    fields={
        "loss": where(r"\bLoss is #"),
        "samples_per_second": where(r"Throughput is # records/second"),
        "elapsed_seconds": where(r"\[Wall Clock #s\]"),
    },
)

_GLUON = LineFormat(
    name="gluon-nlp",
    hint="Batch: ",
    head=re.compile(r"\bEpoch: (?P<epoch>\d+), Batch: (?P<step_in_epoch>\d+)/\d+, .*?[Ll]oss"),
    fields={
        "loss": (where(r"Loss [\w/]*/total=(?:[\d.a-z+-]+/)+#"), where(r"\b[Ll]oss=#")),
        "lr": where(r"\b(?:LR|lr)=#"),
        "grad_norm": where(r"\bgrad_norm=#"),
    },
)

_AUDIOCRAFT = LineFormat(
    name="audiocraft",
    hint="Train | Epoch ",
    head=re.compile(r"\bTrain \| Epoch (?P<epoch>\d+) \| (?P<step_in_epoch>\d+)/(?P<steps_per_epoch>\d+) \|"),
    fields={
        "loss": (where(r"\bce=#"), where(r"\b[Ll]oss[= ]#")),
        "lr": where(r"\blr=#"),
        "grad_norm": (where(r"\bgrad_norm=#"), where(r"\| Grad #")),
        "loss_scale": where(r"\bgrad_scale=#"),
        "perplexity": where(r"\bppl=#"),
    },
    settle=whole_steps(1),
)

_FASTTEXT = LineFormat(
    name="fasttext",
    hint="words/sec/thread:",
    head=re.compile(r"^Progress: +[\d.]+% "),
    fields={"loss": where(r"\bloss: +#"), "lr": where(r"\blr: +#")},
    kind="ordinal",
    needs=("loss",),
)

FORMATS = (_FASTTEXT, _MINIMIND, _MLX, _TINYGRAD, _BIGDL, _GLUON, _AUDIOCRAFT)
