"""Toolkits of their own kind: Deeplearning4j, CNTK, Trax, and bars that a logger prints as lines (levanter, haliax)."""

import math
import re

from diagnosis.formats.line_format import LineFormat, Values, where

_CNTK = LineFormat(
    name="cntk",
    hint="Minibatch[",
    head=re.compile(
        r"\b(?:Epoch\[ *(?P<epoch>\d+)(?: of \d+)?\]-)?Minibatch\[ *\d+- *(?P<step_in_epoch>\d+)(?:, *[\d.]+%)?\]: "
    ),
    fields={
        "loss": where(r"\]: [\w. ]+ = # \* \d+"),
        "step_seconds": where(r"\btime = #s"),
        "samples_per_second": where(r"\bsamplesPerSecond = #"),
    },
    needs=("loss",),
)

_DIGITS_OF_BAR = 3
"""tqdm prints a large count with so many."""


def _rounded(values: Values) -> bool:
    """How coarse the step is: from a thousand on it has three digits."""
    step = values.get("step", 0.0)
    if step >= 1000.0:
        values["step_rounded"] = 10.0 ** (math.floor(math.log10(step)) - _DIGITS_OF_BAR + 1)
    return True


_LOGGED_BAR = LineFormat(
    name="levanter",
    hint="Progress on:",
    head=re.compile(r"\bProgress on: ?(?:train\w*|-) (?P<step>[\d.]+[kKMG]?)it/"),
    fields={"loss": where(r"\bpostfix:.*?\bloss=#"), "lr": where(r"\bpostfix:.*?\blr=#")},
    settle=_rounded,
    needs=("loss",),
)

_TRAX = LineFormat(
    name="trax",
    hint=": train ",
    head=re.compile(r"^Step +(?P<step>\d+): train +\w*Loss \|"),
    fields={"loss": where(r": train +\w*Loss \| +#")},
    needs=("loss",),
)

_DL4J = LineFormat(
    name="deeplearning4j",
    hint="Score at iteration ",
    head=re.compile(r"\bScore at iteration (?P<step>\d+) is (?P<loss>[-\d.E]+|NaN|-?Infinity)$"),
    fields={},
)

FORMATS = (_DL4J, _CNTK, _LOGGED_BAR, _TRAX)
