"""MLPerf's MLLOG, NVIDIA's DLLogger and HugeCTR.

In MLLOG the x of a loss is mostly a number of samples, under three names. `eval_accuracy` of a language model
is its evaluation loss (`phases.py`). DLLogger's epoch line holds a sum and is no point.
"""

import re

from diagnosis.formats.dialects.epochs import whole_steps
from diagnosis.formats.line_format import NOTHING_FOUND, Found, LineFormat, Token, where
from diagnosis.formats.numbers import NUMBER
from diagnosis.observations import StepKind

_KEY = re.compile(r':::MLLOG \{.*?"key": "(?P<key>train_loss|loss|tracked_stats|reduced_train_loss)", "value": ')
_TIME = re.compile(r'"time_ms": (\d+)')
_VALUE = re.compile(rf'"value": (?:\{{.*?"(?:reduced_)?(?:train_)?loss": )?({NUMBER})')
_TIMING = re.compile(rf'"(?:train_)?step_tim(?:e|ing)(?: in s)?": ({NUMBER})')
_METERS = '"data": '
"""Mask R-CNN's meters, beside how long a batch took to come: means since the start. Its own lines tell the loss."""
_PLACES: tuple[tuple[re.Pattern[str], StepKind], ...] = (
    (re.compile(r'"samples_count": (\d+)'), "samples"),
    (re.compile(r'"(?:train_)?samples": (\d+)'), "samples"),
    (re.compile(r'"epoch_num": (\d+)(?!\.?\d)'), "samples"),
    (re.compile(r'"step": (\d+)'), "samples"),
    (re.compile(r'"step_num": (\d+)'), "printed"),
    (re.compile(r'"iteration": (\d+)'), "printed"),
)


class _Mllog:
    name = "mllog"
    hint = ":::MLLOG"

    def find(self, text: str) -> Found | None:
        """The train loss or the step timing of a line; every other line of MLLOG is understood and no step."""
        key = _KEY.search(text)
        if key is None:
            return NOTHING_FOUND
        is_stats = key["key"] == "tracked_stats"
        value = _VALUE.search(text, key.start())
        timing = _TIMING.search(text) if is_stats else None
        if value is not None and is_stats:
            before = text[key.end() : value.start(1)]
            if "loss" not in before or _METERS in before:
                value = None
        tokens = []
        if value is not None:
            tokens.append(Token("loss", *value.span(1)))
        if timing is not None:
            tokens.append(Token("step_seconds", *timing.span(1)))
        if not tokens:
            return NOTHING_FOUND
        time = _TIME.search(text)
        if time is not None:
            tokens.append(Token("unix_time", *time.span(1), 0.001))
        for place, kind in _PLACES:
            step = place.search(text, key.end())
            if step is not None:
                return Found((*tokens, Token("step", *step.span(1))), kind)
        return Found(tuple(tokens), "ordinal")


_DLLOGGER = LineFormat(
    name="dllogger",
    hint="DLL ",
    head=re.compile(r"^DLL \S+(?: \S+)? - (?:Training Epoch: \d+ Training )?Iteration:? (?P<step>\d+)\s"),
    fields={
        "loss": (where(r"\b(?:train_loss|step_loss|loss) : #"), where(r"\baverage_loss : #")),
        "lr": where(r"\b(?:learning_rate|lr) : #"),
        "step_seconds": (where(r"\biteration_time : # ms", 0.001), where(r"\bstep_time : # s?")),
        "samples_per_second": where(r"\b(?:throughput_train|train_perf|throughput) : #"),
        "grad_norm": where(r"\bgrad_norm : #"),
    },
)

_DLLOGGER_EPOCHS = LineFormat(
    name="dllogger",
    hint="DLL ",
    head=re.compile(
        r"\bDLL \S+(?: \S+)? - epoch +(?P<epoch>\d+) \| iter +(?P<step_in_epoch>\d+)/ *(?P<steps_per_epoch>\d+) \|"
    ),
    fields={"loss": where(r"\| loss +#"), "lr": where(r"\blrate +#")},
    needs=("loss",),
    settle=whole_steps(1),
)
"""NVIDIA's RNN-T, Jasper and FastPitch: `epoch 28 | iter 113/181 | loss 30.79`, in RNN-T one line in many epochs."""

_DLLOGGER_JSON = LineFormat(
    name="dllogger",
    hint="DLLL {",
    head=re.compile(r'^DLLL \{.*"type": "LOG", "step": \[?(?:\d+, )*(?P<step>\d+)\]?, "data": \{'),
    fields={
        "loss": (where(r'"(?:train_loss|step_loss|loss)": #'), where(r'"average_loss": #')),
        "lr": where(r'"(?:learning_rate|lr)": #'),
        "unix_time": where(r'"timestamp": "?#'),
    },
    needs=("loss", "lr"),
)

_HUGECTR = LineFormat(
    name="hugectr",
    hint="Iter: ",
    head=re.compile(r"\bIter: (?P<step>\d+) Time\(\d+ iters\): "),
    fields={
        "loss": where(r"\bLoss: ?#"),
        "lr": where(r"\blr: ?#"),
    },
)

FORMATS = (_Mllog(), _DLLOGGER, _DLLOGGER_EPOCHS, _DLLOGGER_JSON, _HUGECTR)
