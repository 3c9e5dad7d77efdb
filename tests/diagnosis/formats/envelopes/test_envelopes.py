"""Every envelope comes off, says where the line comes from, and may be stacked with others."""

import json
import pkgutil
from importlib import import_module

import pytest

from diagnosis.formats import envelopes
from diagnosis.formats.envelopes import ENVELOPES
from diagnosis.formats.envelopes.base import Envelope
from diagnosis.observations import Origin
from tests.diagnosis.formats.reading import facts, losses, read, reader_of, samples

STEP = "step=1200 loss=2.31 lr=0.0001 grad_norm=1.8"
DOCKER = json.dumps({"log": STEP + "\n", "stream": "stdout", "time": "2024-05-01T12:00:00.5Z"})


@pytest.mark.parametrize(
    ("line", "expected", "name"),
    [
        (f"[rank3]:{STEP}", {"rank": 3}, "rank tag"),
        (f"[rank3]: {STEP}", {"rank": 3}, "rank tag"),
        (f"[default7]:{STEP}", {"local_rank": 7}, "torchrun tee"),
        (f"[trainer2]:{STEP}", {"local_rank": 2}, "torchrun tee"),
        (f"  0: {STEP}", {"rank": 0}, "srun label"),
        (f"419: {STEP}", {"rank": 419}, "srun label"),
        (f"slurm_procid 5 : {STEP}", {"rank": 5}, "slurm procid"),
        (f"(WorkerDict pid=19740) {STEP}", {}, "ray"),
        (f"(WorkerDict pid=19740, ip=10.0.0.2) {STEP}", {"node": "10.0.0.2"}, "ray"),
        (f"\x1b[36m(TaskRunner pid=1)\x1b[0m {STEP}", {}, "ray"),
        (f"(node-0, worker1, rank=1, pid=22755, ip=10.0.0.3) {STEP}", {"node": "node-0"}, "skypilot"),
        (f"(node-2, head, rank=0, pid=23862) {STEP}", {"node": "node-2"}, "skypilot"),
        (f"(worker1, rank=1, pid=2003, ip=10.0.0.2) {STEP}", {"node": "worker1"}, "skypilot"),
        (f"[1,mpirank:5,algo-2]<stderr>:{STEP}", {"rank": 5, "node": "algo-2"}, "mpirun tag"),
        (
            f"[20251202 09:12:08][rank-7/8][INFO ] [--------trainer.py:2560] : {STEP}",
            {"rank": 7, "time": 1764666728},
            "primus",
        ),
        (
            f"[2024-01-19 08:21:59,664] [INFO] [axolotl.x:193] [PID:6552] [RANK:4] {STEP}",
            {"rank": 4, "time": 1705652519.664},
            "axolotl",
        ),
        (
            f"2025-12-12 11:05:02.009\tnode001:0\tolmo.train:979\tINFO\t{STEP}",
            {"node": "node001", "local_rank": 0, "time": 1765537502.009},
            "olmo head",
        ),
        (f"10/17/2025 16:31:56 [INFO|DP=0|PP=0|TP=0]: {STEP}", {"time": 1760718716}, "nanotron head"),
        (f"[0434:0]:{STEP}", {"node": "0434", "local_rank": 0}, "node and rank"),
        (f"[HCTR][19:39:43.963][INFO][RK3][main]: {STEP}", {"rank": 3}, "hugectr head"),
        (f"[1,12]<stdout>:{STEP}", {"rank": 12}, "mpirun tag"),
        (f"Fri Sep 25 16:52:57 2020[1,3]<stderr>:{STEP}", {"rank": 3, "time": 1601052777}, "mpirun tag"),
        (f"Fri Sep  4 16:52:57 2020[2]<stdout>:{STEP}", {"rank": 2}, "mpirun tag"),
        (f"[prterun-node1-77@1,5]<stdout>: {STEP}", {"rank": 5}, "mpirun tag"),
        (f"i.pretrain/0 [default2]:{STEP}", {"local_rank": 2}, "torchx + torchrun tee"),
        (DOCKER, {"time": 1714564800.5}, "docker json"),
        (
            json.dumps({"timestamp": "2024-05-01T12:00:00.5Z", "level": "INFO", "message": STEP}),
            {"time": 1714564800.5},
            "json message",
        ),
        (f"2024-05-01T12:00:00.500000000Z stdout F {STEP}", {"time": 1714564800.5}, "cri"),
        (f"2024-05-01T14:00:00.5+02:00 stderr F {STEP}", {"time": 1714564800.5}, "cri"),
        (f"2024-05-01T12:00:00.5Z {STEP}", {"time": 1714564800.5}, "container time"),
        (f"[pod/train-worker-3/pytorch] {STEP}", {"node": "train-worker-3"}, "kubectl prefix"),
        (f"May  1 12:00:00 node001 python[123]: {STEP}", {"node": "node001"}, "syslog"),
        (
            f"[node001] 2021-04-23 19:22:56,245 (trainer:636) INFO: {STEP}",
            {"node": "node001", "time": 1619205776.245},
            "espnet head",
        ),
        (f"419: [rank419]:{STEP}", {"rank": 419}, "srun label + rank tag"),
        (f"  3: [default1]:{STEP}", {"node": "task3", "local_rank": 1}, "srun label + torchrun tee"),
        (f"2024-05-01T12:00:00.5Z [rank2]: {STEP}", {"rank": 2, "time": 1714564800.5}, "container time + rank tag"),
        (f"[default3]:2026-11-29 16:11:40,552 INFO [rank11] {STEP}", {"rank": 11, "local_rank": 3}, "torchrun tee"),
        (f"[2026-11-29 16:11:40] [Rank 5] {STEP}", {"rank": 5}, None),
    ],
)
def test_an_envelope_comes_off_and_says_where_the_line_is_from(line, expected, name):
    """The first line and those after it, which are read by a learned shape, say the same."""
    reader, seen = reader_of(f"{line}\n{line.replace('1200', '1201')}\n")

    assert [one.loss for one in samples(seen)] == [2.31, 2.31]
    for one in samples(seen):
        said = facts(one)
        assert {key: said.get(key) for key in ("rank", "local_rank", "node")} == {
            key: expected.get(key) for key in ("rank", "local_rank", "node")
        }
        if "time" in expected:
            assert said["time"] == pytest.approx(expected["time"])
    assert reader.envelope == name


