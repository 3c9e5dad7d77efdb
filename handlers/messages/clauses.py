"""Clauses that the diagnosis writes in English, with values in them, and their translation.

A node writes `loss is NaN since step 41,200` long before anybody knows who reads it, and the sentence is kept as it
was written. So it is translated where it is shown: the clause is recognised by its words, its values are taken out
(and translated, where they are clauses themselves) and put into the translation. What is not recognised stays.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

LONGEST = 2000
"""Longer text is no clause of ours."""
DEEPEST = 6
"""So many clauses may stand in each other."""
MOST_LOOKS = 64
"""So many pieces of one text are held against all clauses."""
_PLACE = re.compile(r"\{(\w+)\}")
_NUMBER = re.compile(r"[-+~±≈]?(?:\d[\d.,:/_eE+-]*\w{0,3}|\d[\d.,]* ?%|nan|inf|-inf|NaN|Inf|minus infinite|infinite)")
_WORD = re.compile(r"[^\s:`]+")
_NEXT_SENTENCE = re.compile(r"(?<=[a-z0-9`)%])\. (?=[A-Z`])")
_NEXT_HALF = re.compile("; ")
_NEXT_ITEM = re.compile(r", (?![^()]*\))")
_SIGNS = MappingProxyType({".": "。", "?": "？", "!": "！"})
_SHOWN = re.compile(
    r"(?s)(.+) \(([^()]+:\d+|(?:processes|memory|GPU readings|kernel log|heartbeats|stack of pid \d+) o[fn] [^()]+)\)"
)
"""A sentence and what shows it: a line, or what a node told."""
_POINT = "• "
_SPAN = re.compile(r"\d+ (?:s|min|h|d)(?: \d+ (?:min|h))?")
_UNIT = re.compile(r"(\d+) (s|min|h|d)")

NUMBERS = frozenset({"n"})
CLAUSES = frozenset({"c"})
WORDS = frozenset({"node", "name", "host"})
VERBATIM = frozenset({"text", "line", "frame", "place", "command", "path", "file", "words", *WORDS})
LISTS = frozenset({"list"})


@dataclass(frozen=True, slots=True)
class _Form:
    """One clause: the words between its values, the names of those, and the translation."""

    words: tuple[str, ...]
    names: tuple[str, ...]
    other: str

    @property
    def weight(self) -> int:
        """How much of it is words: the more, the surer."""
        return sum(map(len, self.words))

    @property
    def looseness(self) -> int:
        """How many of its values may be anything."""
        return sum(_kind(name) not in NUMBERS | CLAUSES for name in self.names)

    def values_in(self, text: str) -> Iterator[dict[str, str]]:
        """The values, when the text has this form: found from the left, else from the right; never slow."""
        first, *_, last = self.words
        if not text.startswith(first) or not text.endswith(last) or len(text) <= len(first) + len(last):
            return
        inner = text[len(first) : len(text) - len(last)]
        left = _cut_left(inner, self.words[1:-1])
        right = _cut_right(inner, self.words[1:-1])
        if left is not None:
            yield dict(zip(self.names, left, strict=True))
        if right is not None and right != left:
            yield dict(zip(self.names, right, strict=True))


class Clauses:
    """The clauses of one language.

    The name of a value says what it must be: `n`, `n2` … a number, `c`, `c2` … a clause of ours, `node` and `name` one
    word, `text`, `line`, `place` … whatever stands there, and stays; `list` some clauses; any other one is translated
    where that can be.
    """

    def __init__(self, plain: Mapping[str, str], forms: Mapping[str, str], spans: Mapping[str, str]) -> None:
        exact = {**plain, **forms}
        # What stands at the end of a sentence is not part of it.
        self._plain = {_bare(text): _bare(other) for text, other in exact.items() if not _PLACE.search(text)}
        valued = (_form(text, other) for text, other in forms.items() if _PLACE.search(text))
        self._forms = sorted(valued, key=lambda form: (-form.weight, form.looseness))
        self._spans = spans
        self.translate = lru_cache(maxsize=4096)(self._translate)

    def span(self, text: str) -> str | None:
        """A span of time such as `1 h 10 min`; None: it is none."""
        return _span(text, self._spans)

    def _translate(self, text: str) -> str:
        """The text in this language; what is not recognised as it is."""
        if len(text) > LONGEST:
            return text
        return _Search(self._plain, self._forms, self._spans).known(text) or text


class _Search:
    """One translation. A log can bring any words, so it gives up where they fit too many clauses in each other."""

    def __init__(self, plain: Mapping[str, str], forms: Sequence[_Form], spans: Mapping[str, str]) -> None:
        self._plain = plain
        self._forms = forms
        self._spans = spans
        self._found: dict[tuple[str, int], str | None] = {}
        self._left = MOST_LOOKS

    def known(self, text: str, depth: int = 0) -> str | None:
        """The translation, or None."""
        if (text, depth) not in self._found:
            self._found[text, depth] = self._known(text, depth)
        return self._found[text, depth]

    def _known(self, text: str, depth: int) -> str | None:
        body = text.strip()
        if depth > DEEPEST or not body:
            return None
        if body.startswith(_POINT):
            inner = self.known(body.removeprefix(_POINT), depth + 1)
            return None if inner is None else _POINT + inner
        if body != text:
            inner = self.known(body, depth + 1)
            return None if inner is None else text.replace(body, inner, 1)
        end = _SIGNS.get(body[-1], "")
        exact = self._exact(body) or (self._exact(body[:-1]) or "" if end else "")
        if exact:
            return exact if self._exact(body) else exact + end
        if (shown := _SHOWN.fullmatch(text)) is not None and (inner := self.known(shown[1], depth + 1)) is not None:
            return f"{inner}（{self.known(shown[2], depth + 1) or shown[2]}）"
        whole = self._in_parts(text, depth, wants_all=True)
        # The stop of a sentence is no part of the value that stands before it.
        if whole is None and end and (inner := self.known(body[:-1], depth + 1)) is not None:
            return inner + end
        whole = whole or self._whole(text, depth)
        return whole or self._in_parts(text, depth, wants_all=False)

    def _exact(self, text: str) -> str | None:
        found = self._plain.get(text) or self._plain.get(_lowered(text))
        return _span(text, self._spans) if found is None else found

    def _whole(self, text: str, depth: int) -> str | None:
        if self._left <= 0:
            return None
        self._left -= 1
        for said in dict.fromkeys((text, _lowered(text))):
            for form in self._forms:
                for values in form.values_in(said):
                    if (made := self._filled(form, values, depth)) is not None:
                        return made
        return None

    def _filled(self, form: _Form, values: Mapping[str, str], depth: int) -> str | None:
        made = {}
        for name, value in values.items():
            told = self._value(_kind(name), value, depth)
            if told is None:
                return None
            made[name] = told
        return _PLACE.sub(lambda place: _spaced(form.other, place, made[place[1]]), form.other)

    def _value(self, kind: str, value: str, depth: int) -> str | None:
        """A value as it stands in the translation; None: it cannot be one of this kind."""
        if kind in NUMBERS:
            return value if _NUMBER.fullmatch(value) else None
        if (kind != "line" and not _is_balanced(value)) or (kind in WORDS and not _WORD.fullmatch(value)):
            return None
        if kind in VERBATIM:
            return value
        told = self.known(value, depth + 1)
        if told is None and kind in LISTS:
            told = "，".join(self.known(item, depth + 1) or item for item in _NEXT_ITEM.split(value))
        return told if told is not None or kind in CLAUSES else value

    def _in_parts(self, text: str, depth: int, *, wants_all: bool) -> str | None:
        """Several sentences, or half-sentences, each by itself."""
        for parts, between in ((_NEXT_SENTENCE.split(text), "。"), (_NEXT_HALF.split(text), "；")):
            if len(parts) == 1:
                continue
            told = [self.known(one, depth + 1) for one in parts]
            if all(told) if wants_all else any(told):
                return between.join(new or old for new, old in zip(told, parts, strict=True))
        return None


def _span(text: str, units: Mapping[str, str]) -> str | None:
    if not _SPAN.fullmatch(text):
        return None
    return _UNIT.sub(lambda part: f"{part[1]} {units[part[2]]}", text)


def _cut_left(inner: str, words: tuple[str, ...]) -> list[str] | None:
    """What stands between the words, each found as early as it can be; None: one is not there."""
    values, at = [], 0
    for word in words:
        found = inner.find(word, at + 1)
        if found < 0:
            return None
        values.append(inner[at:found])
        at = found + len(word)
    return [*values, inner[at:]] if at < len(inner) else None


def _cut_right(inner: str, words: tuple[str, ...]) -> list[str] | None:
    """The same, each found as late as it can be."""
    values, end = [], len(inner)
    for word in reversed(words):
        found = inner.rfind(word, 0, max(0, end - 1))
        if found < 0:
            return None
        values.append(inner[found + len(word) : end])
        end = found
    return [*reversed([*values, inner[:end]])] if end > 0 else None


def _kind(name: str) -> str:
    return name.rstrip("23456789")


def _spaced(text: str, place: re.Match[str], value: str) -> str:
    """Between Chinese and Latin stands a space."""
    before = " " if _is_wide(text[: place.start()][-1:]) and _is_narrow(value[:1]) else ""
    after = " " if _is_wide(text[place.end() :][:1]) and _is_narrow(value[-1:]) else ""
    return f"{before}{value}{after}"


def _is_wide(letter: str) -> bool:
    return "\u4e00" <= letter <= "\u9fff"


def _is_narrow(letter: str) -> bool:
    return letter.isascii() and letter.isalnum()


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]


def _is_balanced(value: str) -> bool:
    """Whether no bracket or backtick is left open: such a value reaches over more than it is."""
    return value.count("(") == value.count(")") and value.count("`") % 2 == 0


def _bare(text: str) -> str:
    return text[:-1] if len(text) > 3 and text[-1] in ".。" and text[-2] != "…" else text


def _form(english: str, other: str) -> _Form:
    parts = _PLACE.split(english)
    return _Form(tuple(parts[::2]), tuple(parts[1::2]), other)
