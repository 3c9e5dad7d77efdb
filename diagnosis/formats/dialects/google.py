"""MaxText, pytorch/xla, Cerebras and the TensorFlow Estimator."""

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

FORMATS = (_MAXTEXT, _XLA, _CEREBRAS, _ESTIMATOR)
