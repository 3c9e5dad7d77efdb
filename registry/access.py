"""Who sends which commands to which key: each role's rights are derived from here, so nobody holds more than it uses.

One row per key of the page in `keys.py`; a test leads each role's whole life and compares what it sent with this.
`watcher` is one node's process, `bot` also answers commands and sweeps, `reader` is a terminal that only looks.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Role(StrEnum):
    """Who connects."""

    WATCHER = "watcher"
    BOT = "bot"
    READER = "reader"


@dataclass(frozen=True, slots=True)
class Access:
    """The commands each role sends to a key, in words; a subcommand follows a bar."""

    watcher: str = ""
    bot: str = ""
    reader: str = ""

    def of(self, role: Role) -> tuple[str, ...]:
        """Return the commands of one role."""
        return tuple(str(getattr(self, role)).split())


EVERYBODY: Final = "PING TIME SELECT CLIENT|SETNAME CLUSTER|SLOTS ASKING"
"""Without a key. The last two only a Cluster hears."""
WITHOUT_KEY: Final[Mapping[Role, str]] = MappingProxyType(
    {
        Role.WATCHER: f"{EVERYBODY} MULTI EXEC UNWATCH PUBLISH",
        Role.BOT: f"{EVERYBODY} MULTI EXEC UNWATCH PUBLISH SUBSCRIBE INFO",
        Role.READER: f"{EVERYBODY} INFO",
    }
)

ACCESS: Final[Mapping[str, Access]] = MappingProxyType(
    {
        "rw:runs": Access("ZADD", "MEMORY|USAGE ZCARD ZRANGE ZRANGEBYSCORE ZREM ZREVRANGE", "MEMORY|USAGE ZREVRANGE"),
        "rw:watchers": Access("ZADD", "MEMORY|USAGE ZRANGE ZREM ZREMRANGEBYSCORE", "MEMORY|USAGE ZRANGE"),
        "rw:streams": Access("ZADD", "MEMORY|USAGE ZADD ZRANGE ZRANGEBYSCORE ZREM", "MEMORY|USAGE ZRANGE"),
        "rw:servers": Access("", "ZADD ZCARD ZREMRANGEBYRANK ZSCORE", ""),
        "rw:run:{R}": Access("HGET HSET HSETNX", "DEL HGETALL HMGET HSET MEMORY|USAGE", "HGETALL HMGET MEMORY|USAGE"),
        "rw:run:{R}:attempts": Access(
            "HGET HSET WATCH", "DEL HDEL HGETALL HKEYS HLEN MEMORY|USAGE", "HGETALL MEMORY|USAGE"
        ),
        "rw:run:{R}:ranks": Access("EXPIRE HSET HVALS", "DEL HVALS MEMORY|USAGE", "HVALS MEMORY|USAGE"),
        "rw:run:{R}:watchers": Access("EXPIRE ZADD", "DEL MEMORY|USAGE ZRANGE", "MEMORY|USAGE ZRANGE"),
        "rw:run:{R}:writer": Access("EXPIRE GET SET WATCH", "DEL MEMORY|USAGE", "MEMORY|USAGE"),
        "rw:run:{R}:series": Access(
            "HGET HGETALL HMGET HSET WATCH", "DEL HDEL HGETALL HKEYS HLEN MEMORY|USAGE", "HGETALL MEMORY|USAGE"
        ),
        "rw:run:{R}:tail": Access(
            "EXISTS EXPIRE LRANGE LSET LTRIM RPUSH", "DEL LRANGE MEMORY|USAGE", "LRANGE MEMORY|USAGE"
        ),
        "rw:run:{R}:roll:N": Access("GET SET SETRANGE", "DEL GET MEMORY|USAGE", "GET MEMORY|USAGE"),
        "rw:run:{R}:marks": Access("HLEN HSET", "DEL HDEL HGETALL HKEYS HLEN MEMORY|USAGE", "HGETALL MEMORY|USAGE"),
        "rw:run:{R}:incidents": Access(
            "", "DEL MEMORY|USAGE ZADD ZRANGE ZREMRANGEBYSCORE ZREVRANGE", "MEMORY|USAGE ZREVRANGE"
        ),
        "rw:hb:{W}": Access("HSET PEXPIRE", "DEL HGETALL MEMORY|USAGE PTTL", "HGETALL MEMORY|USAGE PTTL"),
        "rw:ev:{W}:EPOCH": Access(
            "WATCH XADD XINFO|STREAM XRANGE",
            "DEL MEMORY|USAGE XADD XINFO|STREAM XLEN XRANGE XTRIM",
            "MEMORY|USAGE XINFO|STREAM XLEN",
        ),
        "rw:floor:{W}": Access("HGET HSET WATCH", "HDEL HGET", "HGET"),
        "rw:led:{W}": Access("HGET", "HDEL HGET HINCRBY HKEYS HMGET HSET MEMORY|USAGE WATCH", "HGET MEMORY|USAGE"),
        "rw:dead": Access("", "MEMORY|USAGE ZADD ZREMRANGEBYSCORE ZREVRANGE", "MEMORY|USAGE ZREVRANGE"),
        "rw:dead:{W}": Access("", "EXPIRE HDEL HGETALL HLEN HSET MEMORY|USAGE", "HGETALL MEMORY|USAGE"),
        "rw:incident:{I}": Access("", "DEL EXPIRE HGETALL HSET MEMORY|USAGE PERSIST", "HGETALL MEMORY|USAGE"),
        "rw:incident:{I}:timeline": Access(
            "", "DEL EXPIRE HGETALL HSETNX MEMORY|USAGE PERSIST", "HGETALL MEMORY|USAGE"
        ),
        "rw:incidents": Access("", "MEMORY|USAGE ZADD ZREM ZREMRANGEBYSCORE ZREVRANGE", "MEMORY|USAGE ZREVRANGE"),
        "rw:incidents:open": Access("", "MEMORY|USAGE ZADD ZRANGE ZREM", "MEMORY|USAGE ZRANGE"),
        "rw:mutes": Access("", "HDEL HGETALL HSET MEMORY|USAGE", "HGETALL MEMORY|USAGE"),
        "rw:routes": Access("", "HDEL HGETALL HSET MEMORY|USAGE", "HGETALL MEMORY|USAGE"),
        "rw:digests": Access("", "HDEL HGETALL HSET MEMORY|USAGE", "HGETALL MEMORY|USAGE"),
        "rw:languages": Access("", "HDEL HGETALL HSET MEMORY|USAGE", "HGETALL MEMORY|USAGE"),
        "rw:audit": Access("", "MEMORY|USAGE WATCH XADD XRANGE XREVRANGE XTRIM", "MEMORY|USAGE XRANGE XREVRANGE"),
        "rw:lease:{NAME}": Access("", "DEL GET SET WATCH", ""),
        "rw:seen:NAME": Access("", "SET", ""),
        "rw:req:{W}": Access("XREAD", "EXPIRE XADD XREAD", ""),
        "rw:ans:{Q}": Access("EXPIRE XADD", "EXPIRE XADD XREAD", ""),
    }
)
"""Key → what watcher, bot and reader send to it."""
CHANNELS: Final[Mapping[Role, tuple[str, ...]]] = MappingProxyType(
    {Role.WATCHER: ("rw:wake",), Role.BOT: ("rw:wake",), Role.READER: ()}
)
