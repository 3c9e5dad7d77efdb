"""nanotron: `iteration: 327281 / 378950 | lm_loss: 2.38`, with K, M and G behind every number, times too."""

import re

from diagnosis.formats.line_format import LineFormat, where

FORMATS = (
    LineFormat(
        name="nanotron",
        hint="iteration: ",
        head=re.compile(r"\biteration: (?P<step>\d+) / (?P<total_steps>\d+) \|"),
        fields={
            "loss": where(r"\blm_loss: @"),
            "lr": where(r"\blr: @"),
            "grad_norm": where(r"\bgrad_norm: @"),
            "consumed_tokens": where(r"\bconsumed_tokens: @"),
            "step_seconds": where(r"\belapsed_time_per_iteration_ms: @", 0.001),
            "tokens_per_second": where(r"\btokens_per_sec: @"),
            "tokens_per_second_per_gpu": where(r"\btokens_per_sec_per_gpu: @"),
            "batch_size": where(r"\bglobal_batch_size: @"),
            "tflops": where(r"\bmodel_tflops_per_gpu: @"),
        },
    ),
)
