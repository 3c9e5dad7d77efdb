"""torchtune's file logger: `Step 0 | loss:1.75 lr:2e-05`; on the screen it has a bar (`bars.py`)."""

import re

from diagnosis.formats.line_format import LineFormat, where

FORMATS = (
    LineFormat(
        name="torchtune",
        hint="Step ",
        head=re.compile(r"^Step (?P<step>\d+) \| (?=.*\bloss:)"),
        fields={
            "loss": where(r"[ |]loss:#"),
            "lr": where(r"\blr:#"),
            "grad_norm": where(r"\bgrad_norm:#"),
            "tokens_per_second_per_gpu": where(r"\btokens_per_second_per_gpu:#"),
        },
    ),
)
