"""Keys and numbers of a line that no dialect knows: `key=1`, `key: 1`, `'key': 1`, `key 1`, `1 key`."""

import re
from collections.abc import Mapping

from diagnosis.formats import tongues
from diagnosis.formats.fields import field_of, generator_loss, is_evaluation, loss_key, normalise
from diagnosis.formats.line_format import Token
from diagnosis.formats.numbers import NUMBER
from diagnosis.formats.tongues import in_english

_WORD = r"[^\W\d][\w./%#+]*+"
_NO_VALUE = r"(?!(?:(?<=[lL]oss\ )|(?<=LOSS\ )|(?<=norm\ )|(?<=ppl\ ))(?:(?i:nan|inf|infinity|none)\b|[nN]/[aA]\b))"
"""Behind a loss stands its value: in `loss nan lr 1e-4` the rate is no loss."""
_WRAP = r"(?:(?:tensor|Tensor|Array|np\.float\d\d)\()?"
"""What Python prints around a number that is more than a number: `tensor(2.31, device='cuda:0')`."""
# A key of more than six words is prose; without the limit, long prose would take time with its square.
_PAIR = re.compile(
    rf"(?P<key>['\"]?(?:{_WORD}|\|\w+\|)(?:[-'][\w./%#]+|\ {_NO_VALUE}{_WORD}){{0,6}}(?:\ ?\([^()]{{1,30}}\))?['\"]?)"
    rf"(?P<sep>\ *[:=：][\ \t]*+|\ +|\t\ *|(?<=[Ee]poch)(?=\[))"
    rf"['\"]?{_WRAP}\[*\ *(?P<number>{NUMBER}(?:[KMGT]|k(?![A-Za-z]))?)(?!\d|:\d)"
)
_EVALUATION = re.compile(
    r"(?:^|[\s\[(|])(?:(?i:e?val|evaluation|evaluating|valid|validate|validating|validation|test|testing|dev|held-?out)|CV)(?=[\s\])|:\[]|$)"
)
_HARMLESS = frozenset(
    ("train", "training", "info", "debug", "warning", "notice", "success", "the", "current", "at", "with", "batch")
)
_MISLEADING = re.compile(
    r"(?i)^(?:best|min|max|total|num|number|of|accum\w*|warm\w*|remaining|left|saved?|logging|decay|every|e?val\w*|valid\w*|test\w*|dev|prev\w*|old|target|aux\w*|kl|reg\w*|moe|balanc\w*|critic|value|entropy"
    r"|distill\w*|router|z|scale|micro|epoch|episode|teacher|world|local|lowest|initial|final|expected|clip\w*)$"
)
_SOME_LOSS = re.compile(r"(?:^|[_/.])loss(?:$|[_/.])")
_LENGTH = re.compile(r" ?/ ?(\d{1,9})(?![\d.]|,\d)")
"""How far the counter goes: the length of an epoch, if it begins again with each."""
_EPOCH_AND_STEP = re.compile(
    r"(?:^|\s)(?:[\[(] *(?=\d+,[^()\[\]]*[\])])|(?<!\S)(?=\d+ +\d+ +[lL]oss))"
    r"(?P<epoch>\d{1,6})(?:, *| +)(?P<step_in_epoch>\d{1,12})(?: *[\])]:?)?\s+(?=(?:[a-z]+ )?[lL]oss\b)"
)
"""`[1, 2000] loss: 2.17`, and `1 2000 Loss=2.17`."""
_TWO_OF_HOW_MANY = re.compile(
    r"[\[(] *(?P<epoch>\d{1,6}) ?/ ?\d{1,6} *[\])][ ,:|-]{0,3}"
    r"[\[(] *(?P<step_in_epoch>\d{1,12}) ?/ ?(?P<steps_per_epoch>\d{1,12}) *[\])]"
)
"""`[ 1/ 3][ 800/ 1000]`: an epoch of some, and a batch of it."""
_EPOCH_OVER_STEP = re.compile(
    r"(?i)\bepoch ?/ ?(?:step|iter(?:ation)?) ?[:=] ?(?P<epoch>\d{1,6}) ?/ ?(?P<step>\d{1,12})"
)
"""FastReID: `epoch/iter: 52/13673`."""
_OF_HOW_MANY = re.compile(
    r"(?:^ *|[\[(|] *|[\])>-] +|(?<=\d) +|\t)(\d{1,12}) ?/ ?(\d{1,12})(?=:?\s(?!\d\d:\d\d)|[\])|,;]|$)"
)
_BEHIND = re.compile(r"\s+\[ *(?P<step_in_epoch>\d{1,12}) ?/ ?(?P<steps_per_epoch>\d{1,12})\]\s*$")
"""PyTorch's first tutorial: `loss: 2.294637  [ 6464/60000]`, under a line that tells the epoch."""
_BATCH = re.compile(r"(?i)\bbatch ?[\[(] *$")
"""`Batch(100/1879) done. Loss: 5.96`: a counter that begins again with each epoch."""
_AN_EPOCH = re.compile(r"(?i)\bepochs?\W{0,6}$")
_BARE_NUMBER = re.compile(
    r"(?:^|[\])|>-] +|(?:^|\s)[Tt]rain(?:ing)? )#?(\d{1,12})(?::| \|| -|,)\s+(?=(?:[a-z]+ )?[lL]oss\b)"
    r"|^ *(\d{1,12}) +(?=train loss: )"
)
_COUNT_AND_TIME = re.compile(r"(?:^|\s)\[(\d{1,12}) \| \d+(?:\.\d+)?\] (?=[lL]oss[=: ])")
"""GPT-2's first fine-tuning script: `[100 | 253.40] loss=3.12 avg=3.20`."""
_BEFORE_TWO = re.compile(r"^\s*(\d{1,12}):? +(?=\[?(?:[dDgG]|[dD]isc\w*|[gG]en\w*)[ _][lL]oss\b)")
"""Keras GANs: `500 [D loss: 0.69, acc.: 51%] [G loss: 0.81]`."""
_CALLED_MEAN = re.compile(
    r"(?i)(?<![a-z])(?:avg|average|mean|final|total epoch)(?:\. |[ _.-])?(?:[a-z]+[ _-]){0,2}loss\W*$"
)
_EVALUATED = re.compile(r"(?i)(?<![a-z])(?:e?val|va|vali|valid|validation|test|dev|held-?out)[ _/-]?(?:loss|nll|ce)\b")
_LOSSES = re.compile(r"(?i)\blosses\b")
_LOSS_WORD = re.compile(r"(?i)(?:loss|perplexity|ppl)(?![a-z])")
_LOSS_OF_STEP = re.compile(r"[ \t]+(\d+\.\d+(?:[eE][-+]?\d+)?|nan|inf)(?=[ \t]|$)")
"""`Train loss 100 0.345678`: the whole number is the step, the one behind it the loss."""
_MEASURED = re.compile(r" ?(?:[num]?s|sec|[KMG]i?B)\b|(?<=[KMG])i?B\b")
"""A norm has no unit: `grad 30 ms` is how long it took, `grad 2.1GB` how much it holds."""
_IN_MS = re.compile(r" ?ms\b")
_OTHERS = frozenset(("val", "valid", "validation", "heldout", "held_out", "dev", "test"))
_OF_GENERATOR = re.compile(
    r"(?i)(?<![a-z])(?:loss[ _/-]?g(?:en(?:erator)?)?|g(?:en(?:erator)?)?[ _/-]?loss|err[ _]?g|g[ _]err)"
    r"(?:[ _/-](?:total|all))?[^\w.]*$"
)
_HEAD_OF_LOSS = re.compile(
    r"\s*(?:[\[(]?(?:\d+(?:[-/:T]\d+)+(?:[.,]\d+)?Z?|[A-Z]{1,8}\d{0,7}|[\w.-]+:\d+|__\w+__|[a-z_]+(?:\.[a-z_]+)+"
    r"|(?!e?val|test|dev)[a-z]+_[a-z_]+(?= - )|root"
    r"|(?i:train(?:er|ing)?(?: metrics?| stats?| results?)?))[\])]?[ :|,-]{1,4}){0,6}"
    r"(?i:(?:train(?:ing)?|batch|step|current|running|mini-?batch|avg|average|mean)[ _-])?"
    r"[lL](?:oss|OSS)(?: train(?:ing)?)?\W{0,4}$"
)
_NOTHING_MORE = re.compile(
    r"(?i)['\"\])},;. ]*(?:[,;| ]+['\"]?(?:train(?:ing)?[ _])?"
    r"(?:acc\w*|e?val|valid|test|dev|top\d|ppl|time|lr|dice|m?iou|f1|auc|psnr|ssim|mae)['\"]?[:= ]+[\d.e-]+ ?[%s]?)*"
    r"['\"\])}. ]*$"
)
_WHOLE = frozenset(("total_step", "total_iteration", "total_iter", "total_iters"))
_COUNTERS = frozenset(("epoch", "ep", "step", "iter", "iteration"))
_NOT_THE_LOSS = re.compile(
    r"(?:^|[_/.])(?:aux\w*|kl|reg\w*|z|critic|value|vf|cri|moe|\w*balanc\w*|router|entropy|best|lowest|min|max|prev\w*|last|pos(?:itive)?|neg(?:ative)?"
    r"|old|\w*time|target|ema|smooth\w*|mean|avg|packet|signal|scale\w*|weight\w*|fn|func\w*|mask|ratio|coef\w*|type|count|num|window|delta|diff)"
    r"(?:$|[_/.])|[_/.]of$"
)


