"""Whatever bytes stand where we read: an answer, no crash, no hang, nothing unpickled (RELIABILITY A27)."""

import hashlib
import json
import os
import pickle
import random
import time

import pytest

from registry import wire
from tests.counts import count, say
from tests.registry.values import finding
from watcher.bookmarks import Bookmarks
from watcher.records import Record, packed, records_in

pytestmark = pytest.mark.figure

INPUTS = count(2_000, 400_000)
FILES = count(300, 20_000)
LONGEST_SECONDS = 2.0
"""RELIABILITY asks for 0.1 on a quiet machine."""


class Trap:
    """Unpickled, it leaves a trace."""

    def __reduce__(self):
        return (os.mkdir, (os.environ["RUNWATCH_TRAP"],))


def mutated(dice: random.Random, seeds):
    """Random bytes, or a good input with bytes changed, taken out, put in or cut off."""
    if dice.random() < 0.2:
        return dice.randbytes(dice.randrange(200))
    data = bytearray(dice.choice(seeds))
    for _ in range(dice.choice((1, 1, 2, 8))):
        at = dice.randrange(len(data) + 1)
        act = dice.randrange(4)
        if act == 0 and at < len(data):
            data[at] ^= 1 << dice.randrange(8)
        elif act == 1:
            data[at:at] = dice.choice((b"\x00", b'"', b"{", b"[" * 50, b"9" * 40, b"\xff", b"nan", b"\\u0000"))
        elif act == 2:
            del data[at : at + dice.randrange(1, 9)]
        else:
            del data[at:]
    return bytes(data)


@pytest.fixture
def trap(tmp_path, monkeypatch):
    """A folder that must not come to be, and a pickle that would make it."""
    monkeypatch.setenv("RUNWATCH_TRAP", str(tmp_path / "sprung"))
    yield pickle.dumps(Trap())
    assert not (tmp_path / "sprung").exists()


def test_any_bytes_in_place_of_a_finding(trap):
    """A finding, or the word that it is none."""
    dice, longest, read = random.Random(1), 0.0, 0
    seeds = [wire.encode(finding(number)) for number in range(8)] + [trap]
    for _ in range(INPUTS):
        data = mutated(dice, seeds)
        began = time.perf_counter()
        try:
            wire.decode(data)
            read += 1
        except wire.Unreadable:
            pass
        longest = max(longest, time.perf_counter() - began)

    say("A27", f"findings: {INPUTS} inputs, {read} readable, the longest took {longest * 1000:.0f} ms")
    assert longest < LONGEST_SECONDS


def test_any_bytes_in_place_of_a_spool(trap):
    """Records, and a mark for what is none; whole records before the damage are all there."""
    dice, longest = random.Random(2), 0.0
    good = b"".join(packed(Record(number, f"key{number}", b"{}")) for number in range(1, 6))
    for _ in range(INPUTS):
        data = mutated(dice, [good, trap])
        began = time.perf_counter()
        found = list(records_in(data))
        longest = max(longest, time.perf_counter() - began)
        assert all(item is None or item.key == f"key{item.number}" for item in found)

    say("A27", f"spools: {INPUTS} inputs, the longest took {longest * 1000:.0f} ms")
    assert longest < LONGEST_SECONDS


def test_any_bytes_in_place_of_bookmarks(trap, tmp_path):
    """Bookmarks, or none; never an end."""
    dice, longest = random.Random(3), 0.0
    good = json.dumps({"version": 1, "places": {"/logs/a.log": {"offset": 5, "inode": 7}}, "attempt": 1}).encode()
    for _ in range(FILES):
        for name in ("run42.json", "run42.previous.json"):
            body = mutated(dice, [good, trap])
            # Half of them with a sum that fits, as a writer of another version would leave it.
            whole = hashlib.sha256(body).hexdigest().encode() + b"\n" + body
            (tmp_path / name).write_bytes(whole if dice.random() < 0.5 else body)
        began = time.perf_counter()
        Bookmarks(tmp_path, "run42").load()
        longest = max(longest, time.perf_counter() - began)

    say("A27", f"bookmarks: {FILES} inputs, the longest took {longest * 1000:.0f} ms")
    assert longest < LONGEST_SECONDS


def test_the_trap_springs_when_something_unpickles(tmp_path, monkeypatch):
    """Negative control: who unpickles what it reads is found out."""
    monkeypatch.setenv("RUNWATCH_TRAP", str(tmp_path / "sprung"))

    pickle.loads(pickle.dumps(Trap()))

    assert (tmp_path / "sprung").exists()
