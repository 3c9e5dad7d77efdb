"""The announcer killed at random under a lying Slack: every finding is told, none twice.

More of it, by hand: `python -m tests.bot.test_killed --findings 1000 --kills 60`.
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from bot.workspace import Workspace, faults
from diagnosis.findings import Finding, Severity
from diagnosis.observations import Evidence, Origin
from registry import StreamId, connect, wire
from registry.embedded import Embedded
from tests.servers import PATIENT

FAULTS = (
    faults.http_error(500),
    faults.http_error(500, done=True),
    faults.html(502, done=True),
    faults.html(200, done=True),
    faults.refused("fatal_error", done=True),
    faults.refused("internal_error"),
    faults.cut_before(),
    faults.cut_after(),
    faults.rate_limited(1),
    faults.slow(2.5, done=True),
)
METHODS = ("chat.postMessage", "chat.update", "conversations.history", "conversations.replies")
STDERR = None if "-v" in sys.argv else asyncio.subprocess.DEVNULL
STREAM = StreamId("node17", "e1")


async def start_bot(workspace, redis_url, without):
    arguments = ("-m", "tests.bot.bot_process", workspace.url, redis_url, workspace.bot_token, without)
    return await asyncio.create_subprocess_exec(sys.executable, *arguments, stderr=STDERR)


async def publish(registry, count, *, ranks=3):
    """Findings of many runs, each of some ranks: one root for a run, the other ranks edit it."""
    await registry.events.register(STREAM)
    for number in range(1, count + 1):
        run, rank = f"run{(number - 1) // ranks}", (number - 1) % ranks
        evidence = Evidence("train.log", number, "loss=nan")
        found = Finding(
            "nonfinite_loss",
            Severity.CRITICAL,
            Origin(run, "node17", rank),
            f"loss is NaN at {number}",
            (evidence,),
            number,
        )
        await registry.events.publish(STREAM.watcher, STREAM.epoch, number, wire.encode(found), found.key)
        await asyncio.sleep(0.01)


async def story(redis_url, *, findings, kills, share=0.25, seed=1, limit=200.0, ranks=3, kinds=FAULTS, without=""):
    """Tell `findings` while bots are killed `kills` times; returns the workspace's root messages."""
    dice = random.Random(seed)
    registry = connect(redis_url)
    async with Workspace.start(rate_limit=False, **PATIENT) as workspace:
        workspace.faults.some(share, kinds, METHODS, seed)
        bots = [await start_bot(workspace, redis_url, without) for _ in range(2)]
        publishing = asyncio.create_task(publish(registry, findings, ranks=ranks))
        ends = time.monotonic() + limit
        try:
            while await registry.ledger.settled(STREAM) < findings:
                assert time.monotonic() < ends, f"{await registry.ledger.settled(STREAM)} of {findings} told in time"
                await asyncio.sleep(dice.uniform(0.2, 0.9))
                if kills > 0:
                    kills -= 1
                    place = dice.randrange(len(bots))
                    bots[place].kill()
                    await bots[place].wait()
                    bots[place] = await start_bot(workspace, redis_url, without)
        finally:
            publishing.cancel()
            for bot in bots:
                bot.kill()
                await bot.wait()
            await registry.aclose()
        return workspace.messages()


def told(messages):
    return Counter(message["metadata"]["event_payload"]["event"] for message in messages)


async def test_kills_and_false_answers_lose_and_repeat_nothing(redis_url):
    """Two bots, killed again and again, every fourth answer false: one root for each run, no more."""
    roots = await story(redis_url, findings=60, kills=6)

    by_run = Counter(message["text"].split("·")[0] for message in roots)
    assert len(by_run) == 20
    assert set(by_run.values()) == {1}
    assert set(told(roots).values()) == {1}


async def test_without_looking_a_cut_answer_is_a_second_message(redis_url):
    """The negative control: the protection taken away, the same story repeats messages."""
    cuts = {"findings": 20, "kills": 0, "ranks": 1, "share": 0.5, "kinds": (faults.cut_after(),)}

    roots = await story(redis_url, **cuts, without="blind")

    assert len(roots) > 20


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--findings", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--faults", type=float, default=0.25)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-v", action="store_true", help="show what the bots log")
    options = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as home, Embedded.start(Path(home)) as server:
        numbers = {"findings": options.findings, "kills": options.kills, "share": options.faults}
        roots = asyncio.run(story(server.url, **numbers, seed=options.seed, limit=3600.0, ranks=options.ranks))
    counts = told(roots)
    twice = [name for name, count in counts.items() if count > 1]
    wanted = -(-options.findings // options.ranks)
    sys.stdout.write(
        f"{wanted} incidents: lost {wanted - len(counts)}, twice {len(twice)}; {time.monotonic() - began:.0f} s\n"
    )


if __name__ == "__main__":
    main()
