"""Numbers as training logs print them: `7.39E+00`, `2,097,152`, `11.5K`, `'0.94'`, `nan`, `-inf`, `1.#QNAN`."""

import re

NUMBER = (
    r"[-+]?(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?"
    r"|[nN][aA][nN](?:\([a-z]*\)|\.0\b)?|[iI][nN][fF](?:inity|\.0\b)?|1\.#[A-Z]+)"
)
"""A regular expression for one number token, without a suffix."""

NOT_A_NUMBER = float("nan")
_SUFFIXES = {"K": 1e3, "k": 1e3, "M": 1e6, "G": 1e9, "B": 1e9, "T": 1e12, "P": 1e15}
_DIGITS = frozenset("0123456789.")
_WHOLE = re.compile(rf"({NUMBER}) ?([KkMGBTP])?")


def parse_number(token: str) -> float | None:
    """The value of a token, or None when it is not a number.

    `nan` and `inf` are numbers: that they stand there is the news.
    """
    try:
        return float(token)
    except ValueError:
        return _parse_unusual(token.strip().strip("'\"[]"))


def _parse_unusual(token: str) -> float | None:
    match = _WHOLE.fullmatch(token)
    if match is None:
        return None
    digits, suffix = match.groups()
    if "#" in digits:
        return float("inf") if "INF" in digits else NOT_A_NUMBER
    if digits[:1] not in _DIGITS and digits.endswith(".0"):
        digits = digits[:-2]  # tqdm writes ".0" behind whatever it thinks is a whole number
    try:
        value = float(digits.partition("(")[0].replace(",", ""))
    except ValueError:
        return None
    return value * _SUFFIXES[suffix] if suffix else value


def parse_step(token: str) -> int | None:
    """A step number; None for anything that is not a whole number."""
    value = parse_number(token)
    if value is None or value != value or abs(value) > 1e15:  # noqa: PLR0124 - the only test for NaN without math
        return None
    return int(value)


def parse_duration(token: str) -> float | None:
    """Seconds of `1:02:17`, `18 days, 16:13:38`, `46m 13s`, `6s`; None when it is none of them."""
    match = _CLOCK.fullmatch(token.strip())
    if match is not None:
        days, hours, minutes, seconds = match.groups()
        return float(days or 0) * 86400 + float(hours or 0) * 3600 + float(minutes) * 60 + float(seconds)
    parts = _UNITS.findall(token)
    if not parts:
        return None
    return sum(float(value) * _UNIT_SECONDS[unit] for value, unit in parts)


_CLOCK = re.compile(r"(?:(\d+) days?,? )?(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)")
_UNITS = re.compile(r"(\d+(?:\.\d+)?) ?(ms|[dhms])(?![a-z])")
_UNIT_SECONDS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
