"""`2026-02-18T09:40:00.120Z text` as `kubectl logs --timestamps` and `docker logs -t` print it."""

import re

from diagnosis.formats.envelopes.base import Envelope

ENVELOPE = Envelope(
    "container time",
    "0",
    re.compile(r"(?P<stamp>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) "),
)
