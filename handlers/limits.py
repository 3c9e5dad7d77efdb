"""From when on the numbers of one run are called wrong: the run's own thresholds over those of everybody.

They are kept as a fact of the run, by the names of `diagnosis/thresholds.py`. Watchers take them with their heartbeat,
or at once when they are asked to.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from diagnosis.errors import Mistake
from diagnosis.thresholds import MOST_OF_A_RUN, SPECS, Thresholds, sound
from handlers.arguments import WrongWords
from registry import Run, wire
from registry.runs import LIMITS

FACT = LIMITS
"""The fact of a run that holds them."""

SETTABLE: Mapping[str, str] = {
    "jump": "jump_delta",
    "spike": "spike_z",
    "height": "spike_warning_delta",
    "rise": "divergence_delta",
    "floor": "stall_min",
}
"""What a person sets → the threshold it is."""
_SPECS = {spec.name: spec for spec in SPECS}


def limits_of(run: Run) -> dict[str, float]:
    """What was set for this run: threshold → value."""
    told = run.facts.get(FACT)
    found = {name: wire.number(value) for name, value in told.items()} if isinstance(told, Mapping) else {}
    return sound({name: value for name, value in found.items() if value is not None})


def own_limits(run: Run, thresholds: Thresholds) -> Thresholds:
    """The thresholds that hold for this run's numbers."""
    mine: dict[str, Any] = dict(limits_of(run))
    return replace(thresholds, **mine) if mine else thresholds


def default_of(word: str, thresholds: Thresholds) -> float:
    """What holds when nothing was set for a run."""
    return float(getattr(thresholds, SETTABLE[word]))


def is_time(word: str) -> bool:
    """Whether it is a time, not a number."""
    return _SPECS[SETTABLE[word]].unit == "seconds"


def read_limits(told: Mapping[str, str]) -> dict[str, float]:
    """What was typed or filled in, by threshold; an empty value takes one back.

    Raises:
        WrongWords: No such threshold, or no value that makes sense.
    """
    refuse(wrong_in(told))
    return {SETTABLE[word]: _read(word, text) for word, text in told.items() if text.strip()}


def refuse(wrong: Mapping[str, str]) -> None:
    """Say the first thing that is wrong, if anything is.

    Raises:
        WrongWords: Something is.
    """
    for word, why in wrong.items():
        raise WrongWords(f"`{word}`: {why}")


def there_are(words: Iterable[str]) -> str:
    """Which words can be typed; in backticks, so that no language changes them."""
    return f"there are {', '.join(f'`{word}`' for word in words)}."


def wrong_in(told: Mapping[str, str]) -> dict[str, str]:
    """Word → what is wrong with it."""
    wrong = {}
    for word, text in told.items():
        if word not in SETTABLE:
            wrong[word] = there_are(SETTABLE)
            continue
        if not text.strip():
            continue
        try:
            fits = _read(word, text) <= MOST_OF_A_RUN
        except Mistake:
            fits = False
        if not fits:
            wrong[word] = "a time such as 90s or 10m." if is_time(word) else "a number above 0, such as 0.5."
    return wrong


def _read(word: str, text: str) -> float:
    name = SETTABLE[word]
    return float(getattr(Thresholds.from_text({name: text}), name))
