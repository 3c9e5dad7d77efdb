"""Time as logs print it, turned into Unix seconds.

A log without a zone is read as UTC: good for order and for gaps, not for age. What a stamp lacks (year, date)
is taken from what the same log said before; `Clock.style` says how much of the time is known.
"""

import re
from calendar import timegm
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import Literal

Style = Literal["none", "clock only", "no year", "local", "zoned"]
"""How much a log's stamps tell: nothing; time of day; day without year; date and time; with its zone."""

_RANK = {"none": 0, "clock only": 1, "no year": 2, "local": 3, "zoned": 4}
_DAY = 86400.0
_MINUTES_KEPT = 64
_UP_TO_SECONDS = len("2024-04-06 02:59:36")
_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: 1 + place for place, name in enumerate(_NAMES)}

STAMP = re.compile(
    r"\d{4}[-/]\d\d[-/]\d\d[ T_-]\d\d:\d\d:\d\d(?:[.,:]\d{1,9}(?:\.\d{3})?)?(?: ?(?:Z|UTC)|[+-]\d\d:?\d\d)?"
    r"|\d\d/\d\d/\d{4},? \d\d:\d\d:\d\d(?:[.,]\d+)?(?: [AP]M)?"
    r"|(?<!\d)\d{8} \d\d:\d\d:\d\d(?:[.,]\d+)?"
    r"|(?<![\d/])\d\d/\d\d \d\d:\d\d:\d\d(?:[.,]\d+)?"
    r"|(?<![A-Za-z])[IWEFDC]\d{3,4} \d\d:\d\d:\d\d\.\d+"
    r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d,? (?:\d{4} )?\d\d:\d\d:\d\d(?:\.\d+)?(?: \d{4})?"
)
"""Any stamp with at least a day in it."""

_ANY_CLOCK = re.compile(r"\d\d:\d\d:\d\d")
"""What stands in every stamp: looked for first, because most telling lines have none."""

CLOCK = re.compile(r"\W{0,3}(\d\d:\d\d:\d\d(?:[.,]\d+)?)(?![\d:])")
"""A time of day at the start of a line; elsewhere such a token is a duration."""

_PARTS = (
    re.compile(r"(?P<year>\d{4})[-/](?P<month>\d\d)[-/](?P<day>\d\d)[ T_-](?P<clock>\d\d:\d\d:\d\d)(?P<rest>.*)"),
    re.compile(r"(?P<month>\d\d)/(?P<day>\d\d)/(?P<year>\d{4}),? (?P<clock>\d\d:\d\d:\d\d)(?P<rest>.*)"),
    re.compile(r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d) (?P<clock>\d\d:\d\d:\d\d)(?P<rest>.*)"),
    re.compile(r"(?P<month>\d\d)/(?P<day>\d\d) (?P<clock>\d\d:\d\d:\d\d)(?P<rest>.*)"),
    re.compile(r"[A-Z](?P<month>\d\d?)(?P<day>\d\d) (?P<clock>\d\d:\d\d:\d\d)(?P<rest>.*)"),
    re.compile(
        r"(?P<month>[A-Z][a-z]{2}) (?P<day>[ \d]\d),? (?:(?P<year>\d{4}) )?(?P<clock>\d\d:\d\d:\d\d)(?P<rest>.*)"
    ),
    re.compile(r"(?P<clock>\d\d:\d\d:\d\d)(?P<rest>.*)"),
)
_FRACTION = re.compile(r"[.,:](\d+)(?:\.(\d{3}))?")
_ZONE = re.compile(r"([+-])(\d\d):?(\d\d)$|Z$|UTC$")
_YEAR = re.compile(r"(?<= )\d{4}$")


_minute = itemgetter(slice(17))