def test_a_hosts_name_is_believed_after_several_lines():
    """`worker-2: text` looks like any word with a colon."""
    _, seen = reader_of("".join(f"worker-2: {STEP.replace('1200', str(step))}\n" for step in range(1, 20)))

    assert samples(seen)[-1].origin.node == "worker-2"
    assert [one.step for one in samples(seen)] == list(range(1, 20))


@pytest.mark.parametrize("line", ["step3: loss=2.0 lr=1", "loss: 2.5 step: 7", "epoch1: step 5 loss 2.0"])
def test_words_with_a_colon_are_no_hosts(line):
    """However often they come."""
    _, seen = reader_of(f"{line}\n" * 30)

    assert {one.origin.node for one in samples(seen)} <= {None}


def test_a_line_that_the_runtime_cut_in_parts_is_joined():
    """CRI marks parts with P, Docker leaves out the line feed."""
    head, tail = STEP[:20], STEP[20:]
    cri = (
        f"2024-05-01T12:00:00.5Z stdout P {head}\n2024-05-01T12:00:00.6Z stdout F {tail}\n"
        f"2024-05-01T12:00:00.7Z stdout F {STEP.replace('1200', '1201')}\n"
    )
    docker = "".join(
        json.dumps({"log": part, "stream": "stdout", "time": "2024-05-01T12:00:00.5Z"}) + "\n"
        for part in (head, tail + "\n")
    )

    assert [one.step for one in samples(reader_of(cri)[1])] == [1200, 1201]
    assert [one.step for one in samples(reader_of(docker)[1])] == [1200]


def test_a_part_without_its_end_is_read_at_the_end_of_the_log():
    """The runtime died with the job."""
    _, seen = reader_of(f"2024-05-01T12:00:00.5Z stdout P {STEP}\n")

    assert [one.step for one in samples(seen)] == [1200]


def test_a_bar_inside_a_docker_line_is_split():
    """The container runtime stores its carriage returns as text."""
    bars = "".join(f"\r {step}%|█| {step}/100 [00:10<00:10,  1.00s/it, loss=2.{step}]" for step in (1, 2, 3))
    line = json.dumps({"log": bars + "\n", "stream": "stderr", "time": "2024-05-01T12:00:00.5Z"}) + "\n"

    assert [(one.step, one.loss) for one in samples(reader_of(line)[1])] == [(1, 2.1), (2, 2.2), (3, 2.3)]


def test_the_evidence_is_the_line_as_it_was_printed():
    """Prefix and all, so that a person finds it with grep."""
    _, seen = reader_of(f"noise\n[default7]:{STEP}\n")

    evidence = samples(seen)[0].evidence
    assert (evidence.line, evidence.text, evidence.offset) == (2, f"[default7]:{STEP}", 6)


def test_what_the_file_name_says_fills_what_the_line_does_not():
    """A rank in the line is nearer to the truth than one in the name."""
    _, seen = reader_of(f"{STEP}\n[rank9]: {STEP}\n", origin=Origin(run="r", node="node17", rank=3))

    assert [(one.origin.node, one.origin.rank) for one in samples(seen)] == [("node17", 3), ("node17", 9)]


def test_every_file_of_the_folder_stands_in_the_tuple():
    """So nobody forgets the line."""
    names = [name for _, name, _ in pkgutil.iter_modules(envelopes.__path__) if name != "base"]

    modules = [import_module(f"diagnosis.formats.envelopes.{name}") for name in names]

    assert all(isinstance(module.ENVELOPE, Envelope) for module in modules)
    assert {one for module in modules for one in vars(module).values() if isinstance(one, Envelope)} == set(ENVELOPES)


@pytest.mark.parametrize("key", ["log", "message"])
def test_colours_inside_a_json_object_are_taken_off(key):
    """A container runtime and a structured logger write the escape as text."""
    text = "".join(
        json.dumps({key: f"\x1b[31mstep {step} loss 2.5\x1b[0m\n", "stream": "stdout", "time": "2024-05-01T12:00:00.1Z"}) + "\n"
        for step in range(1, 13)
    )  # fmt: skip

    assert [step for step, _ in losses(read(text))] == list(range(1, 13))


def test_whatever_names_a_process_names_the_same_one():
    """One counter goes on where a launcher's label and then a container's time stand in front of a rank's tag."""
    prefixes = ("  3: [rank0]: ", "2024-05-01T12:00:00.5Z stdout F [rank0]: ", "[rank0]: ", "0: ")

    seen = read("".join(f"{prefix}step={step} loss=2.5\n" for prefix in prefixes for step in range(3)))

    origins = {id(one.origin) for one in samples(seen)}
    assert len(origins) == 1
