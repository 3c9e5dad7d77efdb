"""A node's evidence travels whole, packed small, and is cut where it would be too much."""

import base64
import json
import zlib

import pytest

from diagnosis.node_facts import LogAccount, MemoryGroup, NodeFacts
from diagnosis.observations import (
    AttemptMark,
    Category,
    Evidence,
    GpuSample,
    Origin,
    Phase,
    PhaseMark,
    ProcessSample,
    Role,
    StepSample,
    Symptom,
)
from registry.facts import pack, unpack

WHERE = Origin("run42", "n1", 3, 3)


def line(number, text="step"):
    return Evidence("train.log", number, text)


def symptom(rank, signature="nccl_watchdog_timeout", text="timed out"):
    fields = {"op": "ALLREDUCE"}
    origin = Origin("run42", "n1", rank)
    return Symptom(origin, signature, Role.CASCADE, Category.COLLECTIVE_HANG, line(rank + 1, text), fields, 9.0)


def facts(symptoms=(), **more):
    observations = (
        AttemptMark(WHERE, "banner", line(1), {"world_size": "8"}),
        StepSample(WHERE, 41, "printed", float("nan"), line(2), time=8.0, seen_at=8.5),
        PhaseMark(WHERE, Phase.SAVING, True, line(3)),
        *symptoms,
    )
    log = LogAccount("train.log", observations, {"3": (line(3),), "": (line(4),)}, ranks=(3,), lines=4)
    return NodeFacts("n1", 10.0, 0.25, (log,), **more)


def test_everything_arrives_as_it_was_told():
    """Logs, GPUs, processes, memory groups, problems; NaN stays NaN."""
    told = facts(
        [symptom(3)],
        gpus=(GpuSample("n1", 0, 9.0, utilization_percent=100.0),),
        processes=(ProcessSample("n1", 7, 9.0, "python", "sleeping", rank=3, wchan="nfs_wait"),),
        memory_groups=(MemoryGroup("/sys/fs/cgroup/job", 1, 1 << 30),),
        problems=("no NVIDIA driver here",),
        reads_kernel_log=True,
    )

    got = unpack(pack(told))

    assert got is not None
    assert repr(got) == repr(told)


def test_too_much_is_cut_and_says_so():
    """The first and the last telling lines stay, everything fits, what was left out is counted."""
    told = facts([symptom(rank, text=f"{rank:05} {rank * 7919:x}" * 40) for rank in range(4000)])

    pieces = pack(told, most_bytes=16 << 10)
    got = unpack(pieces)

    assert sum(map(len, pieces)) < 24 << 10
    assert got is not None
    (log,) = got.logs
    kept = [seen.origin.rank for seen in log.observations if isinstance(seen, Symptom)]
    assert kept[0] == 0
    assert kept[-1] == 3999
    assert log.dropped == 4000 - len(kept)


@pytest.mark.parametrize(
    "pieces",
    [
        None,
        7,
        [],
        ["not base85 \x00"],
        [base64.b85encode(b"no zlib").decode()],
        [base64.b85encode(zlib.compress(b"[1, 2")).decode()],
        [base64.b85encode(zlib.compress(json.dumps([1]).encode())).decode()],
        [base64.b85encode(zlib.compress(json.dumps({"node": 1, "logs": 7}).encode())).decode()],
        [base64.b85encode(zlib.compress(b"0" * (64 << 20))).decode()],
    ],
)
def test_nonsense_is_no_facts(pieces):
    """Whatever arrives, nothing is raised, and nothing unpacks without end."""
    assert unpack(pieces) is None


def test_what_a_newer_watcher_says_is_passed_by():
    """An observation of an unknown kind is left out, the rest is read."""
    plain = json.loads(zlib.decompress(base64.b85decode("".join(pack(facts([symptom(3)]))))))
    plain["logs"][0]["observations"].append({"t": "prophecy", "text": "doom"})
    newer = [base64.b85encode(zlib.compress(json.dumps(plain).encode())).decode()]

    got = unpack(newer)

    assert got is not None
    assert len(got.logs[0].observations) == 4
