"""litgpt and lit-llama: `iter` is a micro-batch, `step` an optimizer step; `val:` repeats the last evaluation."""

import re

from diagnosis.formats.line_format import LineFormat, where

_LITGPT = LineFormat(
    name="litgpt",
    hint="loss train",
    head=re.compile(r"\biter \d+ (?:\| )?(?i:step) (?P<step>\d+)(?: \||:) loss train"),
    fields={
        "loss": where(r"loss train(?: \(curr\))?: #"),
        "epoch": where(r"\bEpoch #"),
        "step_seconds": where(r"iter time: # ms", 0.001),
    },
)

_LIT_LLAMA = LineFormat(
    name="litgpt",
    hint="iter ",
    head=re.compile(r"^iter \d+ step (?P<step>\d+): loss "),
    fields={"loss": where(r": loss #"), "step_seconds": where(r"iter time: #ms", 0.001)},
)

FORMATS = (_LITGPT, _LIT_LLAMA)
