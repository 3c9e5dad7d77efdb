"""The cheap questions about a line nobody has read yet."""

import re

_OTHER_LANGUAGES = ("pierd", "perte", "verlust", "perd", "strata")
_LOOKS = re.compile(
    r"(?<![a-zA-Z])(?:[lL]oss|LOSS|[pP]erplexity|ppl|grad_norm|grad norm)['\"]?\]?\s{0,3}[:=|]?\s{0,3}\[?['\"]?"
    r"[-+]?(?:\d|\.\d|nan\b|NaN\b|inf\b)"
)
_SHORTEST = 8


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
        or any(word in lower for word in _OTHER_LANGUAGES)
    )


def looks_like_metrics(text: str) -> bool:
    """True when a person would say that this line holds a metric."""
    return len(text) < 4000 and _LOOKS.search(text) is not None
