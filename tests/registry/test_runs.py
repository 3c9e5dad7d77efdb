"""Runs register themselves, are found kindly, and survive facts nobody expected."""

import pytest
from redis import Redis

from registry import UnknownRun
from registry.errors import near_names


async def test_a_run_is_what_was_said_of_it(registry):
    """Facts with a place of their own come back typed, others by their names."""
    await registry.runs.see("run42", owner="ada", world_size=512, last_loss=2.31, labels={"team": "nlp"}, shard="00217")

    run = await registry.runs.find("run42")

    assert (run.owner, run.world_size, run.last_loss, run.labels) == ("ada", 512, 2.31, {"team": "nlp"})
    assert run.facts == {"shard": "00217"}


async def test_seeing_again_keeps_the_first_time(registry):
    """When a run was first seen does not move, and None leaves a fact as it was."""
    await registry.runs.see("run42", owner="ada")
    first = await registry.runs.find("run42")

    await registry.runs.see("run42", owner=None, state="finished")

    again = await registry.runs.find("run42")
    assert (again.first_seen, again.owner, again.state) == (first.first_seen, "ada", "finished")
    assert again.last_seen >= first.last_seen


async def test_a_nan_loss_is_news_and_arrives(registry):
    """The last loss may be NaN."""
    await registry.runs.see("run42", last_loss=float("nan"))

    assert repr((await registry.runs.find("run42")).last_loss) == "nan"


async def test_an_unknown_run_is_answered_with_near_names(registry):
    """The error carries what the person may have meant."""
    for name in ("run42", "run40", "llama-8b"):
        await registry.runs.see(name)

    with pytest.raises(UnknownRun, match="Did you mean") as unknown:
        await registry.runs.find("run4")

    assert set(unknown.value.near) == {"run42", "run40"}


@pytest.mark.parametrize("name", ["", "x" * 500])
async def test_what_cannot_be_a_name_is_an_unknown_run(registry, name):
    """Whatever a person types is answered, never a crash."""
    assert await registry.runs.get(name) is None
    with pytest.raises(UnknownRun):
        await registry.runs.find(name)


@pytest.mark.parametrize(
    ("wanted", "near"),
    [("RUN42", ("run42",)), ("8b", ("llama-8b",)), ("", ()), ("zzzz", ()), ("lama-8b", ("llama-8b",))],
)
def test_near_names_forgive_case_and_parts(wanted, near):
    """A piece of the name, another case or a slip of a finger is enough; nothing is invented."""
    assert near_names(wanted, ["run42", "llama-8b"]) == near


async def test_the_most_recent_run_comes_first(registry):
    """Runs are listed by their last activity, up to a limit."""
    for name in ("a", "b", "c", "a"):
        await registry.runs.see(name)

    assert [run.name for run in await registry.runs.all(2)] == ["a", "c"]


async def test_one_damaged_fact_does_not_hide_the_run(registry, redis_url):
    """A fact of the wrong kind is left out; the rest is read."""
    await registry.runs.see("run42", owner="ada", world_size="many")

    run = await registry.runs.get("run42")

    assert (run.owner, run.world_size) == ("ada", None)


async def test_attempts_are_told_in_pieces(registry):
    """Start and end come from different moments and land in one span; saying it again changes nothing."""
    for _ in range(2):
        await registry.runs.begin_attempt("run42", 1, first_step=0, started=10.0, environment={"torch": "2.13"})
        await registry.runs.end_attempt("run42", 1, "crashed", last_step=99, ended=20.0)
    await registry.runs.begin_attempt("run42", 2, first_step=90, started=30.0)

    first, second = await registry.runs.attempts("run42")

    assert (first.number, first.first_step, first.last_step, first.started, first.ended, first.end) == (
        *(1, 0, 99, 10.0, 20.0),
        "crashed",
    )
    assert (second.number, second.end) == (2, "unknown")
    assert (await registry.runs.environments("run42"))[1] == {"torch": "2.13"}
    assert (await registry.runs.find("run42")).attempt == 2


async def test_a_forgotten_run_leaves_nothing(registry, redis_url):
    """Forgetting removes every key of the run."""

    await registry.runs.see("run42")
    await registry.runs.begin_attempt("run42", 1)

    await registry.runs.forget("run42")

    assert Redis.from_url(redis_url).keys("*") == []
    assert await registry.runs.get("run42") is None


async def test_a_glance_reads_only_what_is_asked(registry):
    """In the order given; a fact nobody said, of a damaged kind, or a run that is gone, is as if not known."""
    await registry.runs.see("run42", state="finished", last_loss=2.5, owner="ada")
    await registry.runs.see("run43", state="crashed", last_loss="many")

    seen = await registry.runs.partly(["run43", "gone", "run42"], ("state", "last_loss"))

    assert [(run.name, run.state, run.last_loss, run.owner) for run in seen] == [
        ("run43", "crashed", None, None),
        ("gone", "running", None, None),
        ("run42", "finished", 2.5, None),
    ]


async def test_what_was_heard_comes_newest_first_back_to_a_time(registry):
    """With the moment of each, for whoever looks at all of them again and again."""
    now = await registry.now()
    for name in ("a", "b"):
        await registry.runs.see(name)

    heard = await registry.runs.heard(now - 1)

    assert list(heard) == ["b", "a"]
    assert all(abs(at - now) < 60 for at in heard.values())
    assert await registry.runs.heard(now + 3600) == {}