class Clock:
    """The stamps of one log; remembers the date for lines that print only the time of day."""

    def __init__(self) -> None:
        self.style: Style = "none"
        self._year: int | None = None
        self._midnight: float | None = None
        self._last_of_day = 0.0
        self._minutes: dict[str, float] = {}

    def assume_day(self, now: float) -> None:
        """Take year and date from the watcher's clock until the log prints its own."""
        if self._midnight is None:
            self._midnight = now - now % _DAY
        if self._year is None:
            self._year = _year_of(now)

    def read(self, stamp: str) -> float | None:
        """Unix seconds of a stamp, or None when it is none."""
        minute = self._minutes.get(stamp[:17])
        if minute is None:
            return self._read_slowly(stamp)
        seconds = stamp[17:19]
        rest = stamp[20:]
        if rest[-1:] == "Z":
            rest = rest[:-1]
        if not seconds.isdecimal() or (stamp[19:] and (not rest.isdecimal() or stamp[19] not in ".,")):
            return self._read_slowly(stamp)
        return minute + int(seconds) + (int(rest) / 10 ** len(rest) if rest else 0.0)

    def read_all(self, stamps: Sequence[str]) -> list[float | None]:
        """`read` for each of them, one after the other."""
        times: list[float | None] = []
        for prefix, group in groupby(stamps, _minute):
            alike = list(group)
            minute = self._minutes.get(prefix)
            if minute is None:
                times.append(self.read(alike.pop(0)))
                minute = self._minutes.get(prefix)
            times += self._in_minute(minute, alike) or map(self.read, alike)
        return times

    @staticmethod
    def _in_minute(minute: float | None, stamps: Sequence[str]) -> list[float] | None:
        """Plain stamps of one length in a minute that is known; None: they must be read by themselves."""
        if minute is None or not stamps:
            return None
        size = len(stamps[0])
        digits = [stamp[17:19] + stamp[20:] for stamp in stamps]
        if {size} != set(map(len, stamps)) or size == 20 or not "".join(digits).isdecimal():
            return None
        if size > 20 and not {stamp[19] for stamp in stamps} <= {".", ","}:
            return None
        if size <= 19:
            return [minute + int(stamp[17:]) for stamp in stamps] if size == 19 else None
        scale = 10 ** (size - 20)
        return [minute + int(stamp[17:19]) + int(stamp[20:]) / scale for stamp in stamps]

    def minute_of(self, stamp: str) -> float | None:
        """The beginning of a stamp's minute, where a stamp of the same minute was read; else None."""
        return self._minutes.get(stamp[:17])

    def find(self, text: str) -> tuple[int, int, float] | None:
        """Start, end and value of the first stamp in the head of a line."""
        if _ANY_CLOCK.search(text, 0, 140) is None:
            return None
        match = STAMP.search(text, 0, 120)
        if match is not None:
            value = self.read(match[0])
            return None if value is None else (match.start(), match.end(), value)
        match = CLOCK.match(text)
        if match is None:
            return None
        value = self.read(match[1])
        return None if value is None else (match.start(1), match.end(1), value)

    def _read_slowly(self, stamp: str) -> float | None:
        for parts in _PARTS:
            match = parts.match(stamp)
            if match is not None:
                return self._value(stamp, match.groupdict())
        return None

    def _value(self, stamp: str, parts: dict[str, str | None]) -> float | None:
        clock, rest = parts["clock"] or "", parts["rest"] or ""
        hours, minutes, seconds = int(clock[:2]), int(clock[3:5]), int(clock[6:8])
        if hours > 23 or minutes > 59 or seconds > 60:
            return None
        if rest.endswith("PM") and hours < 12:
            hours += 12
        elif rest.endswith("AM") and hours == 12:
            hours = 0
        of_day = hours * 3600.0 + minutes * 60 + seconds
        if "month" not in parts:
            return self._on_the_day(of_day + _fraction(rest))
        midnight = self._midnight_of(parts, rest)
        if midnight is None:
            return None
        zone = _ZONE.search(rest)
        has_year = parts.get("year") is not None or _YEAR.search(rest) is not None
        self._note("no year" if not has_year else "zoned" if zone else "local")
        self._midnight, self._last_of_day = midnight, of_day
        if parts.get("year") is not None and len(stamp) - len(rest) == _UP_TO_SECONDS:
            if len(self._minutes) >= _MINUTES_KEPT:
                self._minutes.clear()
            self._minutes[stamp[:17]] = midnight + of_day - seconds
        return midnight + of_day + _fraction(rest) - _zone_seconds(zone)

    def _on_the_day(self, of_day: float) -> float:
        self._note("clock only")
        if self._midnight is None:
            self._midnight = 0.0
        if of_day < self._last_of_day - _DAY / 2:
            self._midnight += _DAY  # time ran back by half a day: midnight has passed
        self._last_of_day = of_day
        return self._midnight + of_day

    def _midnight_of(self, parts: dict[str, str | None], rest: str) -> float | None:
        month_text, day = parts["month"] or "", int(parts["day"] or "0")
        month = _MONTHS.get(month_text.lower(), 0) if month_text.isalpha() else int(month_text)
        if month > 12 >= day:
            month, day = day, month  # day first, as most of the world writes it
        if not (1 <= month <= 12 and 1 <= day <= 31):
            return None
        late_year = _YEAR.search(rest)
        year_text = parts.get("year") or (late_year[0] if late_year else None)
        if year_text is not None:
            if not 1970 <= int(year_text) < 2500:
                return None
            self._year = int(year_text)
        return float(timegm((self._year or 1970, month, day, 0, 0, 0)))

    def _note(self, style: Style) -> None:
        if _RANK[style] > _RANK[self.style]:
            self.style = style


def _fraction(rest: str) -> float:
    match = _FRACTION.match(rest)
    if match is None:
        return 0.0
    digits = match[1] + (match[2] or "")
    return float(int(digits) / 10 ** len(digits))


def _zone_seconds(zone: "re.Match[str] | None") -> float:
    if zone is None or zone[1] is None:
        return 0.0
    seconds = int(zone[2]) * 3600.0 + int(zone[3]) * 60
    return seconds if zone[1] == "+" else -seconds


def _year_of(now: float) -> int:
    return 1970 + int(now // (_DAY * 365.2425))
