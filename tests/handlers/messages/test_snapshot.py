"""The answer to /snapshot says first how complete it is."""

import pytest

from handlers.messages.languages import speaking
from handlers.messages.snapshot import NodeSaved, nobody_to_ask, safe_to_stop, saved_of, say_bytes, snapshot_answer
from handlers.messages.snapshot_gaps import gaps
from handlers.messages.snapshot_text import snapshot_text


def answer(**more):
    pieces = [
        {"name": "log_tails", "outcome": "collected", "bytes": 1000},
        {"name": "nvidia_smi", "outcome": "timed out", "why": "no answer in 20 s", "bytes": 0},
        {"name": "core_dumps", "outcome": "empty", "bytes": 0},
    ]
    return {
        "node": "node01",
        "bytes": 222_298_112,
        "files": 12,
        "masked": 3,
        "path": "/var/rw/s1",
        "pieces": pieces,
    } | more


def test_everybody_answered():
    """Nodes, size, time, what was masked, what could not be saved and why."""
    said = snapshot_answer("run42", [saved_of("node01", answer())], [], 38.0, "before the restart")

    assert said.text == "*Snapshot of run42: 1 of 1 nodes, 212 MiB, 38 s.*"
    whole = str(said.blocks)
    for part in (
        "3 secrets masked.",
        "Stored at `/var/rw/s1`.",
        "Note: before the restart.",
        "nvidia_smi: no answer in 20 s",
    ):
        assert part in whole
    assert "core_dumps" not in whole
    assert "*Safe to stop now*" in whole
    assert "`/runwatch checklist run42`" in whole


SMI = [f"nvidia_smi_{one}: no nvidia-smi here" for one in ("table", "report", "topology", "processes")]


@pytest.mark.parametrize(
    ("missing", "line"),
    [
        (
            {"n1": [*SMI, "stacks: not allowed for this run (--stacks)"]},
            "Not saved on n1: nvidia-smi (4 pieces): no nvidia-smi here; stacks: not allowed for this run (--stacks)",
        ),
        ({"n1": SMI[:1]}, "Not saved on n1: nvidia_smi_table: no nvidia-smi here"),
        ({"n1": SMI, "n2": SMI}, "Not saved on n1, n2: nvidia-smi (4 pieces): no nvidia-smi here"),
        (
            {f"n{n}": ["disks: too slow", "network: too slow"] for n in range(9)},
            "Not saved on n0, n1, n2, n3 and 5 more: disks, network: too slow",
        ),
        ({"n1": SMI, "n2": ["disks"]}, "Not saved on n1: nvidia-smi (4 pieces): no nvidia-smi here"),
    ],
)
def test_what_lacks_is_one_short_line(missing, line):
    """Every reason once, pieces of one tool counted, nodes that lack the same together; in Chinese as well."""
    saved = [saved_of(node, answer(node=node, pieces=[], missing=lacks)) for node, lacks in missing.items()]

    told = [one.plain for one in gaps(saved)]
    with speaking("zh"):
        chinese = [one.plain for one in gaps(saved)]

    assert told[0] == f"• {line}"
    assert len(told) == len({tuple(lacks) for lacks in missing.values()})
    assert not [text for text in chinese if "Not saved" in text or "pieces" in text]


def test_a_missing_node_is_named_first_and_it_is_not_complete():
    """Nobody stops a run believing that all is saved."""
    said = snapshot_answer(
        "run42", [saved_of("node01", answer())], [NodeSaved("node09", silent_seconds=240.0)], 60.0, ""
    )

    assert "1 of 2 nodes" in said.text
    assert said.text.startswith("*No answer from* node09 (its watcher was last heard 4 min ago). *Snapshot of")
    assert "*Not yet safe to stop*: node09 did not answer." in str(said.blocks)


def test_what_a_stop_must_wait_for_is_named():
    """Without the logs of a node nothing is called safe; an answer of a driver may be missing."""
    waits = answer(essential_missing=["log_tails", "processes"])

    said = snapshot_answer("run42", [saved_of("node01", waits), saved_of("node02", answer(node="node02"))], [], 9.0, "")

    assert "*Not yet safe to stop*: node01 lacks its logs and process states." in str(said.blocks)


NAMES = ("log_tails", "gpu_ring", "processes", "kernel_messages")


def essentials(**outcomes):
    reasons = {
        "gpu_ring": "no NVIDIA driver here",
        "processes": "no process of the job was found on this node",
        "kernel_messages": "kernel log not readable: operation not permitted",
    }
    return [
        {"name": name, "outcome": outcomes.get(name, "collected")}
        | ({"why": reasons[name]} if outcomes.get(name) in ("unavailable", "empty") and name in reasons else {})
        for name in NAMES
    ]


