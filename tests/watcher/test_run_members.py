"""Where one watcher follows several runs, no run is told of another's processes."""

import os
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from diagnosis.observations import GpuSample
from registry.facts import unpack
from tests.watcher.conftest import until
from tests.watcher.following import lines
from tests.watcher.test_facts import asked
from watcher.host import Host
from watcher.run_members import find_by_run
from watcher.settings import WatchedRun

NOBODY = ("no process of this run was found", "cannot tell which run the processes are of")
SLEEP = "import time; time.sleep(600)"


@pytest.fixture
def start():
    """Start processes as a launcher would; `through` is a shell around them."""
    running = []

    def begin(rank=None, *, log=None, through=None, code=SLEEP):
        environment = {} if rank is None else {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "4"}
        command = [sys.executable, "-c", code]
        output = log.open("ab") if log is not None else subprocess.DEVNULL
        if through:
            command = ["sh", "-c", through.format(shlex.join(command))]
        running.append(
            subprocess.Popen(command, stdout=output, env={"PATH": os.environ["PATH"], **environment}, process_group=0)
        )
        return running[-1]

    yield begin
    for process in running:
        os.killpg(process.pid, 9)
        process.wait()


@pytest.fixture
def runs(tmp_path):
    """Two runs on one node, each with a log of its own."""
    (tmp_path / "of-runs").mkdir()
    for name in ("lock-a", "innocent-b"):
        (tmp_path / "of-runs" / f"{name}.log").write_bytes(lines(0, 5))
    return tuple(WatchedRun(name, (str(tmp_path / "of-runs" / f"{name}.log"),)) for name in ("lock-a", "innocent-b"))


@pytest.fixture
def logs(runs, tmp_path):
    return {run.name: tmp_path / "of-runs" / f"{run.name}.log" for run in runs}


def told(runs, *processes):
    """Run of each of these processes, None where it is nobody's."""
    owners = {member.pid: member.run for member in find_by_run(runs).members}
    return [owners.get(process.pid) for process in processes]


@pytest.fixture
def two_runs(settings, runs):
    return replace(settings, runs=runs)


async def settled(host):
    async def looked():
        await host.look(finds=True)
        return host.of_run("lock-a")

    return await until(looked)


def test_a_rank_is_of_the_run_whose_log_it_writes(start, runs, logs):
    """Each run has its own ranks, though they bear the same numbers."""
    ranks = [start(2, log=logs["lock-a"]), start(2, log=logs["innocent-b"])]

    assert told(runs, *ranks) == ["lock-a", "innocent-b"]


async def test_a_run_without_processes_is_told_of_nobodys(start, runs, logs, settings):
    """Its log alone speaks: the ranks of its neighbour are no evidence for it."""
    ranks = [start(number, log=logs["lock-a"]) for number in range(2)]
    host = Host(replace(settings, runs=runs))
    await settled(host)

    assert {process.pid for process in host.of_run("lock-a")} == {rank.pid for rank in ranks}
    assert host.of_run("innocent-b") == host.looks_of("innocent-b", 0.0) == host.groups_of("innocent-b") == ()
    # Other tests may run ranks on this machine at the same time.
    assert host.problems_of("innocent-b")[0].startswith(NOBODY)
    assert host.problems_of("lock-a") == ()


async def test_ranks_of_which_nothing_tells_whose_they_are_are_nobodys(start, runs, logs, settings):
    """It is said in words, and what would help."""
    start(0, log=logs["lock-a"])
    stranger = start(3)
    host = Host(replace(settings, runs=runs))
    await settled(host)

    assert stranger.pid in find_by_run(runs).unclear
    assert stranger.pid not in {process.pid for process in host.processes}
    (problem,) = host.problems_of("innocent-b")
    assert problem.startswith("cannot tell which run the processes are of (pid ")
    assert "[[runs]]" in problem


