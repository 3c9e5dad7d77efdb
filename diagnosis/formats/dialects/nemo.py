"""NeMo 2 and bionemo: `Training epoch 0, iteration 120/149 | … global_step: 120 | reduced_train_loss: 1.233`."""

import re

from diagnosis.formats.line_format import LineFormat, Values, where


def _settle(values: Values) -> bool:
    if "step" in values:
        values.pop("step_in_epoch", None)
    return True


FORMATS = (
    LineFormat(
        name="nemo",
        hint="Training epoch ",
        head=re.compile(r"\bTraining epoch (?P<epoch>\d+), iteration (?P<step_in_epoch>\d+)/\d+ \|"),
        fields={
            "step": where(r"\bglobal_step: #"),
            "loss": (where(r"\breduced_train_loss: #"), where(r"\b(?:train_)?loss: #")),
            "lr": where(r"\blr: #"),
            "grad_norm": where(r"\bgrad_norm: #"),
            "batch_size": where(r"\bglobal_batch_size: #"),
            "consumed_samples": where(r"\bconsumed_samples: #"),
            "step_seconds": where(r"\btrain_step_timing in s: #"),
        },
        settle=_settle,
    ),
)
