"""How a node's part of the evidence travels: packed small, cut to a size, and built again with every check."""

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any

from diagnosis.node_facts import LogAccount, NodeFacts
from diagnosis.observations import (
    AttemptMark,
    GpuSample,
    Observation,
    OptimizerSkip,
    PhaseMark,
    StepSample,
    Symptom,
)
from registry import wire

MOST_BYTES = 128 << 10
"""Packed, of one node; an answer may hold twice that."""
_MOST_UNPACKED = 16 << 20
_PIECE = 4000
"""Longer texts are shortened on the way."""
_KINDS: Mapping[str, type[Any]] = {
    "step": StepSample,
    "skip": OptimizerSkip,
    "phase": PhaseMark,
    "attempt": AttemptMark,
    "symptom": Symptom,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_CUTS = ((400, 24, 64), (200, 12, 32), (80, 6, 16), (24, 3, 6))
"""Rows of telling lines of each log and of GPU readings, last lines of a rank, steps; the next when it is too big."""


def pack(facts: NodeFacts, most_bytes: int = MOST_BYTES) -> list[str]:
    """A node's facts as short texts; what is worth least is left out until all of it fits."""
    packed = _packed(_plain(facts))
    for rows, lines, steps in _CUTS:
        if len(packed) <= most_bytes:
            break
        packed = _packed(_plain(_cut(facts, rows, lines, steps)))
    text = base64.b85encode(packed).decode("ascii")
    return [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]


def unpack(pieces: object) -> NodeFacts | None:
    """What `pack` was given; None: these are no facts that can be read."""
    if not isinstance(pieces, list) or not all(isinstance(piece, str) for piece in pieces):
        return None
    try:
        inflater = zlib.decompressobj()
        data = inflater.decompress(base64.b85decode("".join(pieces)), _MOST_UNPACKED)
        if inflater.unconsumed_tail:
            return None
        return _facts(json.loads(data))
    except (ValueError, zlib.error, RecursionError, TypeError, AttributeError):
        return None


def _packed(plain: Any) -> bytes:
    text = json.dumps(wire.jsonable(plain), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return zlib.compress(text.encode("utf-8", "backslashreplace"), 6)


def _plain(facts: NodeFacts) -> dict[str, Any]:
    plain = wire.plain(facts)
    plain["logs"] = [
        wire.plain(account) | {"observations": [_plain_observation(seen) for seen in account.observations]}
        for account in facts.logs
    ]
    return plain


def _plain_observation(seen: Observation) -> dict[str, Any]:
    return {"t": _NAMES[type(seen)], **wire.plain(seen)}


def _facts(plain: Any) -> NodeFacts:
    facts = wire.build(NodeFacts, {**plain, "logs": []})
    return replace(facts, logs=tuple(_account(log) for log in _list(plain.get("logs"))))


def _account(plain: Mapping[str, Any]) -> LogAccount:
    account = wire.build(LogAccount, {**plain, "observations": []})
    seen = tuple(item for told in _list(plain.get("observations")) if (item := _observation(told)) is not None)
    return replace(account, observations=seen)


def _observation(plain: Any) -> Observation | None:
    """None: a newer watcher says something we do not know."""
    kind = _KINDS.get(str(plain.get("t")))
    with suppress(wire.Unreadable):
        return None if kind is None else wire.build(kind, plain)
    return None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _cut(facts: NodeFacts, rows: int, lines: int, steps: int) -> NodeFacts:
    return replace(
        facts,
        logs=tuple(_cut_log(account, rows, lines, steps) for account in facts.logs),
        kernel=facts.kernel[-rows:],
        gpus=_thinned(facts.gpus, rows),
        processes=facts.processes[-4 * rows :],
        stacks=tuple(replace(dump, text=dump.text[: 100 * rows]) for dump in facts.stacks[:rows]),
    )


def _cut_log(account: LogAccount, rows: int, lines: int, steps: int) -> LogAccount:
    symptoms = [place for place, seen in enumerate(account.observations) if isinstance(seen, Symptom)]
    told = [place for place, seen in enumerate(account.observations) if isinstance(seen, StepSample)]
    # The first telling lines are what the others follow from; the last ones tell how it ended.
    kept = {*symptoms[: 3 * rows // 4], *symptoms[-rows // 4 :], *told[:1], *told[-steps:]}
    dropped = len(symptoms) - sum(place in kept for place in symptoms)
    return replace(
        account,
        observations=tuple(
            seen
            for place, seen in enumerate(account.observations)
            if place in kept or not isinstance(seen, Symptom | StepSample)
        ),
        newest={rank: found[-lines:] for rank, found in islice(account.newest.items(), rows)},
        dropped=account.dropped + dropped,
    )


def _thinned(samples: Sequence[GpuSample], rows: int) -> tuple[GpuSample, ...]:
    """Every so many readings, the newest ones whole: they tell how it stands."""
    if len(samples) <= rows:
        return tuple(samples)
    newest = samples[-rows // 2 :]
    older = samples[: -rows // 2]
    return (*older[:: max(1, 2 * len(older) // rows)], *newest)
