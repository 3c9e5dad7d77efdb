"""torchtitan and its forks. With pipeline parallel every rank but the last prints a loss of -1: not a loss."""

import re

from diagnosis.formats.line_format import LineFormat, Without, where

FORMATS = (
    LineFormat(
        name="torchtitan",
        hint="step:",
        head=re.compile(r"\bstep:\s+(?P<step>\d+)\s+(?:loss|global_avg_loss|lr):"),
        fields={
            "loss": where(r"\sloss:\s*#"),
            "grad_norm": where(r"\sgrad_norm:\s*#"),
            "lr": where(r"\slr:\s*#"),
            "memory_bytes": where(r"\smemory:\s*#GiB", float(1 << 30)),
            "tokens_per_second_per_gpu": where(r"\stps:\s*#"),
            "tflops": where(r"\stflops:\s*#"),
            "mfu": where(r"\smfu:\s*#%", 0.01),
        },
        refuse=re.compile(r"\bvalidate step:"),
        settle=Without("loss", -1.0),
        needs=("loss", "grad_norm", "lr", "tokens_per_second_per_gpu"),
    ),
)
