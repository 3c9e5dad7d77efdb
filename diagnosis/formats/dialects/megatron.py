"""Megatron-LM in all years and its children: Megatron-DeepSpeed, BLOOM, GPT-NeoX, Primus, MindSpeed, forks.

Fields come in any order and number, so they are found by name. A line without `lm loss` is still a step: all of
its steps were skipped, or (forks of Megatron-DeepSpeed) the loss was NaN and the field is gone.
"""

import re

from diagnosis.formats.line_format import LineFormat, where

_ITERATION = LineFormat(
    name="megatron",
    hint="iteration",
    head=re.compile(r"\biteration\s+(?P<step>\d+)\s*/\s*(?P<total_steps>\d+)\s*\|"),
    refuse=re.compile(r"validation|> working on|Training epoch"),
    fields={
        "loss": (
            where(r"\blm[ _-]loss:? +#"),
            where(r"\| (?:reduced_train_)?loss:? +#"),
            where(r"\| (?:total|mse|mlm|ce) loss:? +#"),
        ),
        "lr": where(r"\b(?:learning rate|lr):? +#"),
        "grad_norm": where(r"\bgrad[ _]norm:? +#"),
        # -1.0 is the trainer's word for "not measured"
        "loss_scale": where(r"\| loss scale: +(?!-1\.0 )#"),
        "skipped_steps": where(r"number of skipped iterations: +#"),
        "nan_iterations": where(r"number of nan iterations: +#"),
        "batch_size": where(r"global batch size: +#"),
        "consumed_samples": where(r"consumed samples: +#"),
        "consumed_tokens": where(r"consumed tokens: +#"),
        "step_seconds": (
            where(r"elapsed time per iteration \(ms\): +#", 0.001),
            where(r"elapsed time per iteration \(s\): +#"),
        ),
        "tflops": where(r"(?:TFLOPs|TFLOP/s/GPU\)|flops per GPU): +#"),
        "tokens_per_second_per_gpu": where(r"(?:tokens/s/GPU\)|tokens/gpu/second\)): +#"),
        "samples_per_second": where(r"samples(?: per second|/sec): +#"),
        "sequence_length": where(r"(?:actual seqlen|sequence length): +#"),
        "num_zeros": where(r"num zeros: +#"),
        "load_balancing_loss": where(r"\| load_balancing_loss: +#"),
    },
)

_PIPELINE = LineFormat(
    name="deepspeed pipeline",
    hint="iter time (s): ",
    head=re.compile(r"\bsteps: (?P<step>\d+) loss: "),
    fields={
        "loss": where(r" loss: #"),
        "step_seconds": where(r"iter time \(s\): #"),
        "samples_per_second": where(r"samples/sec: #"),
    },
)
"""DeepSpeed's pipeline engine; Megatron's own line of the same step follows with more digits and is preferred."""

FORMATS = (_ITERATION, _PIPELINE)
