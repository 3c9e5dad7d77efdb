"""Takes the envelopes off a line and remembers what they said about where it came from."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate, compress, repeat, takewhile
from operator import and_, not_
from typing import NamedTuple

from diagnosis.formats.actors import Actors
from diagnosis.formats.envelopes import ENVELOPES
from diagnosis.formats.envelopes.base import Envelope
from diagnosis.formats.hygiene import MAX_LINE_BYTES
from diagnosis.formats.line import Line
from diagnosis.formats.timestamps import Clock
from diagnosis.observations import Origin

_DEEPEST = 4
_BELIEVED_AFTER = 4
_MOST_KNOWN = 65_536
_HEAD = 96
"""A prefix that begins with a letter has its colon within so many characters."""
_WEEKDAYS = "MTWFS"
_OF_MPI = "]<std"
"""The one prefix that begins with a letter, a weekday's, and may have no blank behind its colon."""
_REPEATED = re.compile(r" ?\[repeated \d+x across cluster\].*$")

Said = dict[str, str | None]
Known = dict[tuple[str | None, ...], tuple[Origin, Origin]]
"""What the groups of a stack of envelopes said → origin and stream."""


class _Layer(NamedTuple):
    """An envelope as it is taken off without asking for its name."""

    match: Callable[[str, int], re.Match[str] | None]
    groups: tuple[int, ...]
    """The groups that tell the origin."""
    stamp: int
    text: int
    """The group that holds the line inside; 0: it is what follows the match."""


class Alike(NamedTuple):
    """Lines in a row that wear the same envelopes and come from one place."""

    texts: Sequence[str]
    """What is inside."""
    origin: Origin
    stream: Origin
    stamps: Sequence[str | None]
    """The times that the envelopes tell; empty when they tell none."""


