"""What the nodes of a living run tell becomes one case, on one clock, every log once."""

from dataclasses import replace

import pytest

from diagnosis.findings import Finding
from diagnosis.live_case import case_of
from diagnosis.next_steps import next_steps
from diagnosis.node_facts import LogAccount, MemoryGroup, NodeFacts
from diagnosis.observations import (
    Category,
    Evidence,
    GpuSample,
    Origin,
    ProcessSample,
    Role,
    StepSample,
    Symptom,
)
from diagnosis.root_cause import diagnose
from diagnosis.signatures import match

NOW = 1_700_000_000.0


def step(rank, number, *, file="train.log", node="n1", printed=NOW, read=NOW, line=1):
    evidence = Evidence(file, line, f"[rank{rank}] step {number} loss 2.0")
    return StepSample(Origin("run42", node, rank, rank), number, "printed", 2.0, evidence, time=printed, seen_at=read)


def log(file, *observations, ranks=(0,), line=1):
    newest = {str(rank): (Evidence(file, line + rank, f"[rank{rank}] line"),) for rank in ranks}
    return LogAccount(file, observations, newest, ranks=tuple(ranks), lines=line + 1)


def waiting(rank, wchan, *, node="n1", looks=8, state="sleeping"):
    return [
        ProcessSample(node, 100 + rank, NOW - looks + look, "python", state, 1.0, rank, rank, wchan, cpu_seconds=9.0)
        for look in range(looks)
    ]


def one_node(*wchans, **more):
    steps = [step(rank, 39, line=rank + 1) for rank in range(len(wchans))]
    processes = [look for rank, wchan in enumerate(wchans) for look in waiting(rank, wchan)]
    return NodeFacts(
        "n1", NOW, logs=(log("train.log", *steps, ranks=range(len(wchans))),), processes=tuple(processes), **more
    )


def test_the_rank_that_waits_for_a_lock_is_named_in_a_run_that_stands():
    """Three wait for data of their peers, one for a file lock: by several looks, not by one."""
    case = case_of(
        [one_node("sk_wait_data", "sk_wait_data", "locks_lock_inode_wait", "sk_wait_data")],
        looked_at=NOW,
        is_stalled=True,
    )

    said = diagnose(case)

    assert (said.culprit_rank, said.culprit_node, said.culprit_local_rank) == (2, "n1", 2)
    assert said.category is Category.STORAGE_STALL
    assert said.evidence is not None
    assert "locks_lock_inode_wait" in said.evidence.text


def test_the_same_waits_are_nothing_while_the_run_makes_progress():
    """Somebody always waits for somebody."""
    told = one_node("sk_wait_data", "sk_wait_data", "locks_lock_inode_wait", "sk_wait_data")

    said = diagnose(case_of([told], looked_at=NOW, is_stalled=False))

    assert said.category is Category.NONE
    assert said.culprit_rank is None


def test_one_look_in_state_d_among_many_is_no_place():
    """A rank that was caught writing its log once does not wait for storage."""
    processes = [look for rank in range(4) for look in waiting(rank, "sk_wait_data")]
    processes.append(
        ProcessSample("n1", 101, NOW, "python", "disk-sleep", 1.0, 1, 1, "folio_wait_bit", cpu_seconds=9.0)
    )
    steps = [step(rank, 39, line=rank + 1) for rank in range(4)]
    told = NodeFacts("n1", NOW, logs=(log("train.log", *steps, ranks=range(4)),), processes=tuple(processes))

    said = diagnose(case_of([told], looked_at=NOW, is_stalled=True))

    assert said.culprit_rank is None


def test_without_gpus_and_processes_nobody_is_named_and_it_says_what_is_missing():
    """A stall whose ranks all print alike."""
    told = one_node("x", "x", "x", "x")
    blind = NodeFacts("n1", NOW, logs=told.logs, problems=("no NVIDIA driver here",))

    said = diagnose(case_of([blind], looked_at=NOW, is_stalled=True))

    assert said.culprit_rank is None
    assert not said.suspects
    assert {"n1: no NVIDIA driver here", "no GPU readings", "no process states"} <= set(said.unknown)


def test_a_log_on_a_shared_disk_is_one_log():
    """Eight watchers tell it; what it says counts once."""
    account = log("/shared/train.log", step(0, 5, file="/shared/train.log"))

    case = case_of([NodeFacts(f"n{number}", NOW, logs=(account,)) for number in range(8)], looked_at=NOW)

    assert [file.path for file in case.of_kind("training_log")] == ["/shared/train.log"]


