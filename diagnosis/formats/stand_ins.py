"""What stands for the loss where a log does not say "loss": a cost, an objective, a perplexity, a mean squared error.

A perplexity is the exponential of a loss, so its logarithm is the loss. Whether an objective or an evidence lower bound
is to rise or to fall nobody says, so only NaN and spikes are judged by it.
"""

import math
import re

from diagnosis.formats.line_format import Settle, Token, Values
from diagnosis.formats.numbers import NUMBER

_WORDS = r"cost|objective|elbo|mse|bpc|bpd|ppl|perplexity"
_OF = r"train|training|batch|mini-?batch|iteration|epoch|current|step|mean|average|avg\.?|total|neg|negative"
_STAND_IN = re.compile(
    rf"(?:^|(?<=[^\w\s.])|(?<=[\d\])>|:;,A-Z-]\s)|(?<=\s\s)|(?<=\t))(?:(?:(?i:{_OF}))[ _./-]){{0,2}}"
    rf"(?P<word>(?i:{_WORDS}))['\"]?(?: ?[:=] ?| )['\"]?(?:tensor\()?(?P<number>{NUMBER})"
    r"(?![\d:]|[.,]\d| ?(?i:[mun]?s|sec|secs|seconds?|mins?|minutes?|h|hours?|[KMG]i?B|%)(?!\w)"
    r"| ?[(\[](?i:e?val|valid\w*|test\w*|dev|eval\w*)[)\]])"
)
"""Behind another word it is somebody else's: `communication cost: 9.1`, `val ppl: 12.5`."""
_PERPLEXITY = frozenset(("ppl", "perplexity"))
_UNSIGNED = frozenset(("objective", "elbo"))


def put_stand_in(tokens: dict[str, Token], text: str) -> str | None:
    """Add such a number beside a counter as the loss and say its word; whole numbers count something else."""
    if "loss" in tokens or tokens.keys().isdisjoint(("step", "step_in_epoch")):
        return None
    for match in _STAND_IN.finditer(text):
        if not match["number"].isdecimal():
            tokens["loss"] = Token("loss", *match.span("number"))
            return match["word"].lower()
    return None


def constants_of(word: str) -> tuple[tuple[str, float], ...]:
    """What is to be known of a loss by that word."""
    return (("adversarial", 1.0),) if word in _UNSIGNED else ()


def settle_of(word: str) -> Settle | None:
    """What makes a loss of the number."""
    return _of_perplexity if word in _PERPLEXITY else None


def take_logarithm(values: Values) -> bool:
    """The loss of a perplexity, where the line tells no loss."""
    perplexity = values.get("perplexity")
    if "loss" not in values and perplexity is not None and perplexity > 0:
        values["loss"] = math.log(perplexity)
    return True


def _of_perplexity(values: Values) -> bool:
    perplexity = values.pop("loss", None)
    if perplexity is not None:
        values["perplexity"] = perplexity
    return take_logarithm(values)
