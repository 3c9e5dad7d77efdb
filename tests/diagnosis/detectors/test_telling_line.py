"""Telling lines: a cause is critical, a consequence quieter, an explanation silent."""

from dataclasses import replace

import pytest

from diagnosis.detectors.line_words import BY_ROW, SAID, UNPROVEN_KILLS, words_for, words_of
from diagnosis.detectors.telling_line import KIND_OF, TellingLine
from diagnosis.findings import Severity
from diagnosis.observations import Category, Evidence, Origin, Role
from diagnosis.signatures import ROWS, match
from diagnosis.thresholds import Thresholds
from tests.diagnosis.lines import Watching, findings, kinds, rank, symptom


@pytest.fixture
def watching():
    return Watching(TellingLine(Thresholds()))


def test_cuda_out_of_memory_is_one_critical_finding(watching):
    """With the rank, the line and what the line names."""
    (finding,) = findings(watching.feed(symptom(tried="12.28 GiB", origin=rank(3))))

    assert (finding.kind, finding.severity) == ("gpu_oom", Severity.CRITICAL)
    assert finding.text == "a GPU ran out of memory on rank 3: it asked for 12.28 GiB"
    assert finding.details == {"signature": "cuda_oom", "tried": "12.28 GiB", "tier": "1"}
    assert finding.evidence[0].line == 7


def test_more_ranks_join_under_the_same_kind(watching):
    """Each rank speaks once, however many lines it prints."""
    watching.feed([symptom(origin=rank(number)) for number in (0, 0, 1, 1, 2)])

    assert [(one.kind, one.origin.rank) for one in findings(watching.said)] == [
        ("gpu_oom", 0), ("gpu_oom", 1), ("gpu_oom", 2),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("role", "category", "severity"),
    [
        (Role.ROOT, Category.DISK_FULL, Severity.CRITICAL),
        (Role.CONFIRM, Category.HOST_OOM, Severity.CRITICAL),
        (Role.ROOT, Category.PREEMPTED, Severity.WARNING),
        (Role.CASCADE, Category.COLLECTIVE_HANG, Severity.WARNING),
        (Role.CASCADE, Category.NETWORK_FAULT, Severity.INFO),
    ],
)
def test_severity_follows_role_and_category(watching, role, category, severity):
    """A watchdog's timeout is often the only line of a hang, so it is never mere information."""
    (finding,) = findings(watching.feed(symptom("row", role=role, category=category)))

    assert finding.severity is severity


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (
            symptom(category=Category.COLLECTIVE_HANG, role=Role.CASCADE, op="ALLREDUCE", seq="1580", ran_ms="600060"),
            "a collective timed out on rank 0: ALLREDUCE number 1580 after 10 min",
        ),
        (
            symptom(category=Category.RANK_CRASH, type="TypeError", message="iteration over a 0-d tensor"),
            "a process of the training crashed on rank 0: TypeError: iteration over a 0-d tensor",
        ),
        (
            symptom(category=Category.RANK_CRASH, role=Role.CASCADE),
            "in consequence of another failure, a process of the training crashed on rank 0",
        ),
        (symptom(category=Category.PREEMPTED, what="JOB", reason="TIME LIMIT"), "the job was told to stop: TIME LIMIT"),
        (symptom(category=Category.DISK_FULL, what="x" * 500), "a disk is full on rank 0: " + "x" * 120),
    ],
    ids=["collective", "exception", "consequence", "stop", "long"],
)
def test_the_sentence_says_what_the_line_names(watching, line, text):
    """In few words, whatever the line holds."""
    (finding,) = findings(watching.feed(line))

    assert finding.text == text


def test_two_rows_that_know_one_line_are_one_finding(watching):
    """Slurm's line of a time limit is in two tables."""
    watching.feed(symptom("one", category=Category.PREEMPTED))

    two = replace(symptom("one", category=Category.PREEMPTED), signature="two")
    assert watching.feed(two) == []


@pytest.mark.parametrize("role", [Role.CONTEXT, Role.BENIGN])
def test_what_only_explains_is_silent(watching, role):
    """The root-cause search reads such lines; nobody is woken for them."""
    assert watching.feed(symptom(role=role)) == []


def test_a_line_of_no_category_is_silent(watching):
    """`none` is no trouble."""
    assert watching.feed(symptom(category=Category.NONE)) == []


def test_every_category_has_a_kind_and_a_sentence():
    """A new category cannot be forgotten here."""
    assert set(KIND_OF) == set(SAID) == set(Category) - {Category.NONE}


def test_memory_is_bounded(watching):
    """A log of a million ranks is not remembered rank by rank."""
    watching.feed([symptom(origin=rank(number)) for number in range(6000)])

    assert len(kinds(watching.said)) == 4096


@pytest.mark.parametrize("name", sorted(BY_ROW))
def test_words_of_a_row_fit_its_own_line(name):
    """Each row that has words of its own exists, and its example fills every place in them."""
    line = ROWS[name].example

    found = [one for one in match(line, Origin(), Evidence("f", 1, line), None, None) if one.signature == name]

    assert "{" not in words_of(found[0])
    assert words_of(found[0]) != SAID[found[0].category] or BY_ROW[name] == SAID[found[0].category]


