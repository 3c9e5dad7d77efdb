"""`runwatch registry audit`: who did what, for people and for programs; a broken chain is an exit code."""

import asyncio
import json
import os

import pytest
from redis import Redis

from bot.cli import FINE, main
from registry import connect, keys
from registry.audit import Entry


@pytest.fixture
def here(redis_url, monkeypatch):
    """A registry in which two people did something."""
    monkeypatch.setenv("REDIS_URL", redis_url)
    monkeypatch.setenv("RUNWATCH_CONFIG", "")

    async def fill():
        registry = connect(redis_url)
        await registry.audit.write(Entry(1.7e9, "U0ALICE", "T1", "admin", "button", "mute_1h", "i1"))
        await registry.audit.write(
            Entry(1.7e9 + 1, "U0BOB", "T1", "viewer", "command", "snapshot", "C1", "run42 \x1b[2J", "needs responder")
        )
        await registry.aclose()

    asyncio.run(fill())
    return Redis.from_url(redis_url)


def test_people_read_a_table(here, capsys):
    """Each effect and refusal, in order, with control characters made harmless."""
    assert main(["registry", "audit"]) == FINE

    out, err = capsys.readouterr()
    assert "2023-11-14 22:13:20" in out
    assert out.index("U0ALICE") < out.index("U0BOB")
    assert "refused" in out
    assert "\x1b" not in out
    assert "2 entries, all of them fit together" in err


def test_programs_read_lines(here, capsys):
    """Every entry with its hash."""
    assert main(["registry", "audit", "--json"]) == FINE

    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["user"] for line in lines] == ["U0ALICE", "U0BOB"]
    assert all(len(line["hash"]) == 64 for line in lines)


def test_a_broken_chain_is_an_exit_code(here, capsys):
    """Somebody took the second entry of three out."""
    asyncio.run(_one_more())
    second = here.xrange(keys.AUDIT)[1][0]
    here.xdel(keys.AUDIT, second)

    assert main(["registry", "audit"]) == 1
    assert "The chain is broken" in capsys.readouterr().err


async def _one_more():
    registry = connect(_url())
    await registry.audit.write(Entry(1.7e9 + 2, "U0ALICE", "T1", "admin", "button", "snapshot"))
    await registry.aclose()


def _url():
    return os.environ["REDIS_URL"]
