"""Lines with a loss that is no point of the curve: sums and means over an epoch, closing summaries."""

import re

from diagnosis.formats.rules import KnownRule

RULES = (
    KnownRule((" net output #",), re.compile(r"\] +(?:Train|Test) net output #\d+: ")),
    KnownRule(("^DLL ",), re.compile(r"^DLL .* - (?:train epoch|PARAMETER|Training Summary|final epoch)")),
    KnownRule(("^Epoch... (",), re.compile(r"^Epoch\.\.\. \(")),
    KnownRule(("^Epoch ",), re.compile(r"^Epoch \d+/\d+ with loss ")),
    KnownRule(("Summary",), re.compile(r"\bSummary\b")),
    KnownRule(("train_wps", "train_ups", "| wps ", " wps "), re.compile(r"\]\[train\]\[INFO\]|\| epoch \d+ \| loss ")),
    KnownRule((", avg loss:", "avg loss"), re.compile(r"\bavg loss: ")),
    KnownRule(("^wandb:", "wandb: "), re.compile(r"^wandb: ")),
    KnownRule(("^average reward", "Average reward"), re.compile(r"(?i)^average reward score")),
    KnownRule(("Grad overflow", "dynamic loss", "overflow for"), re.compile(r"Grad overflow|dynamic loss scale")),
    KnownRule(("'train_loss", '"train_loss'), re.compile(r"['\"]train_runtime['\"]")),
)
