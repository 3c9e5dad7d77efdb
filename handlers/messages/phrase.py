"""A sentence of ours with values of others in it.

The template is ours and may hold Slack's marks (`*bold*`, backticks); the values are anybody's and are escaped
when, and only when, the phrase is written out. So no text is escaped twice and none is forgotten.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from handlers.messages.escaping import safe, unmarked, visible
from handlers.messages.languages import clause_spoken, span_spoken, spoken, tidy

LONGEST_VALUE = 1500
_PLACE = re.compile(r"\{(\w+)\}")
_BOLD = re.compile(r"(?<![\w*])\*(?=\S)([^*\n]*[^*\s])\*(?![\w*])")
_PERSON = re.compile(r"[UW][A-Z0-9]{2,30}")
_GROUP = re.compile(r"S[A-Z0-9]{2,30}")
_CHANNEL = re.compile(r"[CG][A-Z0-9]{2,30}")


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody, by Slack id; shown with their name."""

    id: str

    @property
    def mrkdwn(self) -> str:
        """`<@U123>`; anything that is not an id is only text."""
        return f"<@{self.id}>" if _PERSON.fullmatch(self.id) else safe(self.id, LONGEST_VALUE)

    @property
    def plain(self) -> str:
        """`@U123`."""
        return f"@{visible(self.id)}"


