"""InternEvo (InternLM): `key=value` with commas or blanks between, among the keys one with brackets and blanks."""

import re

from diagnosis.formats.line_format import LineFormat, where

FORMATS = (
    LineFormat(
        name="internevo",
        hint="step=",
        head=re.compile(r"\btflops=[\d.]+[,\s]\s*step=(?P<step>\d+)[,\s]\s*loss="),
        fields={
            "loss": where(r"[,\s]loss=#"),
            "lr": where(r"[,\s]lr=#"),
            "grad_norm": where(r"[,\s]grad_norm=(?:\{'[^']*': )?#"),
            "loss_scale": where(r"[,\s]loss_scale=#"),
            "tokens_per_second_per_gpu": where(r"tgs \(tokens/gpu/second\)=#"),
            "consumed_tokens": where(r"\bnum_consumed_tokens=#"),
            "nan_total": where(r"\binf_nan_skip_batches=#"),
            "batch_size": where(r"\bnum_samples_in_batch=#"),
            "sequence_length": where(r"\blargest_length=#"),
            "tflops": where(r"\btflops=#"),
        },
    ),
)
