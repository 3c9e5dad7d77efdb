"""Gradient boosting: XGBoost, LightGBM and CatBoost. The loss is the first metric of the training set that is one."""

import re

from diagnosis.formats.line_format import LineFormat, where

_LOSS = r"(?:\w*log_?loss|rmse|mse|mae|l1|l2|\w*error|cross_entropy|deviance|quantile|huber|poisson\w*|gamma\w*)"

_XGBOOST = LineFormat(
    name="xgboost",
    hint="]\t",
    head=re.compile(rf"(?:^|\s)\[(?P<step>\d+)\]\t(?:.*\t)?(?:train\w*|validation_0|learn)-{_LOSS}:"),
    fields={"loss": where(rf"\t(?:train\w*|validation_0|learn)-{_LOSS}:#")},
)

_LIGHTGBM = LineFormat(
    name="lightgbm",
    hint="]\t",
    head=re.compile(rf"(?:^|\s)\[(?P<step>\d+)\]\t(?:.*\t)?train\w*'s {_LOSS}: "),
    fields={"loss": where(rf"\ttrain\w*'s {_LOSS}: #")},
)

_LIGHTGBM_PROGRAM = LineFormat(
    name="lightgbm",
    hint="[LightGBM] ",
    head=re.compile(rf"\bIteration:(?P<step>\d+), training {_LOSS} : (?P<loss>[-+\d.e]+|nan|inf)"),
    fields={},
)

_CATBOOST = LineFormat(
    name="catboost",
    hint="learn: ",
    head=re.compile(r"^\s*(?P<step>\d+):\s+learn: (?P<loss>[-\d.e]+|nan)\b"),
    fields={},
)

FORMATS = (_XGBOOST, _LIGHTGBM, _LIGHTGBM_PROGRAM, _CATBOOST)
