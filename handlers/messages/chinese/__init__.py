"""What we say in Chinese (中文): English sentence → its translation, one file for each kind of surface.

Slack's bold marks need a space or a sign beside them. `CLAUSES` are those of the diagnosis; the name of a value in
them says what it must be (see `clauses.py`).
"""

from collections.abc import Mapping
from types import MappingProxyType

from handlers.messages.chinese.advice import ADVICE
from handlers.messages.chinese.advice_hosts import ADVICE_HOSTS
from handlers.messages.chinese.answers import ANSWERS
from handlers.messages.chinese.causes import CAUSES
from handlers.messages.chinese.checks import CHECKS
from handlers.messages.chinese.evidence import EVIDENCE
from handlers.messages.chinese.findings import FINDINGS
from handlers.messages.chinese.incidents import INCIDENTS
from handlers.messages.chinese.lines import LINES
from handlers.messages.chinese.people import PEOPLE
from handlers.messages.chinese.steps import STEPS
from handlers.messages.chinese.words import WORDS

CHINESE: Mapping[str, str] = MappingProxyType({**WORDS, **ANSWERS, **PEOPLE, **INCIDENTS})
"""Sentence or label of a message → 中文."""
CLAUSES: Mapping[str, str] = MappingProxyType(
    {**ADVICE, **ADVICE_HOSTS, **CAUSES, **CHECKS, **EVIDENCE, **FINDINGS, **LINES, **STEPS}
)
"""Clause of the diagnosis, or what is wrong with a question → 中文."""
SPANS: Mapping[str, str] = MappingProxyType({"s": "秒", "min": "分钟", "h": "小时", "d": "天"})
"""Unit of a span of time → 中文."""
