"""A watcher asked for the facts of a run tells what a diagnosis needs, without secrets, and only of runs it follows."""

import subprocess

from registry.facts import unpack
from tests.watcher.conftest import until
from tests.watcher.following import append, lines


async def asked(registry, agent, run="run42"):
    until_time = await registry.now() + 10
    request = await registry.requests.ask([agent.watcher], "facts", {"run": run}, until_time)
    return (await registry.requests.gather(request, [agent.watcher], until_time))[agent.watcher].body


async def test_the_facts_hold_the_newest_steps_the_trouble_and_the_last_lines(watching, settings, registry, log):
    """Bounded: a log of thousands of lines is told in few."""
    log.write_bytes(lines(0, 3000))
    agent = await watching(settings)
    append(log, b"[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB.\n")

    async def has_trouble():
        return agent.runs[0].chronicles.of(str(log)).has_trouble

    await until(has_trouble)
    facts = unpack((await asked(registry, agent))["facts"])

    (told,) = facts.logs
    assert (facts.node, told.file, told.rank, told.lines) == ("node17", str(log), 3, 3001)
    assert len(told.observations) < 200
    assert told.newest["3"][-1].line == 3001
    assert any(getattr(seen, "signature", "") == "cuda_oom" for seen in told.observations)


async def test_no_secret_of_a_log_is_among_the_facts(watching, settings, registry, log):
    """Neither in a telling line nor in the last words."""
    log.write_bytes(lines(0, 20))
    agent = await watching(settings)
    append(
        log,
        b"RuntimeError: cannot reach https://ada:hunter2secret@store.example/x\nexport TOKEN=hf_abcdefghijklmnopqrstuvwxyz0123\n",
    )

    async def has_lines():
        return any(
            "reach" in line.text for reader in agent.runs[0].reading.readers() for line in reader.recent_evidence(3)
        )

    await until(has_lines)
    told = repr(unpack((await asked(registry, agent))["facts"]))

    assert "hunter2secret" not in told
    assert "hf_abcdefghijklmnopqrstuvwxyz0123" not in told


async def test_another_run_is_not_told_of(watching, settings, registry, log):
    """A watcher answers for what it follows."""
    log.write_bytes(lines(0, 5))
    agent = await watching(settings)

    assert "does not follow" in (await asked(registry, agent, "other"))["error"]


async def test_processes_are_looked_at_several_times(watching, settings, registry, log):
    """Whoever holds the log is the job; it is found although it came after the watcher."""
    log.write_bytes(lines(0, 5))
    agent = await watching(settings)
    with log.open("ab") as output:
        holder = subprocess.Popen(["sleep", "600"], stdout=output)

    try:
        facts = unpack((await asked(registry, agent))["facts"])
    finally:
        holder.kill()
        holder.wait()

    assert sum(look.pid == holder.pid for look in facts.processes) >= 3