@pytest.mark.parametrize("name", sorted(UNPROVEN_KILLS))
def test_a_bare_sigkill_is_never_called_out_of_memory(watching, name):
    """Often it is the kernel, sometimes a person: what is seen is said, what it often is stands beside it, unproven."""
    fields = {"exit_code": "-9"} if "exit_code" in ROWS[name].pattern.groupindex else {}
    seen = symptom(name, category=Category.HOST_OOM, origin=Origin("r", "node02", 1), **fields)

    (finding,) = findings(watching.feed(seen))

    assert (finding.kind, finding.severity) == ("killed", Severity.CRITICAL)
    assert "killed by SIGKILL" in finding.text
    assert "memory" not in finding.text
    assert "nothing here proves it" in finding.details["more"]


def test_a_container_that_was_killed_calls_nobody(watching):
    """It may be the training's or a helper's: whoever trains is missed by its steps."""
    seen = symptom(
        "container_exit", category=Category.HOST_OOM, origin=Origin("r"), container="logger-1", exit_code="137"
    )

    (finding,) = findings(watching.feed(seen))

    assert (finding.kind, finding.severity) == ("killed", Severity.WARNING)
    assert finding.text == "container logger-1 ended with exit code 137"


@pytest.mark.parametrize(
    ("line", "is_told"),
    [
        ("Memory failure: 0x3d4e9f2: Sending SIGBUS to prometheus:4105 due to hardware memory corruption", False),
        ("Memory failure: 0x3d4e9f2: Sending SIGBUS to python:4105 due to hardware memory corruption", True),
        ("INFO: task jbd2/sda1-8:612 blocked for more than 120 seconds.", False),
        ("INFO: task pt_data_worker:612 blocked for more than 120 seconds.", True),
        ("Memory cgroup out of memory: Killed process 77 (chrome) total-vm:4kB, anon-rss:7kB", False),
        ("Memory cgroup out of memory: Killed process 77 (python3) total-vm:4kB, anon-rss:7kB", True),
        ("Out of memory: Killed process 77 (chrome) total-vm:4kB, anon-rss:7kB", True),
        ("sshd[881]: segfault at 0 ip 00007f00 sp 00007fff error 4 in libc.so.6[7f+1]", False),
        ("python3[881]: segfault at 0 ip 00007f00 sp 00007fff error 4 in libtorch.so[7f+1]", True),
        ("ERROR Uncaught ValueError: bad shard, retrying (1/3)", False),
        ("ERROR Uncaught ValueError: bad shard", True),
        ("WARNING non-finite grad norm, skipping optimizer step", False),
        ("ERROR non-finite grad norm", True),
    ],
)
def test_what_others_do_on_the_machine_calls_nobody(watching, line, is_told):
    """A kernel tells of everybody's processes; who tries again has ended nothing."""
    told = [watching.feed(one) for one in match(line, Origin("r", "node02"), Evidence("f", 1, line))]

    assert any(findings(said) for said in told) is is_told


@pytest.mark.parametrize("name", ["kernel_oom_kill", "slurm_oom", "srun_task_oom", "kubernetes_oom", "ray_workers_oom"])
def test_a_kernel_a_scheduler_and_ray_prove_it(watching, name):
    """Whoever did it says so."""
    seen = symptom(name, category=Category.HOST_OOM, role=Role.CONFIRM)

    (finding,) = findings(watching.feed(seen))

    assert finding.kind == "host_oom"
    assert finding.text.startswith("the host ran out of memory")


@pytest.mark.parametrize(
    "before",
    [
        symptom("slurm_cancelled", category=Category.PREEMPTED, role=Role.CASCADE),
        symptom("agent_got_signal", category=Category.PREEMPTED, role=Role.CASCADE),
        symptom("elastic_forced_exit", category=Category.RANK_CRASH, role=Role.CASCADE, pid="17"),
    ],
    ids=["cancelled", "signal", "forced"],
)
def test_a_kill_that_was_asked_for_is_a_consequence(watching, before):
    """The scheduler or the launcher ended it: no cause, and no page."""
    watching.feed(before)

    (finding,) = findings(
        watching.feed(symptom("elastic_worker_failed", category=Category.HOST_OOM, exit_code="-9", pid="17"))
    )

    assert (finding.severity, finding.details["follows"]) == (Severity.INFO, "yes")


QUOTED = [
    ['    raise RuntimeError("CUDA out of memory. Lower the batch") from e', "ValueError: a"],
    ["[rank2]:     logger.error('No space left on device')", "[rank2]: ValueError: a"],
    ['│ ❱   87 │   │   raise RuntimeError("CUDA out of memory. Lower the batch") from e │', "ValueError: a"],
]


@pytest.mark.parametrize("lines", QUOTED)
def test_code_that_a_traceback_quotes_alarms_nobody(watching, lines):
    """It was printed by nobody: only the exception at the end was."""
    text = ["Traceback (most recent call last):", '  File "/w/train.py", line 88, in step', *lines]
    for number, line in enumerate(text, 1):
        watching.feed(match(line.removeprefix("[rank2]: "), Origin(), Evidence("a.log", number, line)))

    assert kinds(watching.said) == ["rank_crash"]


def test_words_come_from_what_a_diagnosis_keeps_of_a_line():
    """A title never shows the launcher's raw line."""
    said = words_for("elastic_worker_failed", Category.HOST_OOM, {"exit_code": "-9"})

    assert said == "a process was killed by SIGKILL (exit code -9)"
    assert words_for("xid", Category.GPU_HARDWARE, {}) == "a GPU reports a fault"
