"""Meters of vision code, also used for language: MetricLogger (DeiT, BEiT), detectron2, timm, ImageNet, Swin, VISSL.

Where a number has a running mean in brackets behind it, the first one is judged: after one bad step the mean
stays `nan` to the end.
"""

import re

from diagnosis.formats.dialects.epochs import whole_steps
from diagnosis.formats.line_format import LineFormat, where

_METRIC_LOGGER = LineFormat(
    name="metric logger",
    hint="Epoch: [",
    head=re.compile(
        r"\bEpoch: \[(?P<epoch>\d+)\]\s+\[\s*(?P<step_in_epoch>\d+)/(?P<steps_per_epoch>\d+)\]\s+"
        r"(?:eta|lr|learning_rate|c?loss): "
    ),
    fields={
        "loss": (where(r"(?<!\S)loss: #"), where(r"(?<!\S)(?:total_|train_|c)loss: #")),
        "lr": where(r"(?<!\S)(?:lr|learning_rate): #"),
        "grad_norm": where(r"(?<!\S)grad_norm: #"),
        "loss_scale": where(r"(?<!\S)loss_scale: #"),
        "step_seconds": where(r"(?<!\S)time: #"),
        "memory_bytes": where(r"max mem: #", float(1 << 20)),
    },
    settle=whole_steps(0),
)

_DETECTRON2 = LineFormat(
    name="detectron2",
    hint="iter: ",
    head=re.compile(r"\biter: (?P<step>\d+)\s+(?:total_loss|lr|loss): "),
    fields={
        "loss": (where(r"\btotal_loss: #"), where(r"(?<!\S)loss: #")),
        "lr": where(r"(?<!\S)lr: #"),
        "step_seconds": where(r"(?<!\S)time: #"),
        "memory_bytes": where(r"\bmax_mem: #M", float(1 << 20)),
    },
)

_TIMM = LineFormat(
    name="timm",
    hint="Train: ",
    head=re.compile(r"\bTrain: (?P<epoch>\d+) \[\s*(?P<step_in_epoch>\d+)/(?P<steps_per_epoch>\d+)\s+\(\s*\d+%\)\]"),
    fields={
        "loss": where(r"\bLoss:\s+#"),
        "lr": where(r"\bLR:\s+#"),
        "step_seconds": where(r"\bTime:\s+#s"),
        "samples_per_second": where(r"\bTime:\s+[\d.]+s,\s+#/s"),
    },
    settle=whole_steps(0),
)

_IMAGENET = LineFormat(
    name="imagenet meters",
    hint="Epoch: [",
    head=re.compile(r"\bEpoch: \[(?P<epoch>\d+)\]\[\s*(?P<step_in_epoch>\d+)/(?P<steps_per_epoch>\d+)\]\s"),
    fields={
        "loss": where(r"\bLoss\s+#"),
        "lr": where(r"\b(?:LR|lr)\s+#"),
        "step_seconds": where(r"\bTime\s+#"),
    },
    settle=whole_steps(0),
)

_SWIN = LineFormat(
    name="swin",
    hint="Train: [",
    head=re.compile(r"\bTrain: \[(?P<epoch>\d+)/\d+\]\[(?P<step_in_epoch>\d+)/(?P<steps_per_epoch>\d+)\]\s"),
    fields={
        "loss": where(r"\bloss #"),
        "lr": where(r"\blr #"),
        "grad_norm": where(r"\bgrad_norm #"),
        "loss_scale": where(r"\bloss_scale #"),
        "step_seconds": where(r"\btime #"),
        "memory_bytes": where(r"\bmem #MB", float(1 << 20)),
    },
    settle=whole_steps(0),
)

_VISSL = LineFormat(
    name="vissl",
    hint="] iter: ",
    head=re.compile(r"\[ep: (?P<epoch>\d+)\] iter: (?P<step>\d+);"),
    fields={
        "loss": where(r"; loss: #"),
        "lr": where(r"; lr: #"),
        "step_seconds": where(r"btime\(ms\): #", 0.001),
        "memory_bytes": where(r"peak_mem\(M\): #", float(1 << 20)),
    },
)

_DARKNET = LineFormat(
    name="darknet",
    hint=" rate, ",
    head=re.compile(r"^\s*(?P<step>\d+): (?P<loss>[-\d.na]+), [-\d.na]+ avg(?: loss)?, "),
    fields={
        "lr": where(r"\b# rate,"),
        "step_seconds": where(r"\b# seconds,"),
        "consumed_samples": where(r"\b# images"),
    },
)

FORMATS = (_DARKNET, _METRIC_LOGGER, _IMAGENET, _TIMM, _SWIN, _VISSL, _DETECTRON2)
