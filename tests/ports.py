"""Ports for servers that must have one before they start, or keep it while they are away.

The kernel gives ports from 32768 up to whoever asks for any, and to every connection that goes out: one of those may be
gone a moment after it was found free, or may even be connected to itself. These lie below.
"""

import os
import random
import socket
from collections.abc import Iterator

HOST = "127.0.0.1"
BUS = 10_000
"""A Cluster's servers talk on their port plus this."""
_FIRST, _LAST = 10_240, 22_000
_WORKERS = 16
_SHARE = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % _WORKERS
"""Neighbours of one suite never look at the same port."""


def free_ports(count: int) -> list[int]:
    """Ports that are free now, and whose Cluster bus would be."""
    chance = random.SystemRandom()
    ports = [port for port in range(_FIRST, _LAST) if port % _WORKERS == _SHARE]
    found: Iterator[int] = (
        port for port in chance.sample(ports, len(ports)) if _is_free(port) and _is_free(port + BUS)
    )
    return [next(found) for _ in range(count)]


def free_port() -> int:
    """One of them."""
    return free_ports(1)[0]


def _is_free(port: int) -> bool:
    with socket.socket() as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            door.bind((HOST, port))
        except OSError:
            return False
    return True
