"""What must not leave a node: secrets are masked in every excerpt and every byte of a snapshot.

Two ways to know one: by its shape (`hf_…`, `xoxb-…`, a private key) or by the name that stands before it
(`api_key=`, `--password`, `Authorization:`). A git hash, a checkpoint's name and `eos_token=<s>` stay readable.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

MARK = "[masked: {}]"
LONGEST_HELD = 65536
"""A line longer than this is masked in pieces, cut where no secret lies."""
_OVERLAP = 4096

_END = r"(?![A-Za-z0-9_])"
_SHAPES = (
    ("Hugging Face token", r"\b(?:hf_|api_org_)[A-Za-z0-9]{20,}"),
    ("Weights & Biases key", r"\bwandb_v1_[A-Za-z0-9_-]{20,}"),
    ("API key", r"\bsk-[A-Za-z0-9_-]{20,}"),
    ("AWS key id", r"\b(?:AKIA|ASIA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA|ABIA|ACCA)[A-Z2-7]{16}" + _END),
    ("Google key", r"\bAIza[A-Za-z0-9_-]{35}|\bya29\.[A-Za-z0-9_.-]{20,}"),
    ("GitHub token", r"\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_[A-Za-z0-9_]{40,}"),
    ("GitLab token", r"\bgl(?:pat|dt|rt|ptt|ft|soat)-[A-Za-z0-9_-]{20,}"),
    ("PyPI token", r"\bpypi-[A-Za-z0-9_-]{50,}"),
    ("npm token", r"\bnpm_[A-Za-z0-9]{36}" + _END),
    ("Slack token", r"\bx(?:ox[a-z]|app)-[A-Za-z0-9-]{10,}"),
    ("Slack webhook", r"(?<=hooks\.slack\.com/)(?:services|workflows|triggers)/[A-Za-z0-9/_-]{10,}"),
    ("web token", r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
    ("signature", r"(?<=[?&;])(?i:sig|x-(?:amz|goog)-(?:signature|credential|security-token))=[^\s&\"'<>]{8,}"),
    ("password", r"(?<=://)[^\s/@:\"'<>]*:[^\s/\"'<>]+(?=@)"),
)
"""Secrets that are known wherever they stand."""

_KEY_OF = (
    r"api|access|secret|private|account|encryption|license|licence|ssh|service|deploy|signing|master|auth|client|"
    r"subscription|wandb|comet|openai|anthropic|munge|aes|hmac|session"
)
_STRONG_NAME = (
    rf"[A-Za-z0-9_.-]{{0,60}}?(?:(?:{_KEY_OF})[_-]?key(?:[_-]?(?:id|data))?|secret|passw(?:or)?d|passphrase|passwd|"
    r"pwd|credentials?|cookie|webhook(?:[_-]?url)?|requirepass|(?<![A-Za-z])auth)"
)
_ENVIRONMENT_NAME = r"[A-Z][A-Z0-9_]{0,60}_(?:KEY|TOKEN|SECRET|PASS|PASSWORD|AUTH|CREDENTIALS?|PAT)"
_NAME_OF_TOKEN = r"(?P<name>(?:[A-Za-z0-9]{1,40}[_.-]){0,6}[A-Za-z0-9]{0,20}token)"  # noqa: S105  (a pattern)
_MODEL_TOKEN = re.compile(
    r"(?i)(?:pad|eos|bos|unk|sep|cls|mask|image|video|audio|special|next|prev|per|start|end|stop|first|last|new|begin|"
    r"decoder|prompt|boi|eoi|eot|eom|fim|tool|think|user|assistant|system|target|input|output|sos|max|min|sub)"
    r"[_-]?token"
)
"""Names of tokens that a model reads, not of tokens that open a door."""
_VALUE = (
    r"(?:\\?\"(?P<double>(?:[^\"\\\n]|\\[^\"\n])+)|\\?'(?P<single>(?:[^'\\\n]|\\[^'\n])+)|"
    r"(?P<bare>[^\s,;&\"'`)\]}<>]+))"
)
_BETWEEN = r"\\?[\"']?[ \t]{0,3}(?:=>|:=|[:=])[ \t]{0,3}(?:[bruf](?=[\"']))?"
_USER = r"[^\s:\"']{1,80}:(?!//)"
_FLAG = r"(?:(?<=\s)|^)--?"

_NAMED = (
    ("secret", rf"(?i:\b{_STRONG_NAME}){_BETWEEN}{_VALUE}", 4),
    ("secret", rf"\b{_ENVIRONMENT_NAME}{_BETWEEN}{_VALUE}", 6),
    ("token", rf"(?i:\b{_NAME_OF_TOKEN}){_BETWEEN}{_VALUE}", 8),
    ("secret", rf"{_FLAG}(?i:{_STRONG_NAME})[ \t]+(?![-<]){_VALUE}", 4),
    ("token", rf"{_FLAG}(?i:{_NAME_OF_TOKEN})[ \t]+(?![-<]){_VALUE}", 8),
    ("authorization", rf"(?i:\b(?:proxy-)?authorization){_BETWEEN}(?:[\"']?(?:\w+[ \t]+)?)(?P<bare>[^\s\"',}}]+)", 6),
    ("bearer", r"(?i:\b(?:bearer|basic)[ \t]+)(?P<bare>[A-Za-z0-9._~+/=-]{12,})", 12),
    ("cookie", r"(?i:\b(?:set-)?cookie:[ \t]*)(?P<bare>[^\r\n]+)", 4),
    ("password", r"(?i:\blogin[ \t]+\S+[ \t]+password[ \t]+|\bsshpass[ \t]+-p[ \t]*)(?P<bare>\S+)", 4),
    ("netrc password", r"(?i:^[ \t]*password[ \t]+)(?P<bare>\S+)", 8),
    (
        "password",
        (
            r"(?<![\w.-])curl[\"',]{0,2}[ \t](?:[^\n]{0,400}?(?<=[\s\"']))??(?:-[A-Za-z#]{0,12}?[uU]|--(?:proxy-)?user)"
            rf"[\"',=\s]{{0,4}}?(?:\"{_USER}(?P<double>[^\"\n]+)\"|'{_USER}(?P<single>[^'\n]+)'|"
            rf"{_USER}(?P<bare>[^\s\"'`)]+))"
        ),
        2,
    ),
    (
        "Weights & Biases key",
        (
            r"(?i:wandb|weights.{0,3}biases)(?:(?!(?i:commit|sha|git|rev|head))[^\n]){0,80}?"
            r"(?<![0-9a-f])(?P<bare>[0-9a-f]{40})(?![0-9a-f])"
        ),
        40,
    ),
)
"""Secrets that are known by the name before them, and how long a value must be to be one."""

_AFTER_A_NAME = frozenset("\"'\\ \t:=")
_HINTS: tuple[tuple[str, frozenset[str]], ...] = (
    *((name, _AFTER_A_NAME) for name in (
        "key", "key_id", "key-id", "keyid", "key_data", "key-data", "keydata", "token", "secret", "password", "passwd",
        "pwd", "passphrase", "credential", "credentials", "cookie", "webhook", "webhook_url", "webhook-url",
        "webhookurl", "requirepass", "auth", "authorization", "_pass", "_pat", "bearer", "basic", "sshpass", "curl",
    )),
    *((prefix, frozenset()) for prefix in (
        "hf_", "api_org_", "wandb", "biases", "sk-", "akia", "asia", "agpa", "aida", "aroa", "aipa", "anpa", "anva",
        "abia", "acca", "aiza", "ya29.", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-",
        "glrt-", "glptt-", "glft-", "glsoat-", "pypi-", "npm_", "xox", "xapp-", "slack.com/", "eyj", "sig=",
        "-signature=", "-credential=", "-security-token=",
    )),
)  # fmt: skip
"""A line without any of these, followed by one of their letters where there are some, holds no secret we could know."""
_SHAPE = re.compile("|".join(f"(?P<s{at}>{shape})" for at, (_, shape) in enumerate(_SHAPES)))
_NAMES = tuple((kind, re.compile(pattern, re.MULTILINE), shortest) for kind, pattern, shortest in _NAMED)
_NO_SECRET = re.compile(
    r"(?i)none|null|true|false|\[?masked.*|\*+|x{3,}|\.{3}|-?[\d.]+(?:e[+-]?\d+)?[a-z]{0,2}|<.*|\$\{?\w+\}?.*|"
    r"%\(?\w+.*|required|optional|missing|unset|not|(?:class|object|str|int|bool|float)\b.*|/(?:[\w.-]+/)*[\w.-]*"
)
_KEY_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = re.compile(r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
_LONGEST_KEY = 16384
_MAYBE_KEY = re.compile(r"(?:(?<=\n)|\A)(?:[A-Za-z0-9+/=]{40,80}\r?\n)+\Z")
_KEY_LINES = re.compile(r"(?:(?<=\n)|^)(?:[A-Za-z0-9+/=]{16,}\s+)*[A-Za-z0-9+/=]*\s*\Z")


@dataclass(frozen=True, slots=True)
class Masked:
    """A text without its secrets, and how many there were."""

    text: str
    count: int


class _Span(NamedTuple):
    start: int
    end: int
    kind: str


def mask(text: str) -> Masked:
    """Mask every secret in an excerpt."""
    spans = _spans(text)
    return Masked(_without(text, spans), len(spans))


class MaskingStream:
    """Masks a file as it is copied, piece by piece; where the pieces are cut makes no difference."""

    def __init__(self) -> None:
        self.count = 0
        """Secrets masked so far."""
        self._held = ""
        self._in_key = False
        self._in_value = False

    def feed(self, data: bytes) -> bytes:
        """The next bytes in, masked bytes out (some are held until their line is whole)."""
        self._held += data.decode("latin-1")
        cut = self._held.rfind("\n") + 1
        # The end of a private key whose beginning was never seen may come yet; until then its lines are held.
        maybe = _MAYBE_KEY.search(self._held, max(0, cut - _LONGEST_KEY), cut) if cut else None
        if maybe and len(self._held) <= LONGEST_HELD and not self._in_key:
            cut = maybe.start()
        if not cut and len(self._held) > LONGEST_HELD:
            cut = len(self._held) - _OVERLAP
        if not cut:
            return b""
        return self._release(cut)

    def close(self) -> bytes:
        """What is left."""
        return self._release(len(self._held), at_end=True)

    def _release(self, cut: int, *, at_end: bool = False) -> bytes:
        out = ""
        if self._in_value:  # a secret longer than what is held
            end = re.search(r"[\s\"'&]", self._held)
            skipped = end.start() if end else len(self._held)
            self._held, cut = self._held[skipped:], max(0, cut - skipped)
            self._in_value = end is None and not at_end
        if self._in_key:
            end = _KEY_END.search(self._held)
            self._in_key = end is None and not at_end
            skipped = end.end() if end else cut
            self._held, cut = self._held[skipped:], max(0, cut - skipped)
        spans = [span for span in _spans(self._held) if span.start < cut]
        if spans and spans[-1].end > cut:
            last = spans[-1]
            if last.kind == "private key":
                self._in_key = _KEY_END.search(self._held, last.start) is None
                cut = last.end
            elif last.start:
                spans.pop()
                cut = last.start
            else:
                self._in_value = last.end == len(self._held)
                cut = last.end
        elif spans and spans[-1].kind == "private key" and spans[-1].end == len(self._held):
            self._in_key = not _KEY_END.search(self._held, spans[-1].start) and not at_end
        out += _without(self._held[:cut], spans)
        self.count += len(spans)
        self._held = self._held[cut:]
        return out.encode("latin-1")


def _without(text: str, spans: list[_Span]) -> str:
    pieces, at = [], 0
    for span in spans:
        pieces += [text[at : span.start], MARK.format(span.kind)]
        at = span.end
    return "".join(pieces) + text[at:]


def _spans(text: str) -> list[_Span]:
    """Where secrets lie, in order, without overlap."""
    found = [*_private_keys(text)]
    for start, end in _suspicious_lines(text):
        found += _found(text[start:end], start)
    merged: list[_Span] = []
    for span in sorted(found):
        if merged and span.start < merged[-1].end:
            if span.end > merged[-1].end:
                merged[-1] = merged[-1]._replace(end=span.end)
        else:
            merged.append(span)
    return merged


def _suspicious_lines(text: str) -> set[tuple[int, int]]:
    """The few lines that are worth a closer look; finding them is most of the work, so it uses no pattern."""
    lower = text.lower()
    if len(lower) != len(text):  # a few letters outside ASCII change their length
        lower = text
    lines: set[tuple[int, int]] = set()
    for hint, followers in _HINTS:
        at = lower.find(hint)
        while at >= 0:
            after = at + len(hint)
            at = after
            if not followers or lower[after : after + 1] in followers:
                end = text.find("\n", after)
                end = len(text) if end < 0 else end
                lines.add((text.rfind("\n", 0, after) + 1, end))
                at = end
            at = lower.find(hint, at)
    at = lower.find("://")
    while at >= 0:
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        if text.find("@", at, end) >= 0:
            lines.add((text.rfind("\n", 0, at) + 1, end))
        at = lower.find("://", end)
    return lines


def _found(line: str, offset: int) -> Iterator[_Span]:
    for shape in _SHAPE.finditer(line):
        kind = _SHAPES[int(str(shape.lastgroup)[1:])][0]
        yield _Span(offset + shape.start(), offset + shape.end(), kind)
    for kind, pattern, shortest in _NAMES:
        for match in pattern.finditer(line):
            groups = match.groupdict()
            group = next(name for name in ("double", "single", "bare") if groups.get(name) is not None)
            if len(match[group]) >= shortest and _is_secret(kind, groups.get("name") or "", match[group]):
                yield _Span(offset + match.start(group), offset + match.end(group), kind)


def _is_secret(kind: str, name: str, value: str) -> bool:
    """Whether the value looks like one, where the name before it alone does not tell."""
    if _NO_SECRET.fullmatch(value):
        return False
    has_digit = any(letter.isdigit() for letter in value)
    if kind == "token":
        looks_random = len(value) >= 24 or (has_digit and any(letter.isalpha() for letter in value))
        return looks_random and _MODEL_TOKEN.search(name) is None
    if kind == "netrc password":
        return has_digit
    if kind == "bearer":
        return has_digit or any(letter.isupper() for letter in value[1:])
    return True


def _private_keys(text: str) -> Iterator[_Span]:
    if "PRIVATE KEY" not in text:
        return
    at = 0
    while begin := _KEY_BEGIN.search(text, at):
        end = _KEY_END.search(text, begin.end())
        at = end.end() if end else len(text)
        yield _Span(begin.start(), at, "private key")
    first_end = _KEY_END.search(text)
    first_begin = _KEY_BEGIN.search(text)
    if first_end and (first_begin is None or first_end.start() < first_begin.start()):
        # The excerpt begins inside a key.
        before = _KEY_LINES.search(text[: first_end.start()])
        yield _Span(before.start() if before else first_end.start(), first_end.end(), "private key")