@pytest.mark.parametrize("through", ["{} | tee -a LOG >/dev/null", "exec >>LOG; {} & wait", "{} >>LOG & wait"])
def test_a_rank_is_found_through_what_its_launcher_did_with_its_output(start, runs, logs, through):
    """Piped into tee, inherited from a shell, or redirected."""
    marker = "import time; 'marker-of-through'; time.sleep(600)"
    start(1, through=through.replace("LOG", shlex.quote(str(logs["lock-a"]))), code=marker)

    def owners():
        return {member.run for member in find_by_run(runs).members if member.rank == 1}

    assert _soon(owners) == {"lock-a"}


def test_who_reads_a_log_or_started_both_runs_is_of_neither(start, runs, logs):
    """Only writing counts, and the nearest sign before one further away."""
    reading = f"import time; f = open({str(logs['innocent-b'])!r}); time.sleep(600)"
    reader = start(0, log=logs["lock-a"], code=reading)
    both = start(1, code=f"import time; f = [open(p, 'a') for p in {[str(log) for log in logs.values()]}]; {SLEEP}")

    def is_open():
        return both.pid in find_by_run(runs).unclear and told(runs, reader) == ["lock-a"]

    assert _soon(is_open)
    assert told(runs, both) == [None]


def test_who_writes_a_log_and_starts_another_job_beside_it_is_no_sign_for_that_job(start, runs, logs, tmp_path):
    """The other job's output goes to a file of its own, which nobody watches here."""
    job = "import subprocess, time, os; os.environ.update(RANK='2', LOCAL_RANK='2', WORLD_SIZE='4'); {}"
    child = f"subprocess.Popen([{sys.executable!r}, '-c', {SLEEP!r}], stdout=open({str(tmp_path / 'own.log')!r}, 'a'))"
    beside = f"f = open({str(logs['innocent-b'])!r}, 'a'); {child}; time.sleep(600)"
    parent = start(code=job.format(beside))

    def ranks():
        found = find_by_run(runs)
        return [pid for pid in found.unclear if _parent_of(pid) == parent.pid]

    (rank,) = _soon(ranks)
    assert rank not in {member.pid for member in find_by_run(runs).members}


async def test_a_rank_that_nothing_relates_to_its_run_any_more_is_not_told_as_gone(start, runs, logs, settings):
    """It lives: only a process that ended is gone."""
    rank = start(2, log=logs["lock-a"])
    host = Host(replace(settings, runs=runs))
    await settled(host)
    logs["lock-a"].rename(logs["lock-a"].with_suffix(".1"))

    await host.look(finds=True)

    assert rank.pid not in {process.pid for process in host.processes if process.state == "gone"}


def _parent_of(pid):
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def test_a_named_process_is_of_the_run_that_names_it(start, runs):
    """By pid or by its command line."""
    one, other = start(2), start(2, code="import time; 'this-is-b'; time.sleep(600)")

    assert told((replace(runs[0], pids=(one.pid,)), replace(runs[1], match="this-is-b")), one, other) == [
        "lock-a",
        "innocent-b",
    ]


async def test_the_facts_of_one_run_hold_no_process_of_another(watching, registry, start, two_runs, logs):
    """What a diagnosis is built of: processes, looks, memory and GPUs."""
    rank = start(2, log=logs["lock-a"])
    agent = await watching(two_runs)
    agent.gpus.newest = (GpuSample("node17", 3, 1.0, utilization_percent=0.0, pids=(rank.pid,)),)
    agent.gpus.ring.add(agent.gpus.newest)
    own = await asked(registry, agent, "lock-a")
    other = await asked(registry, agent, "innocent-b")

    assert {look.pid for look in unpack(own["facts"]).processes} == {rank.pid}
    assert unpack(own["facts"]).gpus
    facts = unpack(other["facts"])
    assert (facts.processes, facts.memory_groups, facts.gpus) == ((), (), ())
    assert other["processes"] == other["gpus"] == []
    assert any(problem.startswith(NOBODY) for problem in facts.problems)


def _soon(look):
    """What `look` gives once it is true; a shell takes a moment."""
    for _ in range(200):
        if found := look():
            return found
        subprocess.run(["sleep", "0.05"], check=True)
    return look()
