"""Requests that only somebody with the key can have made: whoever may merely write to Redis orders nothing of a node.

The key is one secret of bots and watchers, and never in Redis. What is signed is the request itself, to whom it goes,
and a word that this watcher's process made up at its start: so a request that was once good is none for another node,
nor for the same one after a restart; within a life each id is taken once.
"""

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from typing import Final

BODY: Final = "b"
SIGNATURE: Final = "s"
FIELD: Final = "requests"
"""Where a heartbeat says the word."""
LEAST_CHARACTERS: Final = 16


class Signing:
    """Signs what goes to watchers, and checks what came to this one."""

    def __init__(self, key: str) -> None:
        if len(key) < LEAST_CHARACTERS:
            raise ValueError(f"RUNWATCH_REQUEST_KEY has at least {LEAST_CHARACTERS} characters.")
        self._key = key.encode()
        self.word = secrets.token_hex(16)
        """Of this process, as a watcher."""

    def sign(self, watcher: str, word: str, body: bytes) -> str:
        """Return the signature of a request to this watcher, whose heartbeat says this word."""
        parts = (b"runwatch request 2", watcher.encode("utf-8", "surrogatepass"), word.encode("utf-8", "surrogatepass"))
        # Each with its length: names and words stand in Redis, and what is part of one must not pass for the body.
        told = b"".join(b"%d:%b" % (len(part), part) for part in (*parts, body))
        return hmac.new(self._key, told, hashlib.sha256).hexdigest()

    def fits(self, watcher: str, content: Mapping[bytes, bytes], *, word: str) -> bool:
        """Whether this entry was signed for this watcher."""
        body, said = content.get(BODY.encode(), b""), content.get(SIGNATURE.encode(), b"")
        return hmac.compare_digest(self.sign(watcher, word, body).encode(), said)
