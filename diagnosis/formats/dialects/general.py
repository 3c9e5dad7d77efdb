"""Any line with a step and a loss under names people use: the script nobody has seen before."""

import re

from diagnosis.formats.line_format import Found, Token
from diagnosis.formats.numbers import NUMBER
from diagnosis.formats.pairs import adversarial, alone, is_evaluation_line, named_tokens, sums_up, wordless_counter
from diagnosis.formats.stand_ins import constants_of, put_stand_in, settle_of
from diagnosis.observations import StepKind

_REFUSE = re.compile(
    r"(?i)\bmicro[_-]?(?:step|batch)?=|(?<![/.\w])summary(?![/.\w])|\bfor example\b|\bargs?\b|config|namespace\("
    r"|^\s*[\"']?(?:num|max|min|total|warmup)[_ ](?!(?<=total.)(?:step|iter(?:ation)?s?)\W.{0,40}loss)"
    r"|^\s*[│┃║╎](?!\s*(?:global_?)?(?:step|iter\w*|epoch)\b)"  # what a model wrote, framed by rich
)
_LOSS_AT = re.compile(
    r"(?i)(?<![a-z])(?<!pos_)(?<!neg_)(?<!sample_)(?:loss|cost) (?:at|after|in|for|on) (?:the )?(?:global |training )?"
    r"(?:(?:step|iteration|iter|batch|minibatch)s? ?#?(?P<step>\d{1,3}(?:,\d{3}){1,3}|\d{1,12})|"
    r"epoch ?#?(?P<epoch>\d{1,9})(?:,? (?:step|iteration|iter|batch) ?#?(?P<step_in_epoch>\d{1,12}))?)"
    rf"(?: ?/ ?\d+)?(?: ?[:=]| is|,| ->)? {{0,8}}(?P<loss>{NUMBER})?"
)
"""`Average loss at step 2000 : 4.31` and `Cost after iteration 100: 0.69`: the number behind the word is no loss."""
_OF = re.compile(r"\s*/\s*(\d+)(?![\d:])")
_LONG = 8000
_HEAD = 4096
"""Of a longer line so much is read: what a step says stands before what somebody has printed behind it."""
_BETWEEN = frozenset(" \t,|;")
_SPEED = ("lr", "grad_norm", "tokens_per_second", "tokens_per_second_per_gpu", "samples_per_second", "step_seconds")


class _General:
    name = "key and value"
    hint = ""

    def find(self, text: str) -> Found | None:
        """Where step and loss stand, when the line surely is a step of training."""
        is_long = len(text) > _LONG
        if is_long:
            text = _head(text)
        if _REFUSE.search(text) is not None:
            return None
        tokens = named_tokens(text)
        loss = tokens.get("loss")
        placed = _LOSS_AT.search(text)
        if placed is not None and (loss is None or placed.start() < loss.start < placed.end()):
            return _loss_at(text, placed)
        step = tokens.get("step")
        within = tokens.get("step_in_epoch")
        instead = put_stand_in(tokens, text)
        loss = tokens.get("loss")
        if loss is None and (step is None or not any(name in tokens for name in _SPEED)):
            return None
        if is_evaluation_line(text, loss.start if loss is not None else 60):
            return None
        if step is not None:
            tokens.pop("step_in_epoch", None)
            total = _OF.match(text, step.end)
            if total is not None and "total_steps" not in tokens:
                tokens["total_steps"] = Token("total_steps", *total.span(1))
        kind: StepKind = "printed"
        is_alone = False
        if step is None and within is None:
            counter = wordless_counter(text, loss, tokens.get("epoch")) if loss is not None and not is_long else {}
            tokens.update(counter)
            if counter.keys() <= {"epoch"}:
                is_alone = loss is not None and not is_long and alone(text, tokens)
                if is_long or not (is_alone or any(name in tokens for name in (*_SPEED, "epoch"))):
                    return None
                kind = "ordinal"
        if instead is not None:  # another line may tell the loss by its name
            return Found(tuple(tokens.values()), kind, settle_of(instead), constants_of(instead), sums_up=True)
        against = (("adversarial", 1.0),) if loss is not None and adversarial(text, loss) else ()
        # A loss without anything else may be the mean of an epoch too.
        sums = loss is not None and (is_alone or sums_up(text, loss))
        return Found(tuple(tokens.values()), kind, constants=against, sums_up=sums)


def _loss_at(text: str, placed: "re.Match[str]") -> Found | None:
    """The loss behind the step it was told at; behind an epoch it may be a mean."""
    if not placed["loss"] or is_evaluation_line(text, placed.start()):
        return None
    counters = [name for name in ("step", "epoch", "step_in_epoch") if placed[name]]
    tokens = tuple(Token(name, *placed.span(name)) for name in (*counters, "loss"))
    sums = counters == ["epoch"]
    return Found(tokens, "ordinal" if sums else "printed", sums_up=sums)


def _head(text: str) -> str:
    """The beginning of a long line, up to the end of its last whole word: no number is cut in two."""
    head = text[:_HEAD]
    for end in range(len(head), 0, -1):
        if head[end - 1] in _BETWEEN:
            return head[:end]
    return ""


GENERAL = _General()