def test_two_local_logs_of_one_name_are_two():
    """Each node has its own /var/log/train.log; both stay, told apart by their nodes."""
    told = [
        NodeFacts(node, NOW, logs=(log("/var/log/train.log", step(rank, 5, node=node), ranks=(rank,), line=7 + rank),))
        for rank, node in enumerate(("n1", "n2"))
    ]

    paths = {file.path for file in case_of(told, looked_at=NOW).of_kind("training_log")}

    assert paths == {"n1:/var/log/train.log", "n2:/var/log/train.log"}


@pytest.mark.parametrize("zone", [0.0, 3600.0, -5.5 * 3600.0])
def test_times_of_all_zones_and_clocks_become_one(zone):
    """The zone is told by when lines came in, the clock by the watcher that measured it."""
    offset = 40.0
    local = NOW + offset
    lines = [
        step(0, number, printed=local + zone - 10 + number, read=local - 10 + number, line=number)
        for number in range(9)
    ]
    told = NodeFacts("n1", local, offset, (log("train.log", *lines),))

    (file,) = case_of([told], looked_at=NOW).of_kind("training_log")

    assert file.log is not None
    assert file.log.last_told is not None
    assert file.log.last_told.time == pytest.approx(NOW - 2.0)


def test_a_lost_gpu_names_the_rank_on_it():
    """The driver says so itself; the other GPUs spin."""
    gpus = [
        GpuSample(
            "n1",
            gpu,
            NOW - 60 + 5 * at,
            utilization_percent=100.0,
            power_watts=120.0,
            power_limit_watts=700.0,
            memory_used_bytes=60 << 30,
        )
        for gpu in (0, 1, 3)
        for at in range(12)
    ]
    gpus.append(GpuSample("n1", 2, NOW, problem="GPU is lost"))
    told = one_node("sk_wait_data", "sk_wait_data", "sk_wait_data", "sk_wait_data", gpus=tuple(gpus))

    said = diagnose(case_of([told], looked_at=NOW, is_stalled=True))

    assert (said.category, said.culprit_rank, said.culprit_node) == (Category.GPU_HARDWARE, 2, "n1")


def test_an_error_on_one_node_explains_timeouts_on_all():
    """One out of memory, 511 that waited for it: the one is named, whatever came first."""
    victims = [
        Symptom(
            Origin("run42", f"n{rank // 8}", rank, rank % 8), "nccl_watchdog_timeout", Role.CASCADE, Category.COLLECTIVE_HANG,
            Evidence(f"rank{rank}.log", 50, f"[Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=77, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600010 milliseconds before timing out."),
            {"seq": "77", "op": "ALLREDUCE", "elapsed": "600010"}, NOW + 600, NOW + 600,
        )
        for rank in range(512) if rank != 139
    ]  # fmt: skip
    oom = Symptom(
        Origin("run42", "n17", 139, 3), "cuda_oom", Role.ROOT, Category.GPU_OOM,
        Evidence("rank139.log", 12, "torch.OutOfMemoryError: CUDA out of memory."), {}, NOW, NOW,
    )  # fmt: skip
    by_node = {}
    for seen in [*victims, oom]:
        account = LogAccount(seen.evidence.file, (seen,), ranks=(seen.origin.rank,), rank=seen.origin.rank, lines=60)
        by_node.setdefault(seen.origin.node, []).append(account)
    told = [NodeFacts(node, NOW + 601, logs=tuple(logs)) for node, logs in by_node.items()]

    said = diagnose(case_of(told, looked_at=NOW + 601, is_stalled=True))

    assert (said.category, said.culprit_rank, said.culprit_node) == (Category.GPU_OOM, 139, "n17")


def test_the_straggler_of_a_slow_run_is_named_by_many_looks():
    """Steps go on, slower: in most looks three ranks wait, and the fourth computes."""
    slower = Finding(
        "slowdown", "warning", Origin("run42", "n1"), "steps are slower", (Evidence("train.log", 4, "step 39"),), 39
    )
    told = one_node("sk_wait_data", "sk_wait_data", "sk_wait_data", "hrtimer_nanosleep", findings=(slower,))

    said = diagnose(case_of([told], looked_at=NOW, is_stalled=False))

    assert (said.category, said.culprit_rank, said.culprit_node) == (Category.SLOWDOWN, 3, "n1")


KILL = (
    "E1129 16:12:19.010000 20875 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: -9) "
    "local_rank: 1 (pid: 20884) of binary: /opt/train/env/bin/python3"
)


def a_kill(node="n1", **more):
    """The launcher's word that a rank was killed, and what else its node tells."""
    seen = [replace(one, time=NOW) for one in match(KILL, Origin("run42", node), Evidence("train.log", 100, KILL))]
    return NodeFacts(node, NOW, logs=(log("train.log", step(1, 39), *seen, ranks=(1,)),), **more)