class Unwrapper:
    """Takes off what stands in front of the lines of one source."""

    def __init__(self, origin: Origin, clock: Clock) -> None:
        self.names: dict[str, int] = {}
        """How many lines bore each kind of envelope (of lines that look alike, only the first few are counted)."""
        self._parts: dict[Origin, Line] = {}
        self._origin = origin
        self._clock = clock
        self._origins: dict[tuple[str | None, ...], Origin] = {}
        self._same: dict[Origin, Origin] = {origin: origin}
        """Each process once, whatever kinds of envelopes name it: counters and streams know it by identity."""
        self._stack: tuple[_Layer, ...] = ()
        self._known: Known = {}
        self._by_stack: dict[tuple[str, ...], Known] = {}
        self._places: dict[tuple[Origin, Origin], tuple[Origin, Origin]] = {}
        """Each pair once: lines in a row are from one place when it is the same object."""
        self._actors = Actors()
        self._doubted = 0
        self._lines = 0

    def unwrap(self, line: Line) -> bool:
        """Leave in `line.text` what was inside; False while only a part of it is here."""
        self._lines += 1
        text = line.text
        if _wears_none(text):
            return True
        return (self._stack != () and not self._parts and self._unwrap_as_before(line)) or self._peel(line)

    def unwrap_alike(self, lines: Sequence[str]) -> Alike:
        """`unwrap` for lines in a row, as many from the first on as are sure to be like it; counts none of them."""
        if not self._stack or not lines or _wears_none(lines[0]):
            return Alike(_bare(lines), self._origin, self._origin, ())
        first = None if self._parts else self._inside(lines[0])
        if first is None:
            return Alike((), self._origin, self._origin, ())
        texts, stamps = self._insides(lines, first[1])
        return Alike(texts, *first[1], stamps if any(stamps) else ())

    def knows(self, printed: str) -> bool:
        """True when taking this line's envelopes off again would teach nothing."""
        return _wears_none(printed) or (self._stack != () and self._inside(printed) is not None)

    def processes(self) -> dict[tuple[str | None, int], int]:
        """(node, pid) → rank, as Ray's actors told it."""
        return self._actors.by_process()

    def count_alike(self, lines: int) -> None:
        """So many of them were taken."""
        self._lines += lines

    def held(self) -> list[Line]:
        """Lines that a container runtime cut, waiting for their end."""
        return list(self._parts.values())

    def release(self) -> list[Line]:
        """Give out those lines as they are: the source has ended."""
        parts, self._parts = self._parts, {}
        return list(parts.values())

    def _unwrap_as_before(self, line: Line) -> bool:
        """The same envelopes as on the last line cost one match each and one look."""
        inside = self._inside(line.text)
        if inside is None:
            return False
        line.text, (line.origin, line.stream), stamp = inside
        if stamp is not None:
            line.time = self._clock.read(stamp)
        return True

    def _inside(self, text: str) -> tuple[str, tuple[Origin, Origin], str | None] | None:
        """Text, place and time of a line that wears the stack and nothing more."""
        position = 0
        said: tuple[str | None, ...] = ()
        stamp = None
        for match_layer, groups, stamp_group, text_group in self._stack:
            match = match_layer(text, position)
            if match is None:
                return None
            if groups:
                said += (match[groups[0]],) if len(groups) == 1 else match.group(*groups)
            if stamp_group:
                stamp = match[stamp_group]
            if text_group:
                text, position = match[text_group], 0
            else:
                position = match.end()
        known = self._known.get(said)
        if known is None:
            return None
        follows = _MAY_START.get(text[position : position + 1])
        if follows is not None and follows(text, position) is not None:
            return None
        return text[position:], known, stamp

    def _insides(self, lines: Sequence[str], place: tuple[Origin, Origin]) -> tuple[list[str], list[str | None]]:
        """`_inside` for lines in a row, as many from the first on as come from one place: texts and times."""
        begin = lines[0][:1]
        texts = list(takewhile(lambda line: line[:1] == begin, lines))
        if begin.isalpha():
            texts = list(takewhile(lambda line: not _wears_none(line), texts))
        positions = [0] * len(texts)
        columns: list[list[str | None]] = []
        stamps: list[str | None] = []
        for match_layer, groups, stamp_group, text_group in self._stack:
            matches = list(takewhile(bool, map(match_layer, texts, positions)))
            columns += [[match[group] for match in matches] for group in groups]  # type: ignore[index]
            if stamp_group:
                stamps = [match[stamp_group] for match in matches]  # type: ignore[index]
            if text_group:
                texts, positions = [match[text_group] for match in matches], [0] * len(matches)  # type: ignore[index]
            else:
                texts, positions = texts[: len(matches)], [match.end() for match in matches]  # type: ignore[union-attr]
        count = len(texts)
        if columns:
            said = list(zip(*columns, strict=False))[:count]
            strange = {one for one in set(said) if self._known.get(one) is not place}
            count = next((at for at, one in enumerate(said) if one in strange), count) if strange else count
        insides: list[str] = []
        for text, position in zip(texts[:count], positions, strict=False):
            follows = _MAY_START.get(text[position : position + 1])
            if follows is not None and follows(text, position) is not None:
                break
            insides.append(text[position:])
        return insides, stamps[: len(insides)]

    def _peel(self, line: Line) -> bool:
        text = line.text
        found: list[tuple[Envelope, re.Match[str]]] = []
        goes_on = False
        for _ in range(_DEEPEST):
            match, envelope = self._first_match(text)
            if match is None or envelope is None:
                break
            if envelope.decode is None:
                text = match["text"] if "text" in match.re.groupindex else text[match.end() :]
            else:
                inner = envelope.decode(match)
                if inner is None:
                    break
                text, part = inner
                goes_on = goes_on or part
            self.names[envelope.name] = self.names.get(envelope.name, 0) + 1
            found.append((envelope, match))
        if not found:
            return True
        said = [match.groupdict() for _, match in found]
        actor = next((one["actor"] for one in said if one.get("actor")), None)
        if actor is not None:
            self._hear(actor, said, text)
        line.origin = self._where(said)
        every_line = [one for one, (envelope, _) in zip(said, found, strict=True) if envelope.every_line]
        line.stream = line.origin if len(every_line) == len(said) else self._where(every_line)
        stamps = [one["stamp"] for one in said if one.get("stamp")]
        if stamps:
            line.time = self._clock.read(stamps[-1] or "")
        if actor is None or self._actors.is_settled(actor):
            self._remember(line, found)
        return self._join(line, text, goes_on)

    def _hear(self, actor: str, said: Sequence[Said], text: str) -> None:
        """Remember which rank an actor is: its other lines do not tell."""
        told = next((one["rank"] for one in said if one.get("rank")), None)
        is_news = self._actors.learn(actor, int(told)) if told is not None else False
        if is_news or (told is None and not self._actors.is_settled(actor) and self._actors.listen(actor, text)):
            for known in self._by_stack.values():
                known.clear()

    def _first_match(self, text: str) -> tuple[re.Match[str], Envelope] | tuple[None, None]:
        for envelope in _BY_FIRST.get(text[:1], ()):
            match = envelope.pattern.match(text)
            if match is not None and (envelope.sure or self._believes()):
                return match, envelope
        return None, None

    def _believes(self) -> bool:
        self._doubted += 1
        return self._doubted > _BELIEVED_AFTER and self._doubted * 3 > self._lines

    def _remember(self, line: Line, found: Sequence[tuple[Envelope, re.Match[str]]]) -> None:
        """Keep the stack, unless it holds an envelope that must be opened each time anew."""
        if any(envelope.decode is not None or not envelope.sure for envelope, _ in found):
            self._stack = ()
            return
        self._stack = tuple(_layer(envelope) for envelope, _ in found)
        self._known = self._by_stack.setdefault(tuple(envelope.name for envelope, _ in found), {})
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
        if len(self._places) > _MOST_KNOWN:
            self._places.clear()
        said = [match[group] for layer, (_, match) in zip(self._stack, found, strict=True) for group in layer.groups]
        place = (line.origin, line.stream)
        self._known[tuple(said)] = self._places.setdefault(place, place)

    def _where(self, said: Sequence[Said]) -> Origin:
        if not said:
            return self._origin
        known: Said = {}
        for one in said:
            known.update({name: value for name, value in one.items() if value is not None})
        key = tuple(known.get(name) for name in ("rank", "local_rank", "node", "task"))
        rank = self._actors.rank_of(known.get("actor")) if key[0] is None else None
        if rank is not None:
            key = (str(rank), *key[1:])
        origin = self._origins.get(key)
        if origin is None:
            if len(self._origins) > _MOST_KNOWN:
                self._forget_origins()
            named = self._origin_of(*key)
            origin = self._origins[key] = self._same.setdefault(named, named)
        return origin

    def _forget_origins(self) -> None:
        self._origins.clear()
        self._same = {self._origin: self._origin}
        self._places.clear()
        for known in self._by_stack.values():
            known.clear()

    def _origin_of(self, rank: str | None, local_rank: str | None, node: str | None, task: str | None) -> Origin:
        base = self._origin
        if task is not None and rank is None:
            if local_rank is None:
                rank = task
            elif node is None and base.node is None:
                node = f"task{task}"  # one task per node, each with its own torchrun
        global_rank = base.rank if rank is None else int(rank)
        local = base.local_rank if global_rank == base.rank else None
        return Origin(base.run, node or base.node, global_rank, local if local_rank is None else int(local_rank))

    def _join(self, line: Line, text: str, goes_on: bool) -> bool:
        begun = self._parts.pop(line.stream, None) if self._parts else None
        if begun is not None:
            begun.text = (begun.text + text)[:MAX_LINE_BYTES]
            if goes_on:
                self._parts[line.stream] = begun
                return False
            text = begun.text
        elif goes_on:
            line.text = text
            self._parts[line.stream] = line
            return False
        line.text = _REPEATED.sub("", text) if "[repeated " in text else text
        return True


