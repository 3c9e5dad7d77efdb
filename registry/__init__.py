"""The only door to Redis: runs, series, findings, heartbeats, incidents, requests."""

from diagnosis.errors import Mistake
from registry.errors import (
    BadAddress,
    Forgotten,
    Overtaken,
    Refused,
    RegistryAway,
    RegistryError,
    RegistryFull,
    UnknownRun,
)
from registry.events import Event
from registry.heartbeats import Beat
from registry.keys import StreamId
from registry.lease import Lease
from registry.ledger import Entry, Intent, Place
from registry.registry import Registry, connect
from registry.requests import Answer, Request
from registry.runs import Run

__all__ = [
    "Answer",
    "BadAddress",
    "Beat",
    "Entry",
    "Event",
    "Forgotten",
    "Intent",
    "Lease",
    "Mistake",
    "Overtaken",
    "Place",
    "Refused",
    "Registry",
    "RegistryAway",
    "RegistryError",
    "RegistryFull",
    "Request",
    "Run",
    "StreamId",
    "UnknownRun",
    "connect",
]
