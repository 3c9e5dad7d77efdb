"""Meters of vision code, also used for language: MetricLogger (DeiT, BEiT), detectron2, timm, ImageNet, Swin, VISSL.

Where a number has a running mean in brackets behind it, the first one is judged: after one bad step the mean
stays `nan` to the end.
"""

import re

from diagnosis.formats.dialects.epochs import whole_steps
from diagnosis.formats.line_format import LineFormat, Values, where
from diagnosis.formats.parts import add_up

_in_epochs = whole_steps(1)


def add_up_in_epochs(values: Values) -> bool:
    """The sum of the parts, the step of the run, and the time it took."""
    speed = values.pop("steps_per_second", 0.0)
    if speed > 0.0:
        values["step_seconds"] = 1.0 / speed
    return add_up(values) and _in_epochs(values)


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
        "loss": where(r"\bLoss:?\s+#"),
        "lr": where(r"\b(?:LR|lr):?\s+#"),
        "grad_norm": where(r"\bGrad: #"),
        "step_seconds": where(r"\bTime\s+#"),
    },
    settle=whole_steps(0),
    needs=("loss",),
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

_YOLACT = LineFormat(
    name="yolact",
    hint=" || ETA: ",
    head=re.compile(r"^\s*\[\s*\d+\]\s+(?P<step>\d+) \|\| .*\bT: (?P<loss>[-\d.na]+) \|\| ETA: "),
    fields={"step_seconds": where(r"\btimer: #")},
)
"""`T` is the sum of the losses whose initials stand before it."""

_YOLO = LineFormat(
    name="yolo",
    hint="/",
    head=re.compile(
        r"^\s*(?P<epoch>\d{1,6})/\d{1,6}\s+[\d.]+[GM]B?\s+(?P<part_1>[\d.e-]+|nan)\s+(?P<part_2>[\d.e-]+|nan)"
        r"(?:\s+(?P<part_3>\d*\.\d[\d.e-]*|nan|0))?(?:\s+(?P<part_4>\d*\.\d[\d.e-]*|nan))?(?:\s+(?P<part_5>\d*\.\d[\d.e-]*|nan))?"
        r"\s+\d+\s+\d+:\s+\d{1,3}%.*?(?<!\d)(?P<step_in_epoch>\d{1,12})/(?P<steps_per_epoch>\d{1,12}) "
    ),
    fields={"step_seconds": where(r", *#s/it"), "steps_per_second": where(r", *#it/s")},
    settle=add_up_in_epochs,
)
"""YOLOv3 to YOLO11: epoch, GPU memory, the loss in parts and perhaps their total, objects, image size, and a bar."""

_EDM = LineFormat(
    name="edm",
    hint=" kimg ",
    head=re.compile(r"^tick \d+ +kimg [\d.]+ .*\bloss "),
    fields={"step": where(r" kimg #", 1000.0), "loss": where(r"\bloss #")},
    kind="samples",
)

_BASICSR = LineFormat(
    name="basicsr",
    hint="epoch:",
    head=re.compile(r"[\[<]epoch: *\d+, iter: *(?P<step>[\d,]+), lr:\(?(?P<lr>[\d.e-]+)"),
    fields={
        "loss": (where(r"(?<!\S)l_(?:g_)?total: #"), where(r"[\])>] (?:\S+ )?l_pix: # *$")),
        "step_seconds": where(r"time \(data\): #"),
    },
)
"""With several losses a line tells no sum, so there is none."""

FORMATS = (_DARKNET, _EDM, _BASICSR, _YOLACT, _YOLO, _METRIC_LOGGER, _IMAGENET, _TIMM, _SWIN, _VISSL, _DETECTRON2)
