"""Which runs there are, what is known of each, and its attempts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from diagnosis.observations import NO_TEXT
from diagnosis.series import AttemptSpan
from registry import keys, wire
from registry.clock import RegistryClock
from registry.door import Command, Door
from registry.errors import UnknownRun, near_names

R = TypeVar("R", bound="Run")


@dataclass(frozen=True, slots=True)
class Run:
    """What the registry knows of one run. None: nobody said."""

    name: str
    state: str = "running"
    """running, finished, crashed, killed, preempted, stalled, ended, unknown."""
    owner: str | None = None
    channel: str | None = None
    """Where its incidents are told; None: the default channel."""
    attempt: int = 0
    world_size: int | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    first_step: int | None = None
    last_step: int | None = None
    total_steps: int | None = None
    last_loss: float | None = None
    last_grad_norm: float | None = None
    last_lr: float | None = None
    step_seconds: float | None = None
    tokens_per_second: float | None = None
    first_seen: float | None = None
    """Unix seconds on the registry's clock."""
    last_seen: float | None = None
    last_progress: float | None = None
    log: str | None = None
    """A path of its log on one of its nodes, for people."""
    dialect: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Whatever else a writer said, under its own names."""


LIMITS = "limits"
"""The fact of a run that holds its own thresholds, by name."""
_KNOWN = {item.name for item in fields(Run)} - {"name", "facts"}


class Runs:
    """The door to runs and their attempts."""

    def __init__(self, door: Door, clock: RegistryClock) -> None:
        self._door = door
        self._clock = clock

    async def see(self, run: str, **facts: Any) -> None:
        """Register a run, or say that it lives; a fact of None is left as it was."""
        now = await self._clock.estimate()
        key = keys.run(run)
        await self._door.many(
            [
                ("HSETNX", key, "first_seen", wire.dump(now)),
                ("HSET", key, *_pairs({"last_seen": now, **facts})),
                ("ZADD", keys.RUNS, now, run),
            ]
        )

    async def update(self, run: str, **facts: Any) -> None:
        """Change facts of a run without saying that it lives."""
        if pairs := _pairs(facts):
            await self._door.call("HSET", keys.run(run), *pairs)

    async def limits(self, run: str) -> dict[str, float]:
        """Return the thresholds that people set for a run, by name; other versions may have set others."""
        data = await self._door.call("HGET", keys.run(run), LIMITS)
        try:
            told = wire.load(data) if data else {}
        except wire.Unreadable:
            return {}
        found = {str(name): wire.number(value) for name, value in told.items()} if isinstance(told, dict) else {}
        return {name: value for name, value in found.items() if value is not None}

    async def get(self, name: str) -> Run | None:
        """Return a run, or None."""
        if not keys.is_name(name):
            return None
        found = await self._door.call("HGETALL", keys.run(name))
        return _run(name, found) if found else None

    async def find(self, name: str) -> Run:
        """Return a run; raises UnknownRun with near names."""
        found = await self.get(name)
        if found is None:
            raise UnknownRun(name, near_names(name, await self.names(2000)))
        return found

    async def names(self, limit: int = 1000) -> list[str]:
        """Return names of runs, the most recently active first."""
        found = await self._door.call("ZREVRANGE", keys.RUNS, 0, limit - 1)
        return [name.decode() for name in found]

    async def heard(self, since: float, limit: int = 10_000) -> dict[str, float]:
        """Return runs and when each was last active, the newest first, back to a time (Unix s)."""
        found = await self._door.call("ZREVRANGE", keys.RUNS, 0, limit - 1, "WITHSCORES")
        pairs = zip(found[::2], found[1::2], strict=True)
        return {name.decode(): float(at) for name, at in pairs if float(at) >= since}

    async def all(self, limit: int = 100) -> list[Run]:
        """Return runs, the most recently active first."""
        return await self.many(await self.names(limit))

    async def many(self, names: Sequence[str]) -> list[Run]:
        """Return these runs, in this order; one that is gone is left out."""
        found = await self._door.many([("HGETALL", keys.run(name)) for name in names])
        return [_run(name, facts) for name, facts in zip(names, found, strict=True) if facts]

    async def partly(self, names: Sequence[str], facts: Sequence[str]) -> list[Run]:
        """Return these runs with only these facts read, in this order: enough to sort or count ten thousand.

        A run that is gone comes with nothing known.
        """
        if not facts:
            return [Run(name) for name in names]
        found = await self._door.many([("HMGET", keys.run(name), *facts) for name in names], chunk=2000)
        fields = [fact.encode() for fact in facts]
        return [
            _run(name, {field: data for field, data in zip(fields, told, strict=True) if data is not None})
            for name, told in zip(names, found, strict=True)
        ]

    async def begin_attempt(
        self,
        run: str,
        number: int,
        *,
        first_step: float | None = None,
        started: float | None = None,
        why: str = "",
        environment: Mapping[str, str] = NO_TEXT,
    ) -> None:
        """Say that an attempt began; saying it again changes nothing but what was not known."""
        await self._write_attempt(
            run, number, first_step=first_step, started=started, why=why, environment=dict(environment)
        )
        await self.update(run, attempt=number)

    async def end_attempt(
        self, run: str, number: int, end: str, *, last_step: float | None = None, ended: float | None = None
    ) -> None:
        """Say how an attempt ended: finished, crashed, killed, preempted, stalled, unknown."""
        await self._write_attempt(run, number, end=end, last_step=last_step, ended=ended)

    async def attempts(self, run: str) -> list[AttemptSpan]:
        """Return the attempts of a run in order."""
        return attempts_from(await self._door.call("HGETALL", keys.run(run, "attempts")))

    async def environments(self, run: str) -> dict[int, dict[str, str]]:
        """Return what each attempt's banner told of driver, versions, arguments and code."""
        found = await self._door.call("HGETALL", keys.run(run, "attempts"))
        return {number: dict(record.get("environment") or {}) for number, record in sorted(_attempt_records(found))}

    async def forget(self, run: str) -> None:
        """Remove a run and everything kept of it, its incidents too. Whoever still writes it begins it anew."""
        numbers, found = await self._door.many(
            [("HKEYS", keys.run(run, "series")), ("ZRANGE", keys.run(run, "incidents"), 0, -1)]
        )
        rolls = [keys.roll(run, int(number)) for number in numbers if number.isdigit()]
        incidents = [incident.decode() for incident in found]
        commands: list[Command] = [("DEL", keys.incident(one), keys.incident(one, "timeline")) for one in incidents]
        for index in (keys.INCIDENTS, keys.OPEN_INCIDENTS):
            commands += [("ZREM", index, *incidents)] if incidents else []
        # The run itself last: as long as it is listed, an interrupted forgetting can be done again.
        commands.append(("DEL", *(keys.run(run, part) for part in keys.RUN_PARTS), *rolls, keys.run(run)))
        await self._door.many(commands)
        await self._door.call("ZREM", keys.RUNS, run)

    async def _write_attempt(self, run: str, number: int, **facts: Any) -> None:
        key = keys.run(run, "attempts")
        async with self._door.watching(key) as look:
            stored = await look.read("HGET", key, str(number))
            record = _record(stored)
            record.update({name: value for name, value in facts.items() if value not in (None, "", {})})
            await look.commit([("HSET", key, str(number), wire.dump(record))])


