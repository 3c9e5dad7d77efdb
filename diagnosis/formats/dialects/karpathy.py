"""nanoGPT and its descendants: llama2.c, build-nanogpt, llm.c, modded-nanogpt."""

import re

from diagnosis.formats.line_format import LineFormat, where

_NANOGPT = LineFormat(
    name="nanogpt",
    hint="iter ",
    head=re.compile(r"(?:^|[\s\])|>])iter (?P<step>\d+)(?: step \d+)?: (?=loss )"),
    fields={
        "loss": where(r": loss #"),
        "lr": where(r"\blr #"),
        "grad_norm": where(r"\b(?:grad_norm|norm) #"),
        "step_seconds": (where(r"\btime:? #ms", 0.001), where(r"\btime:? #s")),
        "mfu": where(r"\bmfu #%", 0.01),
    },
    needs=("loss",),
)

_LLAMA2C = LineFormat(
    name="llama2.c",
    hint=" | loss ",
    head=re.compile(r"^(?P<step>\d+) \| loss "),
    fields={
        "loss": where(r" \| loss #"),
        "lr": where(r" \| lr #"),
        "grad_norm": where(r" \| (?:grad_)?norm #"),
        "step_seconds": where(r" \| #ms\b", 0.001),
        "mfu": where(r" \| mfu #%", 0.01),
    },
    needs=("loss",),
)

_BUILD_NANOGPT_FILE = LineFormat(
    name="build-nanogpt",
    hint=" train ",
    head=re.compile(r"^(?P<step>\d+) train (?P<loss>[-\d.einfa]+)$"),
    fields={},
)

_LLMC = LineFormat(
    name="llm.c",
    hint="step",
    head=re.compile(r"^step\s+(?P<step>\d+)/(?P<total_steps>\d+)\s*[|:]\s*(?:train )?loss"),
    fields={
        "loss": where(r"loss:? +#"),
        "grad_norm": where(r"\| (?:grad )?norm:? +#"),
        "lr": where(r"\| lr:? +#"),
        "step_seconds": where(r"[|(]\s*# ?ms\b", 0.001),
        "mfu": where(r"\| #% (?:\w+ )?MFU", 0.01),
        "tokens_per_second": where(r"[| ]\s*# tok/s"),
    },
    needs=("loss",),
)

_LLMC_FILE = LineFormat(
    name="llm.c main.log",
    hint=" trl:",
    head=re.compile(r"^s:(?P<step>\d+) trl:"),
    fields={
        "loss": where(r" trl:#"),
        "lr": where(r" lr:#"),
        "grad_norm": where(r" norm:#"),
    },
)

_MODDED = LineFormat(
    name="modded-nanogpt",
    hint="train_time:",
    head=re.compile(r"^step:(?P<step>\d+)/(?P<total_steps>\d+) (?!val_loss)"),
    fields={
        "loss": where(r"\btrain_loss:#"),
        "elapsed_seconds": where(r"\btrain_time:#ms", 0.001),
        "step_seconds": where(r"\bstep_avg:#ms", 0.001),
        "lr": where(r"\blr:#"),
        "grad_norm": where(r"\b(?:grad_)?norm:#"),
    },
)

FORMATS = (_NANOGPT, _LLAMA2C, _LLMC, _MODDED, _LLMC_FILE, _BUILD_NANOGPT_FILE)