def _wears_none(text: str) -> bool:
    """The cheap question that most lines answer."""
    may_start = _MAY_START.get(text[:1])
    return may_start is None or (text[:1].isalpha() and not _has_colon(text)) or may_start(text) is None


def _has_colon(text: str) -> bool:
    """The colon of a prefix that begins with a letter."""
    if text.find(": ", 0, _HEAD) >= 0 or text.find("]:", 0, _HEAD) >= 0:
        return True
    return text[0] in _WEEKDAYS and text.find(_OF_MPI, 0, _HEAD) >= 0


def _bare(lines: Sequence[str]) -> Sequence[str]:
    """As many lines from the first on as wear no envelope."""
    firsts = {line[:1] for line in lines}
    first = firsts.pop() if len(firsts) == 1 else ""
    if not first:
        return list(takewhile(_wears_none, lines))
    # They all begin alike: no step of Python for each of them.
    may_start = _MAY_START.get(first)
    if may_start is None:
        return lines
    if first.isalpha():
        signs = [": ", "]:", *([_OF_MPI] if first in _WEEKDAYS else [])]
        places = (sum(map(str.find, lines, repeat(sign), repeat(0), repeat(_HEAD))) for sign in signs)
        return lines if all(place == -len(lines) for place in places) else list(takewhile(_wears_none, lines))
    return list(compress(lines, accumulate(map(not_, map(may_start, lines)), and_)))


def _by_first(envelopes: Sequence[Envelope]) -> dict[str, tuple[Envelope, ...]]:
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    table: dict[str, list[Envelope]] = {}
    for envelope in envelopes:
        for character in envelope.first.replace("a", letters).replace("0", "0123456789"):
            table.setdefault(character, []).append(envelope)
    return {character: tuple(found) for character, found in table.items()}


def _either(envelopes: Sequence[Envelope]) -> Callable[..., re.Match[str] | None]:
    """One cheap question instead of one for every envelope: most lines wear none."""
    patterns = (re.sub(r"\(\?P<\w+>", "(?:", envelope.pattern.pattern) for envelope in envelopes)
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns)).match


@cache
def _layer(envelope: Envelope) -> _Layer:
    names = envelope.pattern.groupindex
    telling = tuple(number for name, number in names.items() if name not in ("stamp", "text"))
    return _Layer(envelope.pattern.match, telling, names.get("stamp", 0), names.get("text", 0))


_BY_FIRST = _by_first(ENVELOPES)
_MAY_START = {character: _either(envelopes) for character, envelopes in _BY_FIRST.items()}
