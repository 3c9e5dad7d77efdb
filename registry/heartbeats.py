"""Which watchers live, and what each last observed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from diagnosis.observations import GpuSample, Heartbeat, ProcessSample
from registry import keys, wire
from registry.clock import RegistryClock
from registry.door import Door


@dataclass(frozen=True, slots=True)
class Beat:
    """A watcher's last heartbeat, and how old it is on the registry's own clock."""

    heartbeat: Heartbeat
    gpus: tuple[GpuSample, ...] = ()
    processes: tuple[ProcessSample, ...] = ()
    age_seconds: float = 0.0
    ttl_seconds: float = 0.0

    @property
    def is_silent(self) -> bool:
        """True when the next heartbeat is overdue."""
        return self.age_seconds > self.ttl_seconds


class Heartbeats:
    """The door to heartbeats."""

    def __init__(self, door: Door, clock: RegistryClock) -> None:
        self._door = door
        self._clock = clock

    async def beat(
        self,
        heartbeat: Heartbeat,
        gpus: Sequence[GpuSample] = (),
        processes: Sequence[ProcessSample] = (),
        ttl: float = 15.0,
    ) -> None:
        """Say that this watcher lives, what it last saw, and for how many seconds that may stand."""
        key = keys.heartbeat(heartbeat.watcher)
        now = await self._clock.estimate()
        # The key outlives the heartbeat by a day, so that a lost node is still known; the time that is left
        # of its life tells the heartbeat's age on the server's own clock.
        life_ms = int((ttl + keys.DAY) * 1000)
        commands: list[Sequence[Any]] = [
            (
                *("HSET", key, "heartbeat", wire.encode(heartbeat), "ttl", repr(float(ttl))),
                *("gpus", wire.dump([wire.plain(gpu) for gpu in gpus])),
                *("processes", wire.dump([wire.plain(process) for process in processes])),
            ),
            ("PEXPIRE", key, life_ms),
            ("ZADD", keys.WATCHERS, now, heartbeat.watcher),
        ]
        for run in heartbeat.runs:
            index = keys.run(run, "watchers")
            commands += [("ZADD", index, now, heartbeat.watcher), ("EXPIRE", index, keys.WEEK)]
        await self._door.many(commands)

    async def get(self, watcher: str) -> Beat | None:
        """Return a watcher's last heartbeat of the last day, or None."""
        return (await self._read([watcher])).get(watcher)

    async def all(self) -> list[Beat]:
        """Return the last heartbeat of every watcher heard of within a day, silent ones too."""
        return await self._indexed(keys.WATCHERS)

    async def of_run(self, run: str) -> list[Beat]:
        """Return the last heartbeats of the watchers that named this run."""
        return await self._indexed(keys.run(run, "watchers"))

    async def tidy(self) -> int:
        """Drop watchers that were not heard for a week from the list; how many."""
        oldest = await self._clock.estimate() - keys.WEEK
        return int(await self._door.call("ZREMRANGEBYSCORE", keys.WATCHERS, "-inf", oldest))

    async def forget(self, watcher: str) -> None:
        """Forget a watcher that was taken away on purpose."""
        await self._door.many([("ZREM", keys.WATCHERS, watcher), ("DEL", keys.heartbeat(watcher))])

    async def _indexed(self, index: str) -> list[Beat]:
        names = [name.decode() for name in await self._door.call("ZRANGE", index, 0, -1)]
        return list((await self._read(names)).values())

    async def _read(self, watchers: Sequence[str]) -> dict[str, Beat]:
        commands: list[Sequence[str]] = []
        for watcher in watchers:
            commands += [("HGETALL", keys.heartbeat(watcher)), ("PTTL", keys.heartbeat(watcher))]
        found = await self._door.many(commands)
        beats = {}
        for watcher, fields, left_ms in zip(watchers, found[::2], found[1::2], strict=True):
            if (beat := _beat(fields, left_ms)) is not None:
                beats[watcher] = beat
        return beats


def _beat(fields: Mapping[bytes, bytes], left_ms: int) -> Beat | None:
    try:
        heartbeat = wire.decode_as(Heartbeat, fields[b"heartbeat"])
        ttl = float(fields[b"ttl"])
        return Beat(
            heartbeat,
            tuple(wire.build(GpuSample, gpu) for gpu in wire.load(fields.get(b"gpus", b"[]"))),
            tuple(wire.build(ProcessSample, process) for process in wire.load(fields.get(b"processes", b"[]"))),
            age_seconds=max(0.0, ttl + keys.DAY - left_ms / 1000),
            ttl_seconds=ttl,
        )
    except (KeyError, ValueError, TypeError):
        return None
