r"""`{"log":"text\n","stream":"stdout","time":"…"}` as Docker's json-file driver stores a line."""

import json
import re

from diagnosis.formats.envelopes.base import Envelope
from diagnosis.formats.hygiene import strip_escapes


def _decode(match: re.Match[str]) -> tuple[str, bool] | None:
    try:
        text = strip_escapes(json.loads(f'"{match["log"]}"'))  # in JSON a colour was text until now
    except ValueError:
        return None
    # Docker cuts long lines in parts; only the last part ends with a line feed.
    return (text[:-1], False) if text.endswith("\n") else (text, True)


_TAIL = r'"stream": ?"std(?:out|err)"(?:, ?"attrs": ?\{[^{}]*\})?, ?"time": ?"(?P<stamp>[^"]*)"\}\s*$'

ENVELOPE = Envelope("docker json", "{", re.compile(r'\{"log": ?"(?P<text>[^"\\]*+)\\n", ?' + _TAIL))
"""A line without anything that JSON must escape: nearly all are."""

ESCAPED = Envelope("docker json", "{", re.compile(r'\{"log": ?"(?P<log>(?:[^"\\]|\\.)*+)", ?' + _TAIL), decode=_decode)
