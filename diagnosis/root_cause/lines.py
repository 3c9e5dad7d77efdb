"""Last lines of ranks that print alike: the one that stands elsewhere, or at another step."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from diagnosis import signatures
from diagnosis.case import Case, CaseFile
from diagnosis.log_facts import Told
from diagnosis.observations import Category, Evidence, Origin, PhaseMark
from diagnosis.root_cause.lead import Hint, few, said, short

MIN_RANKS = 3
FEW = 1 / 3
_BAR = "%|"

_TAG = re.compile(r"\[?rank[ =:]?\d+\]?|\[default\d+\]", re.IGNORECASE)
_DIGITS = re.compile(r"-?\d[\d.,:e+-]*")
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
    for file, log in case.logs():
        for rank, facts in log.ranks.items():
            number = rank if rank is not None else file.rank
            if number is None or not facts.newest:
                continue
            whole = facts.newest if file.ends_whole else facts.newest[:-1]
            plain = [line for line in whole if _is_plain(line)]
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
    evidence = last[odd[0]]
    others = next(line for rank, line in last.items() if rank not in odd)
    text = f"the last line of {few(odd)} is “{short(evidence.text, 90)}”"
    text += f" where {most} ranks end with “{short(others.text, 70)}”"
    category = Category.DATALOADER_STALL if _EPOCH_END.search(evidence.text) or _EPOCH_END.search(others.text) else None
    yield Hint(odd, 6, said(evidence, text), evidence, None, category)


def _earlier_step(case: Case) -> Iterator[Hint]:
    told: dict[int, Told] = {}
    strides: dict[int, float] = {}
    for file, log in case.logs():
        for rank, facts in log.ranks.items():
            number = rank if rank is not None else file.rank
            last = facts.last
            if number is None or last is None or last.attempt != log.attempt or facts.steps < MIN_RANKS:
                continue
            strides[number] = max(facts.stride, strides.get(number, 0.0))
            known = told.get(number)
            told[number] = last if known is None or last.step > known.step else known
    if len(told) < MIN_RANKS:
        return
    most = max(item.step for item in told.values())
    late = tuple(sorted(rank for rank, item in told.items() if item.step + strides[rank] <= most))
    if late and len(late) <= max(1, len(told) * FEW):
        evidence = told[late[0]].evidence
        text = f"{few(late)} told step {told[late[0]].step} last, the others {most}"
        yield Hint(late, 6, said(evidence, text), evidence)


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
