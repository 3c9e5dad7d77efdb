"""Files are recognised by what they hold."""

import json
import pickle
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.exhibits import HEAD, kind_of, what_it_is

PYSPY = 'Process 812: python train.py\nPython v3.11.9\n\nThread 812 (active): "MainThread"\n    main (train.py:3)\n'
SMI = (
    "Tue Mar  3 10:00:00 2026\n+-----+\n| NVIDIA-SMI 550.54.15    Driver Version: 550.54.15    CUDA Version: 12.4 |\n"
    "|  0  NVIDIA H100 80GB HBM3  On | 00000000:1B:00.0 Off | 0 |\n"
)
DUMP = {"version": "2.5", "pg_config": {}, "pg_status": {}, "entries": []}


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("iter 10: loss 3.21, time 102.33ms\n" * 5, "out.log", "training_log"),
        ("timestamp, index, utilization.gpu [%], memory.used [MiB], power.draw [W]\n", "x.txt", "gpu_samples"),
        ("time,gpu,util,mem_used_mib,power_w,temp_c\n1,0,100,70000,690,60\n", "any", "gpu_samples"),
        ('"ts","gpu_id","gpu_util","fb","power"\n', "dcgm.csv", "gpu_samples"),
        (PYSPY, "rank3.log", "stacks"),
        ('Thread 0x00007f1 (most recent call first):\n  File "a.py", line 3 in main\n', "fault.txt", "training_log"),
        (SMI, "smi.out", "nvidia_smi"),
        ("$ nvidia-smi\n" + SMI, "smi.out", "nvidia_smi"),
        ("Unable to determine the device handle for GPU0000:3B:00.0: Unknown Error\n", "a", "nvidia_smi"),
        ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n", "a", "nvidia_smi"),
        ("[ 1234.567890] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n", "a", "kernel_log"),
        ("[  +0.000316] pcieport 0000:00:03.0: AER: Corrected error received: 0000:00:03.0\n", "a", "kernel_log"),
        ("NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n", "n2.dmesg.log", "kernel_log"),
        ("step 1 loss 2.3\nstep 2 loss 2.2\n", "dmesg.log", "training_log"),
        ("# Known problems\n\nCUDA out of memory on rank 3\n", "notes.md", "unknown"),
        ("srun python train.py || echo Killed\n", "run.sh", "unknown"),
        ('{"apiVersion":"v1","kind":"Pod","status":{}}\n', "pod.json", "scheduler"),
        ("apiVersion: v1\nkind: Pod\nmetadata:\n  name: w\n", "pod.yaml", "scheduler"),
        ("NAME   READY   STATUS    RESTARTS   AGE\nw-0    1/1     Running   0          3h\n", "p.txt", "scheduler"),
        ("[Tue Mar  3 10:00:00 2026] Out of memory: Killed process 12 (python)\n", "a", "kernel_log"),
        ("2026-03-03T10:00:00,123456+00:00 oom-kill:constraint=CONSTRAINT_MEMCG\n", "a", "kernel_log"),
        ("Mar  3 10:00:00 node7 kernel: NVRM: Xid (PCI:0000:3b:00): 48\n", "messages", "kernel_log"),
        ("2026-03-03T10:00:00.123456+00:00 step: 5 loss: 2.5\n" * 9, "a", "training_log"),
        ("2026-03-03T10:00:00.123456+00:00 node7 run.sh[12]: epoch 1, loading\n" * 9, "a", "training_log"),
        ("2026-03-03T10:00:00,123456+00:00 step: 5 loss: 2.5\n" * 9, "a", "training_log"),
        ("memory.events\nlow 0\noom_kill 3\n", "cgroup", "cgroup"),
        ("low 0\nhigh 0\nmax 12\noom 3\noom_kill 3\n", "memory.events", "cgroup"),
        ("JobID           State ExitCode\n123 TIMEOUT 0:0\n", "sacct.txt", "scheduler"),
        ("JobID|JobName|State|ExitCode\n123|a|TIMEOUT|0:0\n", "sacct.txt", "scheduler"),
        ("LAST SEEN   TYPE      REASON      OBJECT   MESSAGE\n", "events", "scheduler"),
        ("Name:         train-worker-3\nNamespace:    ml\n", "describe.txt", "scheduler"),
        ("    PID STAT WCHAN   COMMAND\n   12 D nfs_wait python\n", "ps.txt", "process_state"),
        ("USER  PID %CPU %MEM  VSZ RSS TTY STAT START TIME COMMAND\n", "ps.txt", "process_state"),
        (json.dumps({"0": {"status": "sleeping", "wchan": "futex"}}, indent=1), "p.json", "process_state"),
        (json.dumps([{"pid": 1, "thread_id": 2, "frames": []}], indent=1), "p.json", "stacks"),
        (json.dumps(DUMP), "x", "flight_recorder"),
        ("step,loss,lr\n1,2.5,0.1\n2,2.4,0.1\n3,2.3,0.1\n", "metrics.csv", "table"),
        ('{"step": 1, "loss": 2.5}\n{"step": 2, "loss": 2.4}\n', "m.jsonl", "training_log"),
        ("", "empty.log", "unknown"),
        ("   \n\n", "blank.log", "unknown"),
    ],
)
def test_text(text, name, kind):
    assert kind_of(text.encode(), name) == kind


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_recorder_pickles_are_told_from_other_pickles(protocol):
    assert kind_of(pickle.dumps(DUMP, protocol), "whatever") == "flight_recorder"
    assert kind_of(pickle.dumps({"weights": [1.0] * 50}, protocol), "model.bin") == "unknown"


