"""One JSON object a line: trainer_log.jsonl, logging.jsonl, scalars.json, and whatever a script appends."""

import json
import re
from typing import Any

from diagnosis.formats.fields import field_of, is_evaluation, loss_key, normalise
from diagnosis.formats.line_format import NOTHING_FOUND, Found, Token
from diagnosis.formats.numbers import NUMBER, parse_number
from diagnosis.observations import StepKind

_START = re.compile(r"\{ ?\"")
_EPOCH_MEAN = re.compile(r"\[train\]|\| train \|")
_PROGRESS = re.compile(r'"(?:global_step/max_steps|iteration|global_step|step)": ?"(\d+)/(\d+)"')
_NOT_A_STEP = frozenset({"log_history", "train_runtime", "namespace", "stream"})
_TIMES = {
    "time": 1.0,
    "timestamp": 1.0,
    "_timestamp": 1.0,
    "ts": 1.0,
    "created": 1.0,
    "wall_time": 1.0,
    "time_ms": 0.001,
}


class _JsonLines:
    name = "json lines"
    hint = '{"'

    def find(self, text: str) -> Found | None:
        """Where the object's numbers stand; only its own keys count, not those of objects inside it."""
        start = _START.search(text)
        if start is None or ":::MLLOG" in text or _EPOCH_MEAN.search(text, 0, start.start()) is not None:
            return None
        said = _load(text[start.start() :])
        if said is None or not isinstance(said, dict):
            return None
        if not _NOT_A_STEP.isdisjoint(said) or _is_evaluation(said):
            return NOTHING_FOUND if "log_history" in said else None
        tokens = _tokens(text, said)
        if "loss" not in tokens and not ("step" in tokens and len(tokens) > 1):
            return None
        kind: StepKind = "printed" if "step" in tokens else "ordinal"
        return Found(tuple(tokens.values()), kind)


def _load(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_evaluation(said: dict[str, Any]) -> bool:
    mode = said.get("mode", said.get("split", said.get("phase")))
    if isinstance(mode, str) and is_evaluation(mode.lower()):
        return True
    names = [normalise(key) for key in said]
    return loss_key(names) is None and any(is_evaluation(name) and "loss" in name for name in names)


def _tokens(text: str, said: dict[str, Any]) -> dict[str, Token]:
    tokens: dict[str, Token] = {}
    progress = _PROGRESS.search(text)
    if progress is not None:
        tokens["step"] = Token("step", *progress.span(1))
        tokens["total_steps"] = Token("total_steps", *progress.span(2))
    loss = loss_key(normalise(key) for key in said)
    for key, value in said.items():
        number = value if isinstance(value, int | float) else parse_number(value) if isinstance(value, str) else None
        if number is None or isinstance(value, bool):
            continue
        name = normalise(key)
        if name == loss:
            known: tuple[str, float] | None = ("loss", 1.0)
        elif name in _TIMES and number > 1e9:
            known = ("unix_time", 0.001 if number > 1e11 else 1.0)
        else:
            known = field_of(name)
        if known is not None and known[0] not in tokens:
            place = re.search(rf"{re.escape(json.dumps(key, ensure_ascii=False))}\s*:\s*\"?({NUMBER})", text)
            if place is not None and _same(parse_number(place[1]), number):
                tokens[known[0]] = Token(known[0], *place.span(1), known[1])
    return tokens


def _same(one: float | None, other: float) -> bool:
    return one is not None and (one == other or (one != one and other != other))  # noqa: PLR0124


FORMATS = (_JsonLines(),)
