"""A watcher from a line in a file to an event in the stream, with a real registry."""

import asyncio
import contextlib
import json
import os
import random
import signal
import time
from dataclasses import replace

import pytest

from diagnosis.findings import Finding
from tests.watcher.conftest import findings, until
from tests.watcher.following import append, lines
from watcher.agent import Agent
from watcher.run_watch import RunWatch
from watcher.settings import WatchedRun


async def test_a_nan_line_becomes_an_event(watching, settings, registry, log):
    """What is appended to a log is told in the stream, with its line."""
    log.write_bytes(lines(0, 50))
    await watching(settings)
    append(log, b"step=50 loss=nan lr=0.0001 grad_norm=nan\n")

    (found,) = await until(lambda: findings(registry, "nonfinite_loss"))

    assert (found.origin.run, found.origin.node, found.origin.rank, found.step) == ("run42", "node17", 3, 50)
    assert found.evidence[0].line == 51
    assert "loss=nan" in found.evidence[0].text


async def test_a_finding_tells_what_changed_around_it(watching, settings, registry, log):
    """The line of the learning rate that jumped travels with the NaN, and a jump's mark has its changes too."""
    await watching(settings)
    append(log, lines(1, 60))
    append(log, b"step=60 loss=9.5 lr=0.5 grad_norm=3.0\nstep=61 loss=nan lr=0.5 grad_norm=nan\n")

    (told,) = await until(lambda: findings(registry, "nonfinite_loss"))
    assert "learning rate: 1.0e-4 → 5.0e-1 at step 60 (rank3.log:60)" in told.changes

    async def jump():
        series = await registry.series.whole("run42")
        return [mark for mark in series.marks if mark.kind == "jump"]

    (mark,) = await until(jump)
    assert "learning rate: 1.0e-4 → 5.0e-1 at step 60 (rank3.log:60)" in mark.changes


async def test_a_run_registers_itself(watching, settings, registry, log):
    """The first line makes the run known, with its newest numbers and how far each rank got."""
    log.write_bytes(lines(0, 50))
    await watching(settings)

    async def seen():
        run = await registry.runs.get("run42")
        return run if run and run.last_step == 49 else None

    run = await until(seen)
    (rank,) = await until(lambda: registry.ranks.all("run42"))
    series = await registry.series.whole("run42")

    assert (run.owner, run.state, run.last_loss, run.last_lr) == ("ada", "running", 2.5, 0.0001)
    assert (rank.origin.rank, rank.step) == (3, 49)
    assert len(series.loss) == 50


async def test_the_heartbeat_says_what_cannot_be_seen(watching, settings, registry):
    """A pattern that matches nothing is a sentence, not a crash."""
    await watching(settings)

    async def beat():
        beats = await registry.heartbeats.of_run("run42")
        return beats if beats and any("no file matches" in said for said in beats[0].heartbeat.problems) else None

    (found,) = await until(beat)

    assert found.heartbeat.node == "node17"
    assert found.heartbeat.clock_uncertainty_seconds is not None


async def test_a_look_is_answered_with_what_is_there_now(watching, settings, registry, log):
    """Ranks, processes and the last lines, masked."""
    log.write_bytes(lines(0, 50) + b"Using HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz012345 from the environment\n")
    agent = await watching(settings)
    await until(lambda: registry.ranks.all("run42"))

    request = await registry.requests.ask(agent.watcher, "look", {"run": "run42"}, await registry.now() + 60)
    answers = await registry.requests.gather(request, [agent.watcher], await registry.now() + 60)

    body = answers[agent.watcher].body
    assert body["ranks"][0]["step"] == 49
    assert "masked" in json.dumps(body["lines"])
    assert "hf_abc" not in json.dumps(body)


