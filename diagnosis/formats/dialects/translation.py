"""Machine translation: Marian counts updates and calls its loss cost; OpenNMT's loss is `xent`."""

import re

from diagnosis.formats.dialects.epochs import whole_steps
from diagnosis.formats.line_format import LineFormat, Values, where
from diagnosis.formats.stand_ins import take_logarithm

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

_in_epochs = whole_steps(1)


def _of_perplexity(values: Values) -> bool:
    """The older ones print the perplexity alone; its logarithm is the loss."""
    return take_logarithm(values) and _in_epochs(values)


_OPENNMT_OLD = LineFormat(
    name="opennmt",
    hint="; acc: ",
    head=re.compile(r"\bEpoch +(?P<epoch>\d+), +(?P<step_in_epoch>\d+)/ *(?P<steps_per_epoch>\d+); acc: "),
    fields={
        "loss": where(r"; xent: *#"),
        "perplexity": where(r"; ppl: *#"),
        "tokens_per_second": where(r"; *# tgt tok/s"),
    },
    settle=_of_perplexity,
    needs=("loss", "perplexity"),
)

FORMATS = (_MARIAN, _OPENNMT, _OPENNMT_OLD)
