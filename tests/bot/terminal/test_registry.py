"""`runwatch registry`: what is in Redis, in words a person can act on; nothing is removed by accident."""

import asyncio
import json
import time

import pytest
from redis import Redis

from bot.cli import FINE, USAGE, main
from registry import StreamId, connect, keys, wire
from tests.registry.values import finding, samples


@pytest.fixture
def here(redis_url, monkeypatch):
    """A registry with one run, its stream, an incident and a dead letter."""
    monkeypatch.setenv("REDIS_URL", redis_url)
    monkeypatch.setenv("RUNWATCH_CONFIG", "")

    async def fill():
        registry = connect(redis_url)
        await registry.runs.see("run42", owner="somebody", last_step=39, last_loss=2.5)
        await registry.series.claim_writer("run42", "node1/run42")
        await registry.series.append("run42", 0, samples([3.0, float("nan"), *[2.5] * 38]))
        await registry.runs.begin_attempt("run42", 0)
        stream = StreamId("node1/run42", "e1")
        await registry.events.register(stream)
        await registry.events.publish_all(stream, [(1, "k", wire.encode(finding())), (2, "k", b"\x1b[31mjunk")])
        for event in await registry.events.read({stream: 1}):
            await registry.ledger.bury(event, "unreadable: \x1b[2J not JSON")
        await registry.incidents.save("i1", "run42", {"head": "NaN"}, timeline={"e1": {"text": "x"}})
        await registry.aclose()

    asyncio.run(fill())
    return Redis.from_url(redis_url)


def said(capsys, *words: str, code: int = FINE) -> str:
    assert main(["registry", *words]) == code
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err
    return shown.out + shown.err


def test_runs_are_listed_with_age_and_size(here, capsys):
    """One line each."""
    out = said(capsys, "runs")

    assert "run42" in out
    assert "KiB" in out


def test_a_run_is_shown_with_what_is_kept_of_it(here, capsys):
    """Points per attempt, ranks, watchers, incidents, bytes."""
    out = said(capsys, "show", "run42")

    assert "40 in attempt 1" in out
    assert "1, 1 open" in out
    assert "somebody" in out


def test_nothing_is_forgotten_without_yes(here, capsys):
    """What would go is said, and how to keep a copy."""
    out = said(capsys, "forget", "run42", code=USAGE)

    assert "Would forget run42: 40 points in 1 attempt and 1 incident" in out
    assert "A watcher still writes it" in out
    assert "Nothing was removed" in out
    assert here.exists(keys.run("run42"))


def test_a_run_is_forgotten_with_yes(here, capsys):
    """Nothing of it stays, and everything else does."""
    assert "Forgotten: run42" in said(capsys, "forget", "run42", "--yes")

    assert [key for key in here.keys("*") if b"{run42}" in key or b"{i1}" in key] == []
    assert here.exists(keys.events(StreamId("node1/run42", "e1")))


def test_an_export_holds_all_of_a_run(here, capsys):
    """One JSON document, NaN as a word, ready for a pipe."""
    assert main(["registry", "export", "run42"]) == FINE
    shown = capsys.readouterr()
    document = json.loads(shown.out, parse_constant=pytest.fail)

    assert document["schema"] == 1
    assert document["run"]["owner"] == "somebody"
    assert document["series"]["loss"]["values"][:3] == [3.0, "nan", 2.5]
    assert len(document["series"]["loss"]["steps"]) == 40
    assert document["incidents"]["i1"]["timeline"] == {"e1": {"text": "x"}}
    assert shown.err == ""


def test_streams_show_what_is_on_its_way(here, capsys):
    """Waiting, settled, last number, size."""
    out = said(capsys, "streams")

    assert "node1/run42" in out
    assert "2 findings on the way." in out


def test_dead_letters_are_shown_harmlessly(here, capsys):
    """Why and when; with a watcher's name the bodies too, and nothing in them moves the cursor."""
    assert "not JSON" in said(capsys, "dead")
    out = said(capsys, "dead", "node1/run42")

    assert "junk" in out
    assert "\x1b" not in out
    assert "No dead letters" in said(capsys, "dead", "node9")


def test_the_size_is_told_by_kind(here, capsys):
    """So that a person sees what fills it."""
    out = said(capsys, "size")

    assert "rollups" in out
    assert "findings on their way" in out
    assert "maxmemory is not set" in out
    assert "1 run in all." in out


def test_an_empty_registry_is_no_failure(redis_url, monkeypatch, capsys):
    """A newcomer sees what to do."""
    monkeypatch.setenv("REDIS_URL", redis_url)

    assert "No run is registered yet" in said(capsys, "runs")
    assert "No watcher has a stream yet" in said(capsys, "streams")
    assert "No dead letters" in said(capsys, "dead")
    assert "0 runs in all." in said(capsys, "size")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "it needs ACT"),
        (["frobnicate"], "'forget', 'export'"),
        (["forget"], "it needs RUN"),
        (["show", "run4"], "There is no run run4. Did you mean run42?"),
        (["forget", "nothing-like-it", "--yes"], "`runwatch registry runs` lists all"),
        (["forget", "run42", "--force"], "unknown argument --force"),
        (["acl", "bot", "--node", "x"], "--node and --runs are of watchers"),
        (["acl", "watcher", "--node", ""], "cannot be a node's name"),
    ],
)
def test_wrong_use_gets_a_sentence(here, capsys, words, told):
    """What is right stands in it, and nothing was done."""
    assert told in said(capsys, *words, code=USAGE)


def test_a_right_that_is_missing_is_said_with_the_way_to_get_it(here, capsys, monkeypatch, redis_url):
    """A user that may not look: the words name the command that prints its rights."""
    here.execute_command("ACL", "SETUSER", "nobody", "on", ">s", "~*", "-@all", "+time")
    monkeypatch.setenv("REDIS_URL", f"{redis_url}?username=nobody&password=s")

    out = said(capsys, "runs", code=USAGE)

    assert "runwatch registry acl" in out
    here.execute_command("ACL", "DELUSER", "nobody")


def test_rights_need_no_redis(capsys, monkeypatch):
    """They are derived, not asked for; each line is one user."""
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1")
    assert main(["registry", "acl", "watcher", "--node", "n1", "--node", "n2"]) == FINE
    shown = capsys.readouterr()

    assert [line.split()[2] for line in shown.out.splitlines()] == ["runwatch-watcher-n1", "runwatch-watcher-n2"]
    assert "password of its own" in shown.err
    assert ">" not in shown.out


def test_a_thousand_runs_are_listed_quickly_enough_to_read(redis_url, monkeypatch, capsys):
    """A long list says how much more there is."""
    monkeypatch.setenv("REDIS_URL", redis_url)
    client = Redis.from_url(redis_url)
    with client.pipeline() as pipe:
        for n in range(1003):
            pipe.zadd(keys.RUNS, {f"run{n}": time.time() - n})
            pipe.hset(keys.run(f"run{n}"), "state", '"finished"')
        pipe.execute()

    assert "… and 3 more that are idle longer." in said(capsys, "runs")