def attempts_from(found: Mapping[bytes, bytes]) -> list[AttemptSpan]:
    """Return attempts in order from the hash that holds them."""
    spans = []
    for number, record in sorted(_attempt_records(found)):
        spans.append(
            AttemptSpan(
                number,
                first_step=wire.number(record.get("first_step")),
                last_step=wire.number(record.get("last_step")),
                started=wire.number(record.get("started")),
                ended=wire.number(record.get("ended")),
                end=str(record.get("end") or "unknown"),
            )
        )
    return spans


def _attempt_records(found: Mapping[bytes, bytes]) -> Sequence[tuple[int, dict[str, Any]]]:
    return [(int(number), _record(data)) for number, data in found.items() if number.lstrip(b"-").isdigit()]


def _record(data: bytes | None) -> dict[str, Any]:
    try:
        record = wire.load(data) if data else {}
    except wire.Unreadable:
        return {}
    return record if isinstance(record, dict) else {}


def _pairs(facts: Mapping[str, Any]) -> list[str | bytes]:
    pairs: list[str | bytes] = []
    for name, value in facts.items():
        if value is not None:
            pairs += [name, wire.dump(value)]
    return pairs


def _run(name: str, found: Mapping[bytes, bytes]) -> Run:
    known: dict[str, Any] = {}
    other: dict[str, Any] = {}
    for field_name, data in found.items():
        try:
            value = wire.load(data)
        except wire.Unreadable:
            continue
        text = field_name.decode("utf-8", "replace")
        (known if text in _KNOWN else other)[text] = value
    try:
        return wire.build(Run, {**known, "name": name, "facts": other})
    except wire.Unreadable:
        # One fact of the wrong kind must not hide the run: keep what is readable.
        good = {key: value for key, value in known.items() if _is_readable(key, value)}
        return wire.build(Run, {**good, "name": name, "facts": other})


def _is_readable(name: str, value: Any) -> bool:
    try:
        wire.build(Run, {"name": "x", name: value})
    except wire.Unreadable:
        return False
    return True
