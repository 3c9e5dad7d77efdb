"""Which encoding a text is written in: told by the words that training logs use, not by how often letters come.

A log is ASCII but for a few words, far too little for a guess by frequencies; but a text that says `损失` or `шаг` says
it in one encoding alone.
"""

from codecs import getincrementaldecoder

from diagnosis.formats.tongues import count_words

UTF_8 = "utf-8"
PEEK = 1 << 18
"""Bytes of the beginning by which it is told."""
FEWEST_LINES = 3
"""So many lines with letters that nobody can read are worth a word; one or two are some program's garbage."""
_WIDE = ("utf-16-le", "utf-16-be")
_LEGACY = ("gb18030", "cp932", "cp949", "big5", "euc_jp", "cp1252", "cp1251", "cp1254")
_MOSTLY = 0.9
_CLEARLY = 3
"""Where so many times more letters are UTF-8 than are not, somebody cut them: chance gives one for each."""


def encoding_of(head: bytes) -> str | None:
    """The encoding of a text that begins so; None when it is none that is known here, or no text."""
    if head.isascii() and b"\0" not in head:
        return UTF_8
    if b"\0" in head:
        wide = next((name for place, name in enumerate(_WIDE) if _is_wide(head, 1 - place)), None)
        return wide or encoding_of(head.replace(b"\0", b""))  # a hole, where somebody truncated it under its writer
    decoded = _decoded(head, UTF_8)
    lost = decoded.count("\ufffd") - head.count("\ufffd".encode())
    if lost <= 0:
        return UTF_8
    words = {name: count_words(_decoded(head, name)) for name in (UTF_8, *_LEGACY)}
    best = max(words, key=words.__getitem__)
    if words[best]:
        return best
    lines = sum("\ufffd" in line for line in decoded.split("\n"))
    read = sum(letter > "\x7f" for letter in decoded) - lost
    return None if lines >= FEWEST_LINES and read <= _CLEARLY * lost else UTF_8


def _is_wide(head: bytes, place: int) -> bool:
    """Two bytes a letter, of which one is nearly always zero."""
    high, low = head[place::2], head[1 - place :: 2]
    return high.count(0) > _MOSTLY * len(high) and low.count(0) < len(low) // 10 and b"\n\0" in head + b"\0"


def _decoded(head: bytes, name: str) -> str:
    """Without a letter that the end has cut."""
    return getincrementaldecoder(name)("replace").decode(head)