def named_tokens(text: str) -> dict[str, Token]:
    """Every number of the line that has a name of ours, the training loss among them as `loss`."""
    printed: dict[str, tuple[int, int]] = {}
    for match in _PAIR.finditer(text):
        if _is_place(text, match):
            continue
        key = match["key"].strip("'\" ")
        for name in _names(key, strict="=" not in match["sep"]):
            printed.setdefault(name, match.span("number"))
    # Where NeMo's own name stands, `loss` is Lightning's running mean.
    names = [name for name in printed if name != "loss"] if "reduced_train_loss" in printed else printed
    loss = loss_key(names) or generator_loss(names) or _total(printed, text) or _lone_loss(printed)
    loss = loss or _beside_another(printed, text)
    tokens: dict[str, Token] = {}
    for name, span in sorted(printed.items(), key=_is_whole):
        if name == loss:
            tokens["loss"] = Token("loss", *span)
            continue
        known = field_of(name)
        if known is not None and known[0] == "grad_norm" and _MEASURED.match(text, span[1]):
            continue
        if known is not None and known[0] not in tokens:
            factor = 0.001 if known[0] == "step_seconds" and known[1] == 1 and _IN_MS.match(text, span[1]) else known[1]
            tokens[known[0]] = Token(known[0], *span, factor)
    for name, span in tongues.numbered(text).items():
        tokens.setdefault(name, Token(name, *span))
    counter = tokens.get("step") or tokens.get("step_in_epoch")
    if "epoch" in tokens and counter is not None:
        length = _LENGTH.match(text, counter.end)
        if length is not None:
            tokens["steps_per_epoch"] = Token("steps_per_epoch", *length.span(1))
    return tokens


