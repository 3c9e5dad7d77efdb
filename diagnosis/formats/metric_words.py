"""The cheap questions about a line nobody has read yet."""

import re

_OTHER_LANGUAGES = ("pierd", "perte", "verlust", "perd", "strata")
_LOOKS = re.compile(
    r"(?<![a-zA-Z])(?:[lL]oss|LOSS|[pP]erplexity|ppl|grad_norm|grad norm)['\"]?\]?\s{0,3}(?:[:=|]|is)?\s{0,3}\[?['\"]?"
    r"[-+]?(?:\d|\.\d|nan\b|NaN\b|inf\b)"
)
_YOLO_ROW = re.compile(r"\s*\d{1,6}/\d{1,6}\s+[\d.]+[gGmM]b?\s+\d")
_ROW = re.compile(
    r"\s*\d{1,12}(?:[ \t]+\d{1,12}){0,3}(?::?[ \t]+|[,;|])[ \t]*-?\d+\.\d+(?:[eE][-+]?\d+)?(?:[\s,;|]+[-+.\deE]+)*\s*$"
)
_VALUE = re.compile(
    r"(?<![\w.])[A-Za-z][\w/@.-]{0,40}\)?['\"]?(?: ?[:=] ?)-?(?:\d+\.\d+|nan\b|inf\b)(?:e[-+]?\d+)?(?![\w.])"
)
_STEP_AND_RATE = re.compile(r"\[\d{1,12}, \d[\d.e-]*\]$")
_SETTINGS = re.compile(r"(?i)namespace|config|args\b|\badam|\bsgd\b|param|default|memory|alloc|latency|\(ms\)")
_FEWEST_VALUES = 3
_BEGINS_ROW = frozenset(" \t0123456789")
_SHORTEST = 8
_LONGEST = 4000


def has_metric_word(text: str) -> bool:
    """True when the line may hold a step."""
    if len(text) < _SHORTEST:
        return False
    if not text.isascii():
        return True
    lower = text.lower()
    # One expression and not a loop: this is asked of every line of chatter.
    return (
        "step" in lower
        or "loss" in lower
        or "iter" in lower
        or "epoch" in lower
        or '"key"' in lower
        or "norm" in lower
        or "trl:" in lower
        or " train " in lower
        or "batch" in lower
        or " run, " in lower
        or "num_updates" in lower
        or " : cost " in lower
        or " rate, " in lower
        or " || eta: " in lower
        or "learn: " in lower
        or "\ttrain" in lower
        or ":\t" in lower
        or (lower[-1] == "]" and (lower.count(", ") > 6 or _STEP_AND_RATE.search(lower) is not None))
        or is_yolo_row(text)
        or tells_values(text)
        or any(word in lower for word in _OTHER_LANGUAGES)
    )


def is_yolo_row(text: str) -> bool:
    """True for the row of a detector's table, `  3/299  3.29G  0.04 …`: its header alone has words."""
    return "%" in text and "/" in text and _YOLO_ROW.match(text) is not None


def tells_values(text: str) -> bool:
    """True for a step's numbers without our words: `3.1 2.4 0.9` behind a counter, or `A: 3.1 | B: 2.4 | T: 0.9`."""
    if text[-1:].isdigit() and text[:1] in _BEGINS_ROW and _ROW.match(text) is not None:
        return True
    if text.count(".") + text.count("nan") < _FEWEST_VALUES or text.count(":") + text.count("=") < _FEWEST_VALUES:
        return False
    return len(text) < _LONGEST and len(_VALUE.findall(text)) >= _FEWEST_VALUES and _SETTINGS.search(text) is None


def looks_like_metrics(text: str) -> bool:
    """True when a person would say that this line holds a metric."""
    return len(text) < _LONGEST and _LOOKS.search(text) is not None
