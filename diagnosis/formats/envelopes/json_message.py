"""`{"time": "…", "level": "INFO", "message": "text"}` as structured loggers write a line."""

import json
import re

from diagnosis.formats.envelopes.base import Envelope
from diagnosis.formats.hygiene import strip_escapes

_METRICS = ("loss", "train_loss", "step", "iteration", "global_step")


def _decode(match: re.Match[str]) -> tuple[str, bool] | None:
    try:
        said = json.loads(match.string)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict) or any(isinstance(said.get(name), int | float) for name in _METRICS):
        return None  # the object itself is the record
    text = next((said[key] for key in ("message", "msg", "log") if isinstance(said.get(key), str)), None)
    return None if text is None else (strip_escapes(text.rstrip("\n")), False)


ENVELOPE = Envelope(
    "json message",
    "{",
    re.compile(
        r'\{(?=.*"(?:message|msg|log)": ?")'
        r'(?:.*?"(?:time|timestamp|@timestamp|asctime|ts)": ?"(?P<stamp>[^"]{10,40})")?.*\}\s*$'
    ),
    decode=_decode,
)