def _is_whole(pair: tuple[str, tuple[int, int]]) -> bool:
    """`total iteration` is the step where nothing else is: beside one it may be how many there will be."""
    return pair[0] in _WHOLE


def adversarial(text: str, loss: Token) -> bool:
    """True when the loss is a generator's, which a discriminator pushes up and down."""
    return _OF_GENERATOR.search(text, max(0, loss.start - 40), loss.start) is not None


def alone(text: str, tokens: Mapping[str, Token]) -> bool:
    """True when the line is a loss and nothing else but a logger's head: `12:00:01 INFO loss: 0.34`."""
    head, tail = text[: tokens["loss"].start], text[tokens["loss"].end :]
    return _HEAD_OF_LOSS.match(in_english(head)) is not None and _NOTHING_MORE.match(in_english(tail)) is not None


def wordless_counter(text: str, loss: Token, epoch: Token | None) -> dict[str, Token]:
    """A counter without a word at the loss: `[1, 2000] loss: 2.17`, `640/60000`, `- 87: loss`, `loss 100 2.17`."""
    behind = _LOSS_OF_STEP.match(text, loss.end) if epoch is None and text[loss.start : loss.end].isdecimal() else None
    if behind is not None:
        return {"step": Token("step", loss.start, loss.end), "loss": Token("loss", *behind.span(1))}
    place = _EPOCH_AND_STEP.search(text, 0, loss.start)
    if place is not None:
        return {name: Token(name, *place.span(name)) for name in ("epoch", "step_in_epoch")}
    place = _EPOCH_OVER_STEP.search(text)
    if place is not None:
        return {name: Token(name, *place.span(name)) for name in place.re.groupindex}
    place = _COUNT_AND_TIME.search(text) if epoch is None else None
    if place is not None:
        return {"step": Token("step", *place.span(1))}
    place = _TWO_OF_HOW_MANY.search(text, 0, loss.start)
    if place is not None:
        return {name: Token(name, *place.span(name)) for name in place.re.groupindex}
    for place in _OF_HOW_MANY.finditer(text, 0, loss.start):
        if epoch is not None and epoch.start >= place.start(1) and epoch.end <= place.end(2):
            continue  # how many epochs there will be
        if _AN_EPOCH.search(text, 0, place.start(1)) is not None:
            return {"epoch": Token("epoch", *place.span(1))}
        within = epoch is not None or _BATCH.search(text, 0, place.start(1)) is not None
        names = ("step_in_epoch", "steps_per_epoch") if within else ("step", "total_steps")
        return {name: Token(name, *place.span(group)) for group, name in enumerate(names, 1)}
    place = _BEHIND.match(text, loss.end)
    if place is not None:
        return {name: Token(name, *place.span(name)) for name in place.re.groupindex}
    place = _BARE_NUMBER.search(text, 0, loss.start) or _BEFORE_TWO.search(text) if epoch is None else None
    return {"step": Token("step", *place.span(place.lastindex or 0))} if place is not None else {}


