"""Keys: one page, one slot per transaction, no name that forges another."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry import keys
from registry.keys import StreamId

names = st.text(min_size=1, max_size=60).filter(lambda name: not any("\ud800" <= c <= "\udfff" for c in name))


@given(names, names)
def test_two_runs_never_share_a_key(one, other):
    """Whatever two names look like, none of their keys meet."""
    parts = ("", "tail", "ranks", "roll:1")

    shared = {keys.run(one, part) for part in parts} & {keys.run(other, part) for part in parts}

    assert bool(shared) == (one == other)


@given(names)
def test_all_keys_of_a_run_share_a_slot(name):
    """The hash tag is the run, also when its name holds braces and colons."""
    tags = {keys.tag_of(keys.run(name, part)) for part in ("", "tail", "marks", "series", "roll:7")}

    assert len(tags) == 1
    assert None not in tags


def test_stream_ledger_and_floor_of_a_watcher_share_a_slot():
    """What is written in one transaction lies in one place."""
    stream = StreamId("node17:a", "abc")

    assert (
        len({keys.tag_of(key) for key in (keys.events(stream), keys.ledger("node17:a"), keys.floor("node17:a"))}) == 1
    )


@given(names, st.text("0123456789abcdef", min_size=1, max_size=12))
def test_a_stream_id_survives_its_text(watcher, epoch):
    """What is registered is what is read, also for a watcher with an @ in its name."""
    assert StreamId.parse(str(StreamId(watcher, epoch))) == StreamId(watcher, epoch)


@pytest.mark.parametrize("name", ["", "x" * 201])
def test_a_name_without_end_or_beginning_is_refused(name):
    """Empty and endless names are no names."""
    with pytest.raises(ValueError, match="1 to 200"):
        keys.escaped(name)


def test_every_key_that_code_can_make_stands_on_the_page():
    """The table at the head of keys.py lists each key that its functions return."""
    page = Path(keys.__file__).read_text(encoding="utf-8").split('"""')[1]
    listed = set(re.findall(r"^    (rw:\S+)", page, re.MULTILINE))
    made = {
        keys.RUNS, keys.WATCHERS, keys.STREAMS, keys.SERVERS, keys.DEAD, keys.INCIDENTS, keys.OPEN_INCIDENTS, keys.MUTES, keys.WAKE,
        keys.ROUTES, keys.DIGESTS, keys.LANGUAGES, keys.AUDIT,
        *(keys.run("R", part) for part in ("", *keys.RUN_PARTS)),
        keys.roll("R", 1).replace(":1", ":N"),
        keys.heartbeat("W"), keys.events(StreamId("W", "EPOCH")), keys.floor("W"), keys.ledger("W"), keys.dead("W"),
        keys.incident("I"), keys.incident("I", "timeline"), keys.lease("NAME"), keys.requests("W"), keys.answers("Q"),
        keys.seen("NAME"),
    }  # fmt: skip

    assert listed == made


def test_no_module_makes_keys_of_its_own():
    """Only keys.py knows the prefix, and the table of rights, which repeats the page."""
    registry, known = Path(keys.__file__).parent, ("keys.py", "access.py")
    strays = [path.name for path in registry.glob("*.py") if path.name not in known and '"rw:' in path.read_text()]

    assert strays == []