@pytest.mark.parametrize("swallowed", [3, 10_000])
async def test_it_ends_though_a_part_swallows_cancellations(settings, registry, swallowed):
    """A client library does that under load; the node must not wait for our end, nor a service manager kill us."""
    agent, left, begun = Agent(settings, registry, None), [swallowed], asyncio.Event()

    async def stubborn():
        begun.set()
        while left[0]:
            left[0] -= 1
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()

    agent.host.watch = stubborn
    watching = asyncio.create_task(agent.watch())
    await begun.wait()

    agent.stop()
    done, _ = await asyncio.wait({watching}, timeout=60)
    left[0] = 0

    assert done


async def test_an_unknown_request_is_answered_in_words(watching, settings, registry):
    """A newer bot may ask what we do not know."""
    agent = await watching(settings)

    request = await registry.requests.ask(agent.watcher, "dance", {}, await registry.now() + 60)
    answers = await registry.requests.gather(request, [agent.watcher], await registry.now() + 60)

    assert "does not know" in answers[agent.watcher].body["error"]


async def test_kill_9_at_random_loses_nothing_and_repeats_nothing(process, settings, registry, log):
    """Every bad step is told once, whenever the watcher dies."""
    rng = random.Random(os.environ.get("RUNWATCH_SEED", "7"))
    log.write_bytes(b"")
    step, expected = 0, []

    for _ in range(12):
        watcher = process()
        ends = time.monotonic() + 0.35 + rng.random() * 0.5
        while time.monotonic() < ends:
            append(log, lines(step, step + 9))
            append(log, f"step={step + 9} loss=nan lr=0.0001 grad_norm=nan\n".encode())
            expected.append(step + 9)
            step += 10
            await asyncio.sleep(rng.random() * 0.05)
        watcher.kill()
    process()

    async def told():
        """All bad steps in the streams."""
        found = [finding.step for finding in await findings(registry, "nonfinite_loss") if isinstance(finding, Finding)]
        return found if len(found) >= len(expected) else None

    assert sorted(await until(told)) == expected


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_cleanly(process, registry, log, number):
    """It ends by itself with 0, and the bookmark is written."""
    log.write_bytes(lines(0, 10))
    watcher = process()
    await until(lambda: registry.ranks.all("run42"))

    assert watcher.end(number) == 0


async def test_a_second_watcher_of_the_same_run_is_refused(process, registry, log):
    """Two would tell everything twice."""
    log.write_bytes(lines(0, 10))
    process()
    await until(lambda: registry.ranks.all("run42"))

    second = process()
    code = second.process.wait(timeout=60)

    assert code == 2
    assert b"another watcher" in second.process.stderr.read()


async def test_a_run_that_another_watcher_follows_with_others_is_refused(watching, process, settings, registry, log):
    """Even when the two watchers follow different sets of runs."""
    log.write_bytes(lines(0, 10))
    both = replace(settings, runs=(*settings.runs, WatchedRun("run43", (str(log.with_name("other*")),))))
    await watching(both)
    await until(lambda: registry.ranks.all("run42"))

    second = process()

    assert second.process.wait(timeout=60) == 2
    assert b"follows run42 already" in second.process.stderr.read()


async def test_one_run_that_fails_leaves_the_others_alone(watching, settings, registry, log, monkeypatch):
    """Its failure is a sentence in the heartbeat."""
    log.write_bytes(lines(0, 10))
    other = log.with_name("other.txt")
    other.write_bytes(lines(0, 10))
    both = replace(settings, runs=(*settings.runs, WatchedRun("run43", (str(other),))))
    real = RunWatch._take

    async def take(self, batch):
        if self.run.name == "run43":
            raise RuntimeError("a bug of ours")
        await real(self, batch)

    monkeypatch.setattr(RunWatch, "_take", take)
    agent = await watching(both)

    await until(lambda: registry.ranks.all("run42"))
    append(log, b"step=10 loss=nan lr=0.0001 grad_norm=nan\n")

    (found,) = await until(lambda: findings(registry, "nonfinite_loss"))
    assert found.origin.run == "run42"
    assert any("the logs of run43: RuntimeError: a bug of ours" in problem for problem in agent.problems())


