"""MaxText, pytorch/xla, Cerebras, the TensorFlow Estimator, Keras' epochs, and CLU (Flax, Scenic, Big Vision)."""

import re

from diagnosis.formats.line_format import LineFormat, where

_MAXTEXT = LineFormat(
    name="maxtext",
    hint="completed step: ",
    head=re.compile(r"\bcompleted step: (?P<step>\d+), seconds: "),
    fields={
        "loss": (where(r", +loss: #"), where(r", +main_model_loss: #")),
        "step_seconds": where(r", seconds: +#"),
        "tflops": where(r"TFLOP/s(?:/device)?: +#"),
        "tokens_per_second_per_gpu": where(r"Tokens/s/device: #"),
        "grad_norm": where(r", (?:raw_)?grad_norm: #"),
        "lr": where(r", (?:lr|learning_rate): #"),
    },
)

_XLA = LineFormat(
    name="pytorch/xla",
    hint="Device=xla",
    head=re.compile(r"\bTraining Device=xla:\S+ Epoch=(?P<epoch>\d+) Step=(?P<step_in_epoch>\d+) "),
    fields={"loss": where(r"\bLoss=#"), "samples_per_second": where(r"\bRate=#")},
)

_CEREBRAS = LineFormat(
    name="cerebras",
    hint="Train Device=",
    head=re.compile(r"\bTrain Device=\w+, Step=(?P<step>\d+), "),
    fields={
        "loss": where(r"\bLoss=#"),
        "samples_per_second": where(r"\bRate=#"),
        "lr": where(r"\b(?:LR|lr)=#"),
    },
)

_ESTIMATOR = LineFormat(
    name="tensorflow estimator",
    hint="step = ",
    head=re.compile(r"\bloss = .*?\bstep = (?P<step>\d+)(?: \(|,|$)"),
    fields={"loss": where(r"\bloss = #")},
    refuse=re.compile(r"Saving dict for global step|\beval"),
)

_KERAS = LineFormat(
    name="keras",
    hint="s - loss: ",
    head=re.compile(r"^(\d+)/\1 - \d+s - loss: "),
    fields={"loss": where(r"s - loss: #"), "lr": where(r" - (?:lr|learning_rate): #")},
    kind="ordinal",
)
"""`verbose=2`: a line for each epoch, which does not tell its number."""

_CLU = LineFormat(
    name="clu",
    hint="logging_writer.py:",
    head=re.compile(r"logging_writer\.py:\d+\] \[(?P<step>\d+)\] (?=.*loss=)"),
    fields={
        "loss": where(r"(?:^|[ ,])(?:train[_/])?(?:l2_)?loss=#"),
        "lr": where(r"(?:^|[ ,])(?:train[_/])?(?:learning_rate|lr)=#"),
        "grad_norm": where(r"(?:^|[ ,])(?:train[_/])?(?:l2_grads|grad_norm)=#"),
    },
    needs=("loss",),
)

_FLAX = LineFormat(
    name="flax",
    hint="Step... (",
    head=re.compile(
        r"\bStep\.\.\. \((?P<step>\d+)(?:/\d+)? \| (?:Train(?:ing)? )?Loss: \[?(?P<loss>[-\d.e+]+|nan|inf)"
    ),
    fields={"lr": where(r"\bLearning Rate: \[?#")},
)
"""The Flax examples of Hugging Face."""

FORMATS = (_FLAX, _MAXTEXT, _XLA, _CEREBRAS, _ESTIMATOR, _KERAS, _CLU)
