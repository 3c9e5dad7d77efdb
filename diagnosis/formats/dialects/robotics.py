"""LeRobot: `step:400 smpl:13K ep:40 epch:1.01 loss:2.215 grdn:49.8`; from 1,000 on the step is rounded to thousands."""

import re

from diagnosis.formats.line_format import LineFormat, Values, where

_UNITS = (1e9, 1e6, 1e3)


def _unit(values: Values) -> bool:
    """How coarse the step is: every number from a thousand on is rounded to its unit."""
    step = values.get("step", 0.0)
    unit = next((unit for unit in _UNITS if step >= unit), None)
    if unit is not None:
        values["step_rounded"] = unit
    return True


_LEROBOT = LineFormat(
    name="lerobot",
    hint=" smpl:",
    head=re.compile(r"(?<!\S)step:(?P<step>\d+[KMB]?) smpl:\S+ ep:\S+ epch:"),
    fields={
        "loss": where(r" loss:#"),
        "grad_norm": where(r" grdn:#"),
        "lr": where(r" lr:#"),
        "step_seconds": where(r" updt_s:#"),
    },
    settle=_unit,
    needs=("loss",),
)

FORMATS = (_LEROBOT,)