@dataclass(frozen=True, slots=True)
class Group:
    """A user group, by Slack id; only ever said to one person, whom it does not call."""

    id: str

    @property
    def mrkdwn(self) -> str:
        """`<!subteam^S123>`; anything that is not an id is only text."""
        return f"<!subteam^{self.id}>" if _GROUP.fullmatch(self.id) else safe(self.id, LONGEST_VALUE)

    @property
    def plain(self) -> str:
        """`S123`."""
        return visible(self.id)


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel, by Slack id or name."""

    id: str

    @property
    def mrkdwn(self) -> str:
        """`<#C123>`; a name stays a name."""
        return f"<#{self.id}>" if _CHANNEL.fullmatch(self.id) else safe(self.id, LONGEST_VALUE)

    @property
    def plain(self) -> str:
        """`C123` or `#name`."""
        return visible(self.id)


@dataclass(frozen=True, slots=True)
class Link:
    """A web address of ours and what stands for it."""

    url: str
    text: str

    @property
    def mrkdwn(self) -> str:
        """`<https://…|text>`; an address that is none is left out."""
        label = safe(spoken(self.text), 200).replace("|", "¦")
        return f"<{self.url}|{label}>" if re.fullmatch(r"https?://[^\s<>|]+", self.url) else label

    @property
    def plain(self) -> str:
        """The text alone."""
        return visible(spoken(self.text))


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time: in Slack each reader sees it in their own zone."""

    time: float
    shows_date: bool = False

    @property
    def mrkdwn(self) -> str:
        """Slack's date sign, with the same moment in UTC for clients that cannot."""
        form = "{date_short_pretty} {time_secs}" if self.shows_date else "{time_secs}"
        said = self.plain
        return said if said == "unknown time" else f"<!date^{int(self.time)}^{form}|{said}>"

    @property
    def plain(self) -> str:
        """`03:12:07 UTC`."""
        try:
            moment = datetime.fromtimestamp(self.time, UTC)
        except (ValueError, OverflowError, OSError):
            return "unknown time"
        return f"{moment:%Y-%m-%d %H:%M:%S} UTC" if self.shows_date else f"{moment:%H:%M:%S} UTC"


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of the diagnosis: English as it was written, said in the language that is spoken."""

    text: str
    has_code: bool = False
    """Whether its pairs of backticks are code; everything else in it is only text."""

    @property
    def mrkdwn(self) -> str:
        """Escaped."""
        parts = self._parts()
        said = (f"`{safe(part, LONGEST_VALUE)}`" if is_code else safe(part, LONGEST_VALUE) for part, is_code in parts)
        return "".join(said)

    @property
    def plain(self) -> str:
        """Hidden signs written out; code keeps its backticks."""
        return "".join(f"`{visible(part)}`" if is_code else visible(part) for part, is_code in self._parts())

    def _parts(self) -> list[tuple[str, bool]]:
        text = clause_spoken(self.text)
        pieces = text.split("`")
        if not self.has_code or len(pieces) % 2 == 0:
            return [(text, False)]
        return [(piece, place % 2 == 1) for place, piece in enumerate(pieces) if piece]


@dataclass(frozen=True, slots=True)
class Phrase:
    """A template and its values."""

    template: str
    values: Mapping[str, object] = field(default_factory=dict)
    between: str = ""
    """What stands between the values, where it is a row of phrases."""

    @property
    def mrkdwn(self) -> str:
        """For Slack: values escaped; inside a bold part they have no marks of their own, which would end it."""
        return tidy(_written(self, is_bold=False))

    @property
    def plain(self) -> str:
        """For a terminal or a plain text: no bold marks, values with hidden signs written out."""
        template = _BOLD.sub(r"\1", _template(self))
        return tidy(_PLACE.sub(lambda place: _in_plain(self.values[place[1]]), template))

    def __bool__(self) -> bool:
        return bool(self.template)

    def __add__(self, other: "Phrase") -> "Phrase":
        return join((self, other), " ")


NOTHING = Phrase("")


def say(template: str, /, **values: object) -> Phrase:
    """A phrase: `say("*{run}* stopped", run=name)`."""
    return Phrase(template, values)


def join(phrases: Iterable[Phrase], between: str) -> Phrase:
    """Several phrases as one; empty ones leave no gap."""
    kept = [phrase for phrase in phrases if phrase]
    values = {f"p{place}": phrase for place, phrase in enumerate(kept)}
    return Phrase(_row(values, between), values, between)


def _row(values: Iterable[str], between: str) -> str:
    return between.join(f"{{{name}}}" for name in values)


def _template(phrase: Phrase) -> str:
    """In the language that is spoken."""
    return _row(phrase.values, spoken(phrase.between)) if phrase.between else spoken(phrase.template)


def clause(text: str) -> Phrase:
    """A clause of the diagnosis as a phrase."""
    return say("{text}", text=Clause(text)) if text else NOTHING


def with_code(text: str) -> Phrase:
    """A plain sentence whose backtick pairs become code, and whose other signs are only text."""
    return say("{text}", text=Clause(text, has_code=True))


def number_of(count: int, one: str, many: str, **values: object) -> Phrase:
    """`1 run`, `2,000 runs`: the template for one or for many, whose `{n}` is the number."""
    return say(one if count == 1 else many, n=f"{count:,}", **values)


def listed(items: Iterable[Phrase], last: str = "{before} and {last}") -> Phrase:
    """`a, b and c`."""
    kept = [item for item in items if item]
    if len(kept) < 2:
        return kept[0] if kept else NOTHING
    before = kept[0]
    for item in kept[1:-1]:
        # A comma between items is another one in Chinese than a comma between clauses.
        before = say("{before}, {next}", before=before, next=item)
    return say(last, before=before, last=kept[-1])


OR = "{before} or {last}"


def and_more(count: int) -> Phrase:
    """` and 3 more` behind a list that was cut; nothing where none is left."""
    return say(" and {n} more", n=f"{count:,}") if count > 0 else NOTHING


_SPEAKS = (Person, Group, Channel, Link, Moment)
_WRITES_ITSELF = (Phrase, Clause, *_SPEAKS)


def _written(phrase: Phrase, *, is_bold: bool) -> str:
    template = _template(phrase)
    bold = [] if is_bold else [part.span() for part in _BOLD.finditer(template)]

    def write(place: re.Match[str]) -> str:
        value = phrase.values[place[1]]
        is_inside = is_bold or any(start < place.start() < end for start, end in bold)
        if isinstance(value, Phrase):
            return _written(value, is_bold=is_inside)
        said = _in_slack(value)
        return unmarked(said) if is_inside and not isinstance(value, _SPEAKS) else said

    return _PLACE.sub(write, template)


def _in_slack(value: object) -> str:
    if isinstance(value, _WRITES_ITSELF):
        return value.mrkdwn
    return safe(span_spoken(str(value)), LONGEST_VALUE)


def _in_plain(value: object) -> str:
    if isinstance(value, _WRITES_ITSELF):
        return value.plain
    return visible(span_spoken(str(value)))