@pytest.mark.parametrize(
    ("facts", "says", "or_else"),
    [
        ({"reads_kernel_log": True}, "the kernel log is here and shows no out-of-memory kill", ""),
        ({"memory_groups": (MemoryGroup("/job", 0),)}, "counter tells of no kill", "ended it for lack of memory"),
        ({}, "", "without the kernel log this cannot be told apart"),
    ],
)
def test_only_a_kernel_log_that_was_read_says_that_the_kernel_did_not_kill(facts, says, or_else):
    """A counter of a memory group is none, and what was not read is not called silent."""
    said = diagnose(case_of([a_kill(**facts)], looked_at=NOW, is_stalled=True))
    because, has_log = " ".join(said.because), "reads_kernel_log" in facts

    assert says in because
    assert or_else in said.runner_up
    assert ("kernel log is here" in because) is has_log
    assert any("no kernel log" in what for what in said.unknown) is not has_log
    finding = Finding("killed", "critical", Origin("run42", "n1"), "killed", details={"more": because})
    assert next_steps(finding)[0].startswith("The kernel did not end it") is has_log


@pytest.mark.parametrize("days", [-20, 0, 20])
@pytest.mark.parametrize(
    "facts", [{"reads_kernel_log": True}, {"memory_groups": (MemoryGroup("/job", 0),)}], ids=["kernel log", "counter"]
)
def test_a_node_knows_nothing_of_a_copied_log_of_another_day(facts, days):
    """It is read line by line as if it grew here: that this kernel killed nobody says nothing of that one."""
    told = a_kill(**facts)
    moved = replace(
        told.logs[0],
        observations=tuple(replace(one, time=NOW + days * 86_400.0, seen_at=NOW) for one in told.logs[0].observations),
    )

    said = diagnose(case_of([replace(told, logs=(moved,))], looked_at=NOW, is_stalled=True))

    because = " ".join(said.because)
    assert ("kernel log is here" in because or "tells of no kill" in because) is (days == 0)


@pytest.mark.parametrize(
    ("pid", "seconds_before", "has_kernel_pids", "is_ours"),
    [
        (77, 1.0, False, True),
        (77, 1.0, True, False),
        (20884, 1.0, True, True),
        (77, 3600.0, False, False),
    ],
    ids=["of whom is not known", "of a stranger", "of the rank", "an hour before"],
)
def test_only_a_kill_that_can_be_the_ranks_is_its_end(pid, seconds_before, has_kernel_pids, is_ours):
    """The watcher places both clocks, so that an hour's difference is no other zone."""
    text = f"[7411.1] Memory cgroup out of memory: Killed process {pid} (python3) total-vm:4kB, anon-rss:7kB"
    kernel = match(text, Origin("run42", "n1"), Evidence("kernel log", 1, text))
    told = a_kill(
        kernel=tuple(replace(one, time=NOW - seconds_before) for one in kernel),
        reads_kernel_log=True,
        processes=(ProcessSample("n1", 20884, NOW, "python3", "gone", 1.0, 1, 1),),
        has_kernel_pids=has_kernel_pids,
    )

    said = diagnose(case_of([told], looked_at=NOW, is_stalled=True))

    assert (said.culprit_rank, said.category is Category.HOST_OOM) == (1, is_ours)


def test_the_kernel_log_of_another_node_says_nothing():
    """A kill on n1, and a readable kernel log on n2 only."""
    told = [a_kill(), NodeFacts("n2", NOW, reads_kernel_log=True)]

    said = diagnose(case_of(told, looked_at=NOW, is_stalled=True))

    assert "kernel log is here" not in " ".join(said.because)


@pytest.mark.parametrize("ranks", [(), (0,), (0, 1, 2, 3)])
def test_a_stall_of_which_nothing_but_the_log_is_known_is_no_wait(ranks):
    """Why cannot be told, and what lacks is said; that ranks wait for each other nobody has seen."""
    steps = [step(rank, 39, line=number + 1) for number, rank in enumerate(ranks or (None,))]
    told = NodeFacts("n1", NOW, logs=(log("train.log", *steps, ranks=ranks),))

    said = diagnose(case_of([told], looked_at=NOW, is_stalled=True))

    assert (said.category, said.culprit_rank, said.suspects) == (Category.NONE, None, ())
    assert {"no GPU readings", "no process states"} <= set(said.unknown)


def test_ranks_that_were_all_seen_waiting_are_still_a_hang():
    """Nobody differs, but they were looked at."""
    said = diagnose(case_of([one_node(*["sk_wait_data"] * 4)], looked_at=NOW, is_stalled=True))

    assert said.category is Category.COLLECTIVE_HANG
