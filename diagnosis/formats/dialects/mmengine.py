"""mmengine and mmcv: xtuner, MMDetection and kin. Two blanks between pairs, no year in the time."""

import re
from collections.abc import Mapping

from diagnosis.formats.dialects.epochs import whole_steps
from diagnosis.formats.line_format import LineFormat, Where, where

_FIELDS: Mapping[str, Where | tuple[Where, ...]] = {
    "loss": where(r"(?<![\w.])loss: #"),
    "lr": (where(r"(?<![\w.])lr: #"), where(r"(?<![\w.])base_lr: #")),
    "grad_norm": where(r"(?<![\w.])grad_norm: #"),
    "step_seconds": where(r"(?<![\w.])time: #"),
    "memory_bytes": where(r"(?<![\w.])memory: #", float(1 << 20)),
    "tokens_per_second_per_gpu": where(r"(?<![\w.])tokens_per_sec: #"),
}

_BY_EPOCH = LineFormat(
    name="mmengine",
    hint="Epoch",
    head=re.compile(
        r"\bEpoch(?:\(train\)\s+| )\[(?P<epoch>\d+)\]\[\s*(?P<step_in_epoch>\d+)/(?P<steps_per_epoch>\d+)\]\s"
    ),
    fields=_FIELDS,
    settle=whole_steps(1),
)

_BY_STEP = LineFormat(
    name="mmengine",
    hint="Iter",
    head=re.compile(r"\bIter(?:\(train\)\s+| )\[\s*(?P<step>\d+)/(?P<total_steps>\d+)\]\s"),
    fields=_FIELDS,
)

_XTUNER = LineFormat(
    name="xtuner",
    hint=" Step ",
    head=re.compile(r"(?:\[XTuner\].*\]|\[Train\] \(Epoch (?P<epoch>\d+)\)) Step (?P<step>\d+)/(?P<total_steps>\d+)\s"),
    fields={
        "loss": (
            where(r"\breduced_llm_loss: #"),
            where(r"\bloss\(reduced\): #"),
            where(r"\btotal_loss: #"),
            where(r"(?<![\w.])loss: #"),
        ),
        "lr": where(r"\blr: #"),
        "grad_norm": where(r"\bgrad_norm: #"),
        "tokens_per_second_per_gpu": where(r"\btgs: #"),
        "step_seconds": where(r"(?<![\w.])time: #"),
    },
)

FORMATS = (_BY_EPOCH, _BY_STEP, _XTUNER)
