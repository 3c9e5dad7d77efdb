"""Machine translation: Marian counts updates and calls its loss cost; OpenNMT's loss is `xent`."""

import re

from diagnosis.formats.line_format import LineFormat, where

_MARIAN = LineFormat(
    name="marian",
    hint=" : Up. ",
    head=re.compile(r"\bEp\. (?P<epoch>[\d.]+) : Up\. (?P<step>\d+) : Sen\. "),
    fields={
        "loss": where(r" : Cost #"),
        "lr": where(r" : L\.r\. #"),
        "grad_norm": where(r" : gNorm #"),
        "tokens_per_second": where(r" : # words/s"),
    },
    needs=("loss",),
)

_OPENNMT = LineFormat(
    name="opennmt",
    hint="xent: ",
    head=re.compile(r"\bStep +(?P<step>\d+)/ *(?P<total_steps>\d+); acc: "),
    fields={
        "loss": where(r"; xent: *#"),
        "lr": where(r"; lr: *#"),
        "perplexity": where(r"; ppl: *#"),
        "tokens_per_second": where(r"; *\d+/ *# tok/s"),
        "elapsed_seconds": where(r"; *# sec\b"),
    },
    needs=("loss",),
)

FORMATS = (_MARIAN, _OPENNMT)