@pytest.mark.parametrize(
    ("outcomes", "sentence"),
    [
        ({}, "logs, GPU readings, process states and kernel lines of this node are saved."),
        (
            {"gpu_ring": "empty", "processes": "unavailable", "kernel_messages": "unavailable"},
            (
                "logs of this node are saved. Not there: GPU readings (no NVIDIA driver here); process states (no "
                "process of the job was found on this node); kernel lines (kernel log not readable)."
            ),
        ),
        (dict.fromkeys(NAMES, "unavailable"), "nothing more can be saved here. Not there: logs; GPU readings ("),
        (dict.fromkeys(("log_tails", "gpu_ring", "processes"), "empty"), "kernel lines of this node are saved. Not "),
    ],
)
def test_safe_names_only_what_is_in(outcomes, sentence):
    """What could not be had on a node is never called saved."""
    body = answer(pieces=essentials(**outcomes))

    assert safe_to_stop([saved_of("node01", body)], []).plain.startswith(f"Safe to stop now: {sentence}")


def test_a_watcher_that_lists_no_pieces_is_believed_no_more_than_it_says():
    """Another version may answer so."""
    said = safe_to_stop([saved_of("node01", answer(pieces=[]))], []).plain

    assert said == "Safe to stop now: nothing more can be saved here."


def test_what_only_some_nodes_lack_is_told_with_their_names():
    """The others have it."""
    whole = saved_of("node01", answer(pieces=essentials()))
    blind = saved_of("node02", answer(node="node02", pieces=essentials(gpu_ring="empty")))

    said = safe_to_stop([whole, blind], []).plain

    assert said == (
        "Safe to stop now: logs, process states and kernel lines of every node are saved. "
        "Not there: GPU readings (on node02; no NVIDIA driver here)."
    )


def test_a_copy_in_the_store_is_told_and_a_missing_one_too():
    stored = answer(url="s3://b/run42/x-node01")
    both = snapshot_answer("run42", [saved_of("node01", stored)], [], 9.0, "")
    lost = snapshot_answer("run42", [saved_of("node01", answer(url_problem="no space"))], [], 9.0, "")

    assert "together at `s3://b/run42`" in str(both.blocks)
    assert "no copy in the store, only on the node: no space" in str(lost.blocks)


def test_the_text_beside_it_holds_every_outcome_and_every_finding():
    """What others wrote cannot forge a line of ours."""
    moment = {
        "text": "loss is NaN",
        "file": "/l/rank0.log",
        "line": 7,
        "quote": "loss nan\x1b[2J\n== node99",
        "at": 5.0,
    }

    text = snapshot_text("run42", [("node01", answer(moments=[moment]))], "why")

    assert "Note: why" in text
    assert "00:00:05 UTC loss is NaN" in text
    assert "/l/rank0.log:7" in text
    assert "nvidia_smi timed out no answer in 20 s" in " ".join(text.split())
    assert [line for line in text.splitlines() if line.startswith("==")] == ["== node01 /var/rw/s1"]
    assert "\x1b" not in text


def test_a_node_that_failed_says_why():
    """An error is not a silence."""
    said = snapshot_answer("run42", [saved_of("node01", {"error": "not enough room"})], [], 2.0, "")

    assert "0 of 1 nodes" in said.text
    assert "node01: not enough room" in str(said.blocks)


def test_nobody_to_ask_is_said():
    """Nothing was saved, and who was heard last."""
    assert "nobody to save anything" in nobody_to_ask("run42", []).text
    assert "node09 (4 min ago)" in nobody_to_ask("run42", [("node09", 240.0)]).text


def test_an_answer_of_another_version_is_read_kindly():
    """Missing and odd fields cost nothing else."""
    assert saved_of("node01", {}) == NodeSaved("node01")
    assert saved_of("node01", {"bytes": "many", "pieces": ["x", None], "masked": True}).bytes == 0


def test_sizes_read_as_people_say_them():
    """`212 MiB`, `1.5 KiB`, `0 bytes`."""
    assert [say_bytes(size) for size in (0, 1536, 222_298_112, 5 << 40)] == [
        "0 bytes",
        "1.5 KiB",
        "212 MiB",
        "5,120 GiB",
    ]


@pytest.mark.parametrize("is_gone", [False, True])
def test_of_a_run_that_is_down_there_is_nothing_to_stop(is_gone):
    """It is safe to start it again, or not yet; no button offers an end that has come."""
    whole = str(snapshot_answer("run42", [saved_of("n1", answer())], [], 9.0, "", is_gone=is_gone).blocks)
    broken = [saved_of("n1", {"error": "not enough room"})]
    lost = str(snapshot_answer("run42", broken, [], 9.0, "", is_gone=is_gone).blocks)

    assert ("*Safe to start again*" in whole) is is_gone
    assert ("Not all is saved yet" in lost) is is_gone
    assert ("stop" in (whole + lost).replace("snapshot", "").lower()) is not is_gone
