"""Asking nodes: a request with a deadline to some watchers, and their answers as they come."""

import logging
import re
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from diagnosis.observations import Heartbeat
from registry import keys, wire
from registry.clock import RegistryClock
from registry.door import Door
from registry.signing import BODY, FIELD, SIGNATURE, Signing

LIFE_SECONDS = 3600
_LONGEST_BLOCK = 5.0
_MOST_REQUESTS = 1000
_ID = re.compile(r"[0-9a-f]{16}")
NOT_SIGNED = "this watcher takes only requests that are signed with its RUNWATCH_REQUEST_KEY"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Request:
    """What somebody asks of a watcher."""

    id: str
    watcher: str
    kind: str
    payload: Mapping[str, Any]
    deadline: float
    """Unix seconds on the registry's clock; later answers are of no use."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a watcher answered."""

    request_id: str
    watcher: str
    body: Mapping[str, Any]
    is_last: bool = True
    """False: more comes from this watcher."""


class Requests:
    """The door to requests and answers."""

    def __init__(self, door: Door, clock: RegistryClock, signing: Signing | None = None) -> None:
        self._door = door
        self._clock = clock
        self._signing = signing
        self._read: dict[str, str] = {}
        self._seen: dict[str, dict[str, float]] = {}
        """Watcher → id → deadline of what was taken."""
        self.refused = 0
        """Requests to this process that nobody with the key can have made."""

    @property
    def heartbeat_fields(self) -> Mapping[str, str]:
        """What a watcher's heartbeat must say so that it can be asked."""
        return {FIELD: self._signing.word} if self._signing is not None else {}

    @property
    def problem(self) -> str:
        """In words, that somebody asks who must not; empty: nobody did."""
        many = f"{self.refused:,} requests were" if self.refused > 1 else "a request was"
        return f"{many} refused: not signed with this watcher's key" if self.refused else ""

    async def ask(self, watchers: str | Sequence[str], kind: str, payload: Mapping[str, Any], deadline: float) -> str:
        """Ask one or several watchers; `deadline` is on the registry's clock. Returns the request's id."""
        request_id = secrets.token_hex(8)
        commands: list[Sequence[Any]] = []
        names = [watchers] if isinstance(watchers, str) else list(watchers)
        body = wire.dump({"id": request_id, "kind": kind, "payload": payload, "deadline": deadline})
        for watcher, signature in zip(names, await self._signatures(names, body), strict=True):
            key = keys.requests(watcher)
            # A repeat after a broken connection is harmless: the watcher takes each request id once.
            commands += [
                ("XADD", key, "MAXLEN", "~", _MOST_REQUESTS, "*", BODY, body, *signature),
                ("EXPIRE", key, LIFE_SECONDS),
            ]
        await self._door.many(commands)
        return request_id

    async def next(self, watcher: str, block: float = _LONGEST_BLOCK) -> list[Request]:
        """Return requests to this watcher that can still be answered, waiting up to `block` seconds for some."""
        key = keys.requests(watcher)
        if watcher not in self._read:
            # What was asked while we started is still wanted, if its deadline has not passed.
            self._read[watcher] = f"{int((await self._clock.now() - 60) * 1000)}-0"
        found = await self._door.blocking(
            *("XREAD", "COUNT", 50, "BLOCK", max(1, int(block * 1000)), "STREAMS", key, self._read[watcher]),
            block_seconds=block,
        )
        entries = found[0][1] if found else []
        now = await self._clock.now() if entries else 0.0
        wanted = []
        for entry_id, content in entries:
            self._read[watcher] = entry_id.decode()
            request = _request(watcher, content or {})
            if request is None or now >= request.deadline:
                continue
            # Before its id is remembered: a forged twin must not take a good one's place.
            if self._signing is not None and not self._signing.fits(watcher, content, word=self._word_of(watcher)):
                await self._refuse(request)
            elif self._is_new(request):
                wanted.append(request)
        return wanted

    async def answer(self, request: Request, body: Mapping[str, Any], *, is_last: bool = True) -> None:
        """Answer a request."""
        key = keys.answers(request.id)
        data = wire.dump({"watcher": request.watcher, "body": body, "last": is_last})
        await self._door.together([("XADD", key, "*", "b", data), ("EXPIRE", key, LIFE_SECONDS)])

    async def answers(self, request_id: str, until: float) -> AsyncIterator[Answer]:
        """Yield answers as they come, until a time on the registry's clock; whoever has all it waits for stops.

        An answer may come twice if the watcher had to repeat it: keep the last one per watcher.
        """
        key, after = keys.answers(request_id), "0-0"
        while (left := until - await self._clock.estimate()) > 0:
            block = min(left, _LONGEST_BLOCK)
            found = await self._door.blocking(
                *("XREAD", "COUNT", 100, "BLOCK", max(1, int(block * 1000)), "STREAMS", key, after),
                block_seconds=block,
            )
            for entry_id, content in found[0][1] if found else []:
                after = entry_id.decode()
                if (answer := _answer(request_id, content or {})) is not None:
                    yield answer

    async def gather(self, request_id: str, watchers: Sequence[str], until: float) -> dict[str, Answer]:
        """Return the last answer of each watcher, as soon as all have answered or at the time given."""
        got: dict[str, Answer] = {}
        waiting = set(watchers)
        answers = self.answers(request_id, until)
        try:
            async for answer in answers:
                got[answer.watcher] = answer
                if answer.is_last:
                    waiting.discard(answer.watcher)
                if not waiting:
                    break
        finally:
            await answers.aclose()  # type: ignore[attr-defined]
        return got

    async def _signatures(self, watchers: Sequence[str], body: bytes) -> list[tuple[str, ...]]:
        """What stands beside the body for each; nothing where there is no key."""
        if self._signing is None:
            return [()] * len(watchers)
        heard = [watcher for watcher in watchers if not _is_bot(watcher)]
        found = await self._door.many([("HGETALL", keys.heartbeat(watcher)) for watcher in heard])
        words = {watcher: _word(fields.get(b"heartbeat")) for watcher, fields in zip(heard, found, strict=True)}
        return [(SIGNATURE, self._signing.sign(watcher, words.get(watcher, ""), body)) for watcher in watchers]

    def _word_of(self, watcher: str) -> str:
        return self._signing.word if self._signing is not None and not _is_bot(watcher) else ""

    async def _refuse(self, request: Request) -> None:
        """Count it, and tell whoever asked: most likely another bot of ours that lacks the key."""
        self.refused += 1
        logger.warning("refused a request (%.20r) to %s that is not signed with the key", request.kind, request.watcher)
        if _ID.fullmatch(request.id):
            await self.answer(request, {"error": NOT_SIGNED})

    def _is_new(self, request: Request) -> bool:
        seen = self._seen.setdefault(request.watcher, {})
        if request.id in seen:
            return False
        if len(seen) >= _MOST_REQUESTS:
            # The first to expire goes: it is the first that can no longer be taken a second time.
            del seen[min(seen, key=seen.__getitem__)]
        seen[request.id] = request.deadline
        return True


def _is_bot(name: str) -> bool:
    """Bots that ask each other have no heartbeat of a watcher, and so no word."""
    return name.startswith("bot/")


def _word(heartbeat: bytes | None) -> str:
    try:
        fields = wire.decode_as(Heartbeat, heartbeat or b"").fields
    except (KeyError, TypeError, ValueError):
        return ""
    return str(fields.get(FIELD, ""))


def _request(watcher: str, content: Mapping[bytes, bytes]) -> Request | None:
    try:
        body = wire.load(content[b"b"])
        return Request(str(body["id"]), watcher, str(body["kind"]), dict(body["payload"]), float(body["deadline"]))
    except (KeyError, TypeError, ValueError):
        return None


def _answer(request_id: str, content: Mapping[bytes, bytes]) -> Answer | None:
    try:
        body = wire.load(content[b"b"])
        return Answer(request_id, str(body["watcher"]), dict(body["body"]), is_last=bool(body["last"]))
    except (KeyError, TypeError, ValueError):
        return None
