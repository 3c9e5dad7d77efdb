"""What the line says: one file for each family of trainers.

`FORMATS` read steps that stand on one line, `RECORDS` those that take several; `GENERAL` reads what no other
knows. The narrower stands before the wider.
"""

from diagnosis.formats.dialects import (
    blocks,
    boosting,
    deepspeed,
    google,
    huggingface,
    internevo,
    json_lines,
    karpathy,
    litgpt,
    megatron,
    mindspore,
    mlperf,
    mmengine,
    nanotron,
    nemo,
    olmo,
    paddle,
    pretty_json,
    reinforcement,
    robotics,
    single_file,
    speech,
    stepped,
    tables,
    toolkits,
    torchtitan,
    torchtune,
    translation,
    vision,
    wrapped,
)
from diagnosis.formats.dialects.general import GENERAL
from diagnosis.formats.line_format import Finder

__all__ = ["FORMATS", "GENERAL", "RECORDS"]

FORMATS: tuple[Finder, ...] = (
    *megatron.FORMATS,
    *nanotron.FORMATS,
    *huggingface.FORMATS,
    *karpathy.FORMATS,
    *torchtitan.FORMATS,
    *deepspeed.FORMATS,
    *litgpt.FORMATS,
    *torchtune.FORMATS,
    *nemo.FORMATS,
    *mlperf.FORMATS,
    *speech.FORMATS,
    *translation.FORMATS,
    *mmengine.FORMATS,
    *vision.FORMATS,
    *google.FORMATS,
    *internevo.FORMATS,
    *mindspore.FORMATS,
    *paddle.FORMATS,
    *reinforcement.FORMATS,
    *robotics.FORMATS,
    *boosting.FORMATS,
    *toolkits.FORMATS,
    *single_file.FORMATS,
    *json_lines.FORMATS,
)

RECORDS = (
    *olmo.RECORDS,
    *stepped.RECORDS,
    *wrapped.RECORDS,
    *pretty_json.RECORDS,
    *blocks.RECORDS,
    *tables.RECORDS,
)
