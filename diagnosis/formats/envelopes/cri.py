"""`2024-05-01T12:00:00.123456789Z stdout F text` as containerd and CRI-O store a line; `P` marks a part of one."""

import re

from diagnosis.formats.envelopes.base import Envelope

_STAMP = r"(?P<stamp>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) std(?:out|err) "


def _decode(match: re.Match[str]) -> tuple[str, bool]:
    return match.string[match.end() :], True


ENVELOPE = Envelope("cri", "0", re.compile(_STAMP + r"F[\w:]*(?: |$)"))
PART = Envelope("cri", "0", re.compile(_STAMP + r"P[\w:]*(?: |$)"), decode=_decode)
