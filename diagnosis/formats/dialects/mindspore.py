"""MindFormers, MindSpore and mindyolo: braces, brackets around single numbers, a record that ends a line later.

`overflow cond: True` is a skipped step; its loss of 0.000 is not real.
"""

import re

from diagnosis.formats.line_format import LineFormat, Values, where


def _settle(values: Values) -> bool:
    epoch, length = values.get("epoch"), values.pop("steps_per_epoch", None)
    within = values.get("step_in_epoch")
    if epoch is not None and length and within is not None:
        del values["step_in_epoch"]
        values["step"] = (epoch - 1) * length + within
    if values.get("loss") == 0.0:
        del values["loss"]  # printed for a step that is skipped, as this line or one of the next says
    return True


FORMATS = (
    LineFormat(
        name="mindformers",
        hint="step:[",
        head=re.compile(
            r"(?:\bEpoch:\[\s*(?P<epoch>\d+)/\s*\d+\], )?"
            r"\bstep:\[\s*(?P<step_in_epoch>\d+)/\s*(?P<steps_per_epoch>\d+)\]"
        ),
        fields={
            "loss": where(r"\bloss: ?\[?\s*#"),
            "lr": where(r"\blr: ?\[?#"),
            "grad_norm": where(r"\b(?:grad_norm|global_norm): *\[? *#(?=[\],]|$)"),
            "loss_scale": where(r"\bloss_scale: *#"),
            "step_seconds": (where(r"\bper_step_time: *#ms", 0.001), where(r"\btime:# ms", 0.001)),
        },
        flags={"skipped_steps": re.compile(r"\boverflow cond: True")},
        settle=_settle,
    ),
)
