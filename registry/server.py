"""One server of Redis: its connections, and how commands go over one of them.

The client library's pipelines are not used: ours need a redirect of a Cluster noticed per command, and no repeats.
"""

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from redis import exceptions as answers
from redis.asyncio import Connection, ConnectionPool, Redis, SSLConnection, UnixDomainSocketConnection
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from registry.address import Address

Command = Sequence[str | bytes | int | float]
Place = tuple[str, int]
"""Host and port; the port of a unix socket is 0."""

CONNECT_SECONDS: Final = 2.0
MOST_CONNECTIONS: Final = 256
# The library would tell each server its own name and version: two more answers, and a right that roles need not have.
_UNNAMED: Final = (
    {"driver_info": None}
    if "driver_info" in inspect.signature(AbstractConnection).parameters
    else {"lib_name": None, "lib_version": None}
)


class Server:
    """One server, with connections for quick calls and for those that wait at the server."""

    def __init__(self, place: Place, options: Mapping[str, Any], read_seconds: float) -> None:
        self.place = place
        self._options = options
        self._read_seconds = read_seconds
        self._clients: dict[bool, Any] = {}

    def __str__(self) -> str:
        host, port = self.place
        return f"{host}:{port}" if port else host

    @property
    def quick(self) -> Any:
        """The client for calls that are answered at once."""
        return self._client(waits=False)

    @property
    def slow(self) -> Any:
        """The client for blocking reads: they must not meet a socket limit meant for quick calls."""
        return self._client(waits=True)

    async def renew(self) -> None:
        """Make new connections from here on: they read certificates anew, and old ones end with what they do."""
        await self._close(inuse_connections=False)

    async def aclose(self) -> None:
        """Close all connections, also those in use."""
        await self._close(inuse_connections=True)

    async def _close(self, **which: bool) -> None:
        clients, self._clients = self._clients, {}
        for client in clients.values():
            with suppress(answers.RedisError, OSError):
                await client.connection_pool.disconnect(**which)

    def _client(self, *, waits: bool) -> Any:
        if waits not in self._clients:
            pool = ConnectionPool(**self._options, socket_timeout=None if waits else self._read_seconds)
            self._clients[waits] = Redis(connection_pool=pool)
        return self._clients[waits]


def server_maker(
    address: Address, name: str, read_seconds: float, *, login: Mapping[str, Any]
) -> Callable[..., Server]:
    """Return what makes the servers of an address, given host and port."""
    options: dict[str, Any] = {
        "protocol": 2,
        "retry": Retry(NoBackoff(), 0),
        "socket_connect_timeout": CONNECT_SECONDS,
        "client_name": name,
        "max_connections": MOST_CONNECTIONS,
        **_UNNAMED,
        **login,
    }

    def make(place: Place) -> Server:
        if address.path:
            own = {"connection_class": UnixDomainSocketConnection, "path": address.path}
        else:
            host, port = place
            own = {"host": host, "port": port, "socket_keepalive": True}
            own |= (
                {"connection_class": SSLConnection, **address.tls}
                if address.is_tls
                else {"connection_class": Connection}
            )
        return Server(place, options | own, read_seconds)

    return make


@asynccontextmanager
async def line(client: Any) -> AsyncIterator[Any]:
    """Give one connection of a client; it is closed when the block fails, since answers may still be under way."""
    pool = client.connection_pool
    connection = await pool.get_connection()
    try:
        yield connection
    except BaseException:
        await asyncio.shield(connection.disconnect(nowait=True))
        raise
    finally:
        await asyncio.shield(pool.release(connection))


async def ask(client: Any, connection: Any, commands: Sequence[Command], *, asking: bool = False) -> list[Any]:
    """Send commands in one go and return their answers in order, errors of the server among them.

    `asking`: the key is on its way to this server of a Cluster, which serves it only when asked so.
    """
    sent = [part for command in commands for part in ((("ASKING",), command) if asking else (command,))]
    await connection.send_packed_command(connection.pack_commands(sent))
    got = []
    for command in commands:
        if asking:
            await _answer(client, connection, "ASKING")
        got.append(await _answer(client, connection, command[0]))
    return got


async def transact(client: Any, connection: Any, commands: Sequence[Command], *, asking: bool = False) -> list[Any]:
    """Run commands as one transaction and return their answers, errors among them.

    Raises:
        WatchError: A watched key changed; nothing was written.
        ResponseError: The server did not take the transaction; nothing was written.
    """
    asked = await ask_plainly(connection, [("ASKING",)] * asking + [("MULTI",), *commands, ("EXEC",)])
    *queued, done = asked[asking:]
    refused = next((answer for answer in queued if isinstance(answer, answers.ResponseError)), None)
    if refused is not None:
        raise refused
    if isinstance(done, Exception):
        raise done
    if done is None:
        raise answers.WatchError("a watched key changed")
    callbacks = client.response_callbacks
    return [
        answer if isinstance(answer, Exception) or command[0] not in callbacks else callbacks[command[0]](answer)
        for command, answer in zip(commands, done, strict=True)
    ]


async def ask_plainly(connection: Any, commands: Sequence[Command]) -> list[Any]:
    """Send commands in one go and return their answers as they came over the wire."""
    await connection.send_packed_command(connection.pack_commands(commands))
    got: list[Any] = []
    for _ in commands:
        try:
            got.append(await connection.read_response())
        except answers.ResponseError as said:
            got.append(said)
    return got


async def _answer(client: Any, connection: Any, name: str | bytes | float) -> Any:
    try:
        return await client.parse_response(connection, name)
    except answers.ResponseError as said:
        return said