async def test_redis_away_costs_nothing(process, settings, registry, redis_server, log):
    """What happens meanwhile is told when it is back, with all the numbers."""
    log.write_bytes(lines(0, 50))
    process()
    await until(lambda: registry.ranks.all("run42"))

    os.kill(redis_server.pid, signal.SIGSTOP)
    try:
        append(log, lines(50, 150))
        append(log, b"step=150 loss=nan lr=0.0001 grad_norm=nan\n")
        await asyncio.sleep(1.0)
    finally:
        os.kill(redis_server.pid, signal.SIGCONT)

    (found,) = await until(lambda: findings(registry, "nonfinite_loss"))
    assert found.step == 150

    async def all_points():
        return len((await registry.series.whole("run42")).loss) == 151

    await until(all_points)


async def test_no_secret_of_a_log_leaves_the_node(watching, settings, registry, log):
    """A telling line is told without its token."""
    log.write_bytes(lines(0, 50))
    await watching(settings)
    secret = "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz0123"
    append(log, f"[rank3]: torch.OutOfMemoryError: CUDA out of memory. HF_TOKEN={secret}\n".encode())

    (found,) = await until(lambda: findings(registry, "gpu_oom"))

    assert "masked" in found.evidence[0].text
    assert secret not in repr(found)


async def test_a_node_whose_state_folder_takes_no_writes_still_tells(process, settings, registry, log, tmp_path):
    """Not spooled, and that is said."""
    settings.state_dir.parent.mkdir(exist_ok=True)
    settings.state_dir.write_text("a file where the folder should be")
    log.write_bytes(lines(0, 50))
    process()
    await until(lambda: registry.ranks.all("run42"))
    append(log, b"step=50 loss=nan lr=0.0001 grad_norm=nan\n")

    (found,) = await until(lambda: findings(registry, "nonfinite_loss"))

    async def said():
        (beat,) = await registry.heartbeats.of_run("run42")
        return any("without being spooled" in problem for problem in beat.heartbeat.problems)

    assert found.step == 50
    await until(said)


async def test_a_hangup_makes_it_look_for_new_files(process, settings, registry, log):
    """`kill -HUP` after a change of the log folder; the watcher lives on."""
    log.write_bytes(lines(0, 10))
    watcher = process()
    await until(lambda: registry.ranks.all("run42"))

    watcher.process.send_signal(signal.SIGHUP)
    log.with_name("rank4.log").write_bytes(lines(0, 10))

    async def both():
        return len(await registry.ranks.all("run42")) == 2

    await until(both)
    assert watcher.process.poll() is None


async def test_a_restart_goes_on_counting_attempts(process, settings, registry, log):
    """The attempt's number is kept beside the bookmark."""
    banner = b"resuming from checkpoint /ckpt/step_20\n"
    log.write_bytes(lines(0, 50) + banner + lines(20, 60) + banner + lines(30, 5000))
    first = process()

    async def third():
        run = await registry.runs.get("run42")
        return run and run.attempt == 2 and run.last_step == 4999

    await until(third)
    first.kill()
    append(log, lines(5000, 5010))
    process()

    async def onward():
        run = await registry.runs.get("run42")
        return run if run and run.last_step == 5009 else None

    assert (await until(onward)).attempt == 2


async def test_attempts_are_told_with_their_steps_and_ends(watching, settings, registry, log):
    """Where each began, how far it got, and that the older ones are over."""
    banner = b"resuming from checkpoint /ckpt/step_20\n"
    log.write_bytes(lines(0, 50) + banner + lines(20, 60) + banner + lines(30, 45))
    await watching(settings)

    async def three():
        spans = await registry.runs.attempts("run42")
        return spans if len(spans) == 3 and spans[-1].first_step is not None else None

    spans = await until(three)

    assert [(span.number, span.first_step) for span in spans] == [(0, 0), (1, 20), (2, 30)]
    assert [span.last_step for span in spans[:2]] == [49, 59]
