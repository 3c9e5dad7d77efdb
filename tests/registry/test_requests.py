"""Asking nodes: once, in time, and whoever answers is heard at once."""

import asyncio

from redis import Redis

from registry import connect, keys


async def test_a_question_and_its_answers(registry, redis_url):
    """Each node gets the request, and all answers come back to the one who asked."""
    nodes = [connect(redis_url, f"w{n}") for n in range(3)]

    async def node(n: int) -> None:
        (request,) = await nodes[n].requests.next(f"w{n}", block=5)
        await nodes[n].requests.answer(request, {"of": n, "asked": request.payload}, is_last=True)

    deadline = await registry.now() + 20
    serving = [asyncio.create_task(node(n)) for n in range(3)]
    request_id = await registry.requests.ask(["w0", "w1", "w2"], "snapshot", {"note": "x"}, deadline)
    answers = await registry.requests.gather(request_id, ["w0", "w1", "w2"], deadline)

    assert {name: answer.body["of"] for name, answer in answers.items()} == {"w0": 0, "w1": 1, "w2": 2}
    assert answers["w1"].body["asked"] == {"note": "x"}
    await asyncio.gather(*serving)
    for one in nodes:
        await one.aclose()


async def test_a_node_that_is_silent_is_missing_from_the_answers(registry):
    """After the deadline what came is what there is."""
    deadline = await registry.now() + 0.3
    request_id = await registry.requests.ask(["w1", "w2"], "snapshot", {}, deadline)
    (request,) = await registry.requests.next("w1", block=1)
    await registry.requests.answer(request, {"ok": True})

    answers = await registry.requests.gather(request_id, ["w1", "w2"], deadline)

    assert set(answers) == {"w1"}


async def test_a_late_watcher_does_not_serve_the_dead(registry):
    """A request past its deadline is passed over; one asked while the watcher started is served."""
    await registry.requests.ask("w1", "old", {}, await registry.now() - 1)
    await registry.requests.ask("w1", "fresh", {}, await registry.now() + 20)

    assert [request.kind for request in await registry.requests.next("w1", block=1)] == ["fresh"]


async def test_a_repeated_request_is_served_once(registry, redis_url):
    """Whoever asks may have to repeat; the node takes each id once."""
    await registry.requests.ask("w1", "snapshot", {}, await registry.now() + 20)
    client = Redis.from_url(redis_url)
    ((_, content),) = client.xrange(keys.requests("w1"))
    client.xadd(keys.requests("w1"), content)

    assert len(await registry.requests.next("w1", block=1)) == 1


async def test_a_partial_answer_is_followed_by_the_last(registry):
    """Progress arrives as it comes, and gathering goes on until the last word."""
    deadline = await registry.now() + 20
    request_id = await registry.requests.ask("w1", "snapshot", {}, deadline)
    (request,) = await registry.requests.next("w1", block=1)
    await registry.requests.answer(request, {"files": 1}, is_last=False)
    await registry.requests.answer(request, {"files": 2})

    seen = []
    async for answer in registry.requests.answers(request_id, deadline):
        seen.append((answer.body["files"], answer.is_last))
        if answer.is_last:
            break

    assert seen == [(1, False), (2, True)]


async def test_junk_in_the_streams_is_passed_over(registry, redis_url):
    """Entries that are no request or no answer disturb nobody."""
    client = Redis.from_url(redis_url)
    client.xadd(keys.requests("w1"), {"b": "[]"})
    request_id = await registry.requests.ask("w1", "snapshot", {}, await registry.now() + 20)
    client.xadd(keys.answers(request_id), {"x": "y"})
    (request,) = await registry.requests.next("w1", block=1)
    await registry.requests.answer(request, {"ok": True})

    assert set(await registry.requests.gather(request_id, ["w1"], await registry.now() + 20)) == {"w1"}


async def test_nothing_asked_is_an_empty_answer(registry):
    """Waiting without a request ends after the block time."""
    assert await registry.requests.next("w1", block=0.05) == []


async def test_answers_do_not_stay_for_ever(registry, redis_url):
    """Requests and answers are forgotten after an hour."""
    request_id = await registry.requests.ask("w1", "snapshot", {}, await registry.now() + 20)
    (request,) = await registry.requests.next("w1", block=1)
    await registry.requests.answer(request, {"ok": True})

    client = Redis.from_url(redis_url)
    assert 0 < client.ttl(keys.requests("w1")) <= 3600
    assert 0 < client.ttl(keys.answers(request_id)) <= 3600
