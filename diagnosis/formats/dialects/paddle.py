"""PaddleNLP and PaddleOCR: `loss: …, learning_rate: …, global_step: 10`, in either order."""

import re

from diagnosis.formats.line_format import LineFormat, where

_FIELDS = {
    "loss": where(r"(?<![\w.])loss: #"),
    "lr": where(r"(?<![\w.])(?:learning_rate|lr): #"),
    "grad_norm": where(r"(?<![\w.])(?:grad_norm|global_norm): #"),
    "samples_per_second": where(r"\b(?:interval_samples_per_second|ips): #"),
    "loss_scale": where(r"(?<![\w.])loss_scale: #"),
}

NLP = LineFormat(
    name="paddlenlp",
    hint="global_step: ",
    head=re.compile(r"(?<![\w.])loss: .*?\bglobal_step: (?P<step>\d+), interval_"),
    fields=_FIELDS | {"epoch": where(r"\bepoch: #")},
    refuse=re.compile(r"\beval_loss\b"),
)

_OCR = LineFormat(
    name="paddleocr",
    hint="global_step: ",
    head=re.compile(r"\bepoch: \[(?P<epoch>\d+)/\d+\], global_step: (?P<step>\d+), "),
    fields=_FIELDS,
)

FORMATS = (NLP, _OCR)
