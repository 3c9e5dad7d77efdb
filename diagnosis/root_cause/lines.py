"""Last lines of ranks that print alike: the one that stands elsewhere, or at another step."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from diagnosis import signatures
from diagnosis.case import Case, CaseFile
from diagnosis.formats.timestamps import Clock
from diagnosis.log_facts import LogFacts, RankFacts, Sighting, Told
from diagnosis.observations import Category, Evidence, Origin, PhaseMark
from diagnosis.root_cause.lead import Hint, few, said, short

MIN_RANKS = 3
FEW = 1 / 3
_CALM = re.compile(r"\b(?:INFO|DEBUG)\b")
_TEXT = re.compile(r"\b(?:prompt|completion|response|instruction|question|answer)s?[\"']? ?[:=] ?[\"']")
_BAR = "%|"

_TAG = re.compile(r"\[?rank[ =:]?\d+\]?|\[default\d+\]", re.IGNORECASE)
_DIGITS = re.compile(r"-?\d[\d.,:e+-]*")
_ASKED = ("slurm_cancelled", "agent_got_signal", "sigterm_seen")
_OVER = re.compile(r"(?i)\b(?:saved|wrote|written|flushed|uploaded|clipped|took \d+)\b")
"""What a line tells that is over when it is printed: nobody is stuck in it."""
_EPOCH_END = re.compile(r"(?i)epoch.{0,40}\b(?:done|finished|complete|end)|data(?:loader)? exhausted|stopiteration")


def hints(case: Case) -> Iterator[Hint]:
    """A rank whose last line differs from everybody's, or that stopped some steps earlier."""
    yield from _odd_line(case)
    yield from _earlier_step(case)


def newest_redraw(file: CaseFile, mark: PhaseMark) -> Evidence:
    """The newest redraw of the bar that a phase began with, or the line of the mark itself."""
    facts = file.log.ranks.get(mark.origin.rank) if file.log is not None else None
    newest = facts.newest if facts is not None else ()
    begun = mark.evidence.line or 0
    redraws = [line for line in newest if (line.line or 0) > begun and _BAR in line.text]
    return redraws[-1] if _BAR in mark.evidence.text and redraws else mark.evidence


def _odd_line(case: Case) -> Iterator[Hint]:
    last: dict[int, Evidence] = {}
    habits: dict[int, set[str]] = defaultdict(set)
    steps: dict[int, int] = {}
    stop = _asked_to_stop(case)
    for file, log in case.logs():
        for rank, facts in log.ranks.items():
            number = rank if rank is not None else file.rank
            if number is None or not facts.newest or is_of_earlier_attempt(facts, log):
                continue
            whole = facts.newest if file.ends_whole else facts.newest[:-1]
            plain = [line for line in whole if _is_plain(line) and not _is_farewell(line, stop)]
            if facts.last is not None:
                steps[number] = max(facts.last.step, steps.get(number, 0))
            if plain:
                habits[number] |= {_shape(line.text) for line in plain[:-1]}
                if number not in last or len(file.ranks) == 1:
                    last[number] = plain[-1]
    if len(last) < MIN_RANKS:
        return
    shapes = {rank: _shape(line.text) for rank, line in last.items()}
    counts = Counter(shapes.values())
    common, most = counts.most_common(1)[0]
    odd = tuple(sorted(rank for rank, shape in shapes.items() if shape != common))
    if not odd or len(odd) > max(1, len(last) * FEW) or most < 2 or len({shapes[rank] for rank in odd}) > 1:
        return
    usual = set.intersection(*(habits[rank] for rank in last if rank not in odd)) if most else set()
    if not all(habits[rank] & usual for rank in odd):
        return  # it never printed what the others print
    if any(shapes[rank] in habits[rank] and shapes[rank] not in usual for rank in odd):
        return  # a line of its own that it prints again and again
    most_steps = max(steps.values(), default=0)
    if all(steps.get(rank) == most_steps and _OVER.search(last[rank].text) for rank in odd):
        return  # it came as far as the others, and told of something that was over
    evidence = last[odd[0]]
    others = next(line for rank, line in last.items() if rank not in odd)
    text = f"the last line of {few(odd)} is “{short(evidence.text, 90)}”"
    text += f" where {most} ranks end with “{short(others.text, 70)}”"
    category = Category.DATALOADER_STALL if _EPOCH_END.search(evidence.text) or _EPOCH_END.search(others.text) else None
    yield Hint(odd, 6, said(evidence, text), evidence, None, category)