def test_binary_files_are_left_alone():
    assert kind_of(b"\x7fELF\x02\x01\x01" + b"\x00" * 60, "python") == "unknown"
    assert kind_of(b"PK\x03\x04" + bytes(range(9)) * 40, "checkpoint.pt") == "unknown"


@pytest.mark.parametrize("lowest", [0, 32])
def test_noise_is_no_log(lowest):
    """Bytes of all values, and those without a control character: something packed or encrypted."""
    noise = bytes(random.Random(lowest).choices(range(lowest, 256), k=HEAD))

    assert (kind_of(noise, "train.log"), what_it_is(noise)) == ("unknown", "binary data, no log")


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030", "latin-1", "shift_jis"])
def test_a_log_in_any_encoding_is_a_log(encoding):
    """Its letters may be beyond ASCII, its numbers are not."""
    line = {"latin-1": "étape {} perte {} à la fin\n", "utf-8": "第{}步，损失：{}。学习率：好\n"}.get(
        encoding, "第 {} 歩 損失 {}\n"
    )
    text = "".join(line.format(step, 3 - step / 100) for step in range(99))

    assert kind_of(text.encode(encoding), "train.log") == "training_log"


def test_a_log_that_was_copied_and_truncated_is_a_log():
    assert kind_of(b"\x00" * 500 + b"step 3 loss 2.5\n" * 10, "train.log") == "training_log"


def test_a_marker_of_byte_order_does_not_hide_anything():
    assert kind_of("\ufefftimestamp,index,utilization.gpu,power.draw\n".encode(), "g.csv") == "gpu_samples"


def test_a_banner_of_nvidia_smi_does_not_make_a_log_a_report():
    text = "[launch] host n1\n[launch] checking GPUs\nepoch 1\nloss 2.1\n" + SMI + "step 1 loss 3\n" * 20
    assert kind_of(text.encode(), "train.log") == "training_log"


@given(st.binary(max_size=600), st.text(max_size=20))
def test_any_bytes_have_a_kind(data, name):
    assert isinstance(kind_of(data, name), str)


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        ({"category": "dataloader_crash", "loss": {"points": 12}, "ranks": [0, 1]}, "unknown"),
        ({"lr": 1e-4, "betas": [0.9, 0.95]}, "unknown"),
        ({"best_metric": None, "log_history": [{"step": 10, "loss": 2.5}]}, "training_log"),
        ([{"step": 10, "loss": 2.5}, {"step": 20, "loss": 2.4}], "training_log"),
    ],
)
def test_a_json_document_is_a_log_only_where_it_lists_things(document, kind):
    """Settings and expected answers lie in the same folder as the logs."""
    assert kind_of(json.dumps(document, indent=1).encode(), "some.json") == kind


@pytest.mark.parametrize(
    ("head", "said"),
    [
        (b"", "empty"),
        (b" \n\n", "nothing but white space"),
        (b"\x7fELF\x02\x01\x01" + bytes(40), "a program, no log"),
        (bytes(range(8)) * 40, "binary data, no log"),
        (b'{\n "a": 1\n}\n', "no log"),
    ],
)
def test_what_is_unknown_is_told_in_words(head, said):
    """Why a file tells nothing."""
    assert kind_of(head, "x") == "unknown"
    assert what_it_is(head) == said


@pytest.mark.parametrize(
    ("head", "name", "way"),
    [
        (b"\x18\0\0\0\0\0\0\0\xa3\x7f\x4b\x22\x09\0\0\xc0\x3d\x2a\xb5\xd9A\x1a\x0dbrain.Event:2\xec\xa1\x2dL", "TensorBoard", "CSV"),
        (b":W&B\xe1\xbe\0" + bytes(range(8)) * 9, "W&B", "output.log"),
    ],
)  # fmt: skip
def test_a_trackers_file_is_named_and_the_way_is_told(head, name, way):
    """Binary files that are not read, and where the same numbers stand."""
    assert kind_of(head, "x") == "unknown"
    assert name in what_it_is(head)
    assert way in what_it_is(head)


@given(st.binary(max_size=300))
def test_any_bytes_get_a_word(head):
    """Never an error."""
    assert what_it_is(head)


LONG = {f"key {number}": {"a": number, "b": 'quoted \\" {[', "c": [1, 2, 3]} for number in range(500)}
ROWS = [{"step": number, "loss": 2.5} for number in range(500)]


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        (LONG, "unknown"),
        ({"model": {"layers": [8] * 3000}}, "unknown"),
        ({"best": 1.0, "log_history": ROWS}, "training_log"),
        (ROWS, "training_log"),
    ],
)
@pytest.mark.parametrize("indent", [1, 4])
def test_a_long_json_document_is_judged_by_its_head(document, kind, indent):
    """Longer than what is looked at: settings are no log, a list of steps is one."""
    text = json.dumps(document, indent=indent).encode()

    assert len(text) > HEAD
    assert kind_of(text, "some.json") == kind


def test_long_lines_of_json_stay_a_log():
    """One object a line, however many: what ends and goes on is no document."""
    text = "".join(json.dumps({"step": number, "loss": 2.5}) + "\n" for number in range(2000))

    assert kind_of(text.encode(), "metrics.jsonl") == "training_log"
    assert kind_of(json.dumps({"a": 1}).encode() + b"\n" + text.encode(), "metrics.jsonl") == "training_log"