def sums_up(text: str, loss: Token) -> bool:
    """True when the loss is called a mean, or when an evaluation's stands beside it: perhaps a sum over an epoch."""
    if _CALLED_MEAN.search(text, 0, loss.start) is not None or _EVALUATED.search(text, loss.end) is not None:
        return True
    return tongues.evaluates(text, loss.end, len(text))


def tells_no_loss(text: str) -> bool:
    """True for a line that tells only of an evaluation, or of an epoch as a whole: nobody misses its numbers."""
    first = _LOSS_WORD.search(text)
    if first is None:
        return False
    evaluates = is_evaluation_line(text, first.start()) or _EVALUATED.search(text) is not None
    return evaluates or _CALLED_MEAN.search(text, 0, first.end()) is not None


def _is_place(text: str, match: "re.Match[str]") -> bool:
    """True for the place in the code that a logger prints: `trainer:train_step:210`."""
    start = match.start()
    return match["sep"] == ":" and text[start - 1 : start] == ":" and text[max(0, start - 2) : start - 1].isidentifier()


def _lone_loss(printed: dict[str, tuple[int, int]]) -> str | None:
    """A loss under a name of the script's own, such as `loss_net`, where it is the only one of the line."""
    known = {span for name, span in printed.items() if field_of(name) is not None}
    names = [
        name
        for name, span in printed.items()
        if span not in known and _SOME_LOSS.search(name) and not _NOT_THE_LOSS.search(name) and not is_evaluation(name)
    ]
    is_one = len({printed[name] for name in names}) == 1
    return min(names, key=len) if is_one else None


def _total(printed: dict[str, tuple[int, int]], text: str) -> str | None:
    """`[Losses: x 0.12, conf 0.75, total 2.81]`, and a `total` beside the mean squared error that it has in it."""
    span = printed.get("total")
    if span is None or text[slice(*span)].isdecimal():
        return None
    return "total" if "mse" in printed or _LOSSES.search(text, 0, span[0]) is not None else None


def _beside_another(printed: dict[str, tuple[int, int]], text: str) -> str | None:
    """`train 2.31  val 2.45` of an epoch or a step: the word loss is left to the reader to think."""
    span = printed.get("train")
    is_told = span is not None and not _OTHERS.isdisjoint(printed) and not _COUNTERS.isdisjoint(printed)
    return "train" if is_told and span is not None and "." in text[slice(*span)] else None


def is_evaluation_line(text: str, before: int) -> bool:
    """True when a word in front of this place says that the line tells of an evaluation."""
    return _EVALUATION.search(text, 0, before) is not None or tongues.evaluates(text, 0, before)


def _names(key: str, *, strict: bool) -> list[str]:
    """The key, and what is left of it without the words in front; the whole one first."""
    whole = normalise(key)
    words = in_english(key).split(" ")
    if len(words) == 1:
        return [whole]
    names = [whole]
    for count in range(1, len(words)):
        dropped = words[:count]
        if any(_MISLEADING.match(word) for word in dropped):
            break
        rest = normalise(" ".join(words[count:]))
        if strict and loss_key((rest,)) is not None and not _HARMLESS.issuperset(word.lower() for word in dropped):
            continue
        names.append(rest)
    return names