def _earlier_step(case: Case) -> Iterator[Hint]:
    told: dict[int, Told] = {}
    strides: dict[int, float] = {}
    cut: dict[int, bool] = {}
    attempts: dict[int, int] = {}
    for file, log in case.logs():
        for rank, facts in log.ranks.items():
            number = rank if rank is not None else file.rank
            last = facts.last
            if number is None or last is None or last.attempt != log.attempt or facts.steps < MIN_RANKS:
                continue
            strides[number] = max(facts.stride, strides.get(number, 0.0))
            known = told.get(number)
            if known is None or last.step > known.step:
                told[number], cut[number], attempts[number] = last, not file.ends_whole, log.attempt
    if len(told) < MIN_RANKS:
        return
    most = max(item.step for item in told.values())
    late = tuple(sorted(rank for rank, item in told.items() if item.step + strides[rank] <= most))
    if any(cut[rank] for rank in late):
        return  # a file that ends within a line: what came after it is not known
    if late and max(attempts[rank] for rank in late) < min(attempts[rank] for rank in told if rank not in late):
        return  # the others were started once more: whether these were, nothing tells
    if late and len(late) <= max(1, len(told) * FEW):
        evidence = told[late[0]].evidence
        text = f"{few(late)} told step {told[late[0]].step} last, the others {most}"
        yield Hint(late, 6, said(evidence, text), evidence)


def _asked_to_stop(case: Case) -> float | None:
    """When somebody first asked the job to stop, where a line tells the time."""
    asked = [item.symptom.time for _, log in case.read_by_line() for item in log.all_of(*_ASKED)]
    return min((time for time in asked if time is not None), default=None)


def _is_farewell(line: Evidence, stop: float | None) -> bool:
    stamp = Clock().find(line.text) if stop is not None else None
    return stamp is not None and stop is not None and stamp[2] >= stop


def is_of_earlier_attempt(facts: RankFacts, log: LogFacts) -> bool:
    """It told steps before the last restart and none since: whether it was started again is not known."""
    return (
        facts.last is not None
        and facts.last.attempt < log.attempt
        and log.last_told is not None
        and (log.last_told.attempt == log.attempt)
    )


def is_in_a_text(sighting: Sighting) -> bool:
    """`INFO sample: {"prompt": "why CUDA out of memory?"}`: what a model is asked, or says, is no error of the run."""
    line, row = sighting.symptom.evidence, sighting.symptom.signature
    text = _TEXT.search(line.text) if sighting.raised is None else None
    before = line.text[: text.start()] if text is not None else ""
    return _CALM.search(before) is not None and all(
        seen.signature != row for seen in signatures.match(before, Origin(), line)
    )


def _is_plain(line: Evidence) -> bool:
    """An ordinary line of the training, no telling one and no part of a traceback."""
    text = line.text
    bare = _TAG.sub("", text).removeprefix(":").removeprefix(" ")
    if bare[:1] in " \t" and not bare.lstrip()[:1].isdigit():
        return False
    if "Traceback (most recent call last)" in text or '  File "' in text or "frame #" in text:
        return False
    return not signatures.may_match(text) or not signatures.match(text, Origin(), line)


def _shape(text: str) -> str:
    return " ".join(_DIGITS.sub("#", _TAG.sub("", text)).split())[:200]
