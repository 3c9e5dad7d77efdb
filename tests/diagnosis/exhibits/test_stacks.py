"""py-spy's dumps, text and JSON, one process or many."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.exhibits import read_stacks
from diagnosis.exhibits.stacks import Doing, Frame, doing

DUMP = """Process 4242: /usr/bin/python3 train.py --local_rank=5
Python v3.10.12 (/usr/bin/python3.10)

Thread 4242 (idle): "MainThread"
    all_reduce (torch/distributed/distributed_c10d.py:2501)
    wrapper (torch/distributed/c10d_logger.py:81)
    step (train.py:120)
    <module> (train.py:200)
Thread 4300 (idle): "QueueFeederThread"
    wait (threading.py:320)
    _feed (multiprocessing/queues.py:231)
Process 4243: /usr/bin/python3 train.py (rank 6)
Python v3.10.12 (/usr/bin/python3.10)

Thread 0x7F33 (active+gil): "MainThread"
    tokenize (data.py:33)
    <module> (train.py:200)
"""


def test_many_processes_in_one_file():
    first, second = read_stacks(DUMP)
    assert (first.pid, first.local_rank, first.rank, first.is_active) == (4242, 5, None, False)
    assert [str(frame) for frame in first.frames] == [
        "all_reduce (torch/distributed/distributed_c10d.py:2501)",
        "wrapper (torch/distributed/c10d_logger.py:81)",
        "step (train.py:120)",
        "<module> (train.py:200)",
    ]
    assert (second.pid, second.rank, second.is_active, second.doing) == (4243, 6, True, Doing.ELSEWHERE)
    assert first.doing is Doing.WAITING
    assert first.frames[0].line == 5


def test_the_name_of_the_file_names_the_rank_of_its_process():
    stacks = read_stacks(DUMP.split("Process 4243", maxsplit=1)[0], "pyspy_rank3.txt", 3)
    assert [stack.rank for stack in stacks] == [3]


def test_the_shape_does_not_know_line_numbers():
    other = DUMP.replace(":120)", ":124)")
    assert read_stacks(DUMP)[0].shape == read_stacks(other)[0].shape


def test_children_are_told_from_their_rank():
    text = "--- child of rank 2: pid 77 pt_data_worker wchan=nfs_wait_bit_killable\n" + DUMP
    child, _ = read_stacks(text)
    assert (child.rank, child.is_child, child.wchan) == (2, True, "nfs_wait_bit_killable")


def test_json_has_the_same_meaning():
    threads = [
        {
            "pid": 9,
            "thread_name": "fr-pipe",
            "active": True,
            "frames": [{"name": "x", "filename": "/a/b.py", "line": 1}],
        },
        {
            "pid": 9,
            "thread_name": "MainThread",
            "active": True,
            "frames": [{"name": "barrier", "short_filename": "torch/distributed/distributed_c10d.py", "line": 4}],
        },
        {"pid": 9, "thread_name": None, "frames": None},
        "rubbish",
    ]
    (stack,) = read_stacks(json.dumps(threads), rank=7)
    assert (stack.pid, stack.rank, stack.is_active, stack.doing) == (9, 7, True, Doing.WAITING)


def stack_of(*frames: str):
    return [Frame(function, file, 1, 1, "") for function, file in (frame.split("@") for frame in frames)]


@pytest.mark.parametrize(
    ("frames", "what"),
    [
        (["_try_get_data@torch/utils/data/dataloader.py", "poll@x.py"], Doing.LOADING),
        (["wait@threading.py", "_try_get_data@torch/utils/data/dataloader.py"], Doing.LOADING),
        (["barrier@torch/distributed/distributed_c10d.py", "save_checkpoint@train.py"], Doing.WAITING),
        (["write@torch/serialization.py", "save@torch/serialization.py"], Doing.SAVING),
        (["write_record@x.py", "save_checkpoint@trainer.py"], Doing.SAVING),
        (["acquire@filelock/_unix.py", "load@datasets/load.py"], Doing.READING),
        (["read@ssl.py", "send@requests/adapters.py", "log@wandb/sdk.py"], Doing.REPORTING),
        (["compile@triton/compiler.py", "f@torch/_inductor/codegen.py"], Doing.COMPILING),
        (["wait@threading.py", "get@queue.py", "__next__@fairseq/data/iterators.py", "train@train.py"], Doing.LOADING),
        (["get@multiprocessing/queues.py", "_next@mylib/prefetcher.py", "main@train.py"], Doing.LOADING),
        (["get@queue.py", "flush@mylib/metrics.py", "main@train.py"], Doing.ELSEWHERE),
        (["_engine_run_backward@torch/autograd/graph.py"], Doing.WAITING),
        (["reduce@functools.py", "f@train.py"], Doing.ELSEWHERE),
        (["forward@model.py"], Doing.ELSEWHERE),
        ([], Doing.UNKNOWN),
    ],
)
def test_what_a_stack_is_in_the_middle_of(frames, what):
    assert doing(stack_of(*frames)) is what


def test_a_faulthandler_dump_is_not_taken_for_anything_it_is_not():
    assert read_stacks('Current thread 0x00007f0 (most recent call first):\n  File "a.py", line 3 in main\n') == []


@given(st.text(max_size=400))
def test_any_text_is_taken(text):
    read_stacks(text)
    read_stacks("[" + text)
    read_stacks('Process 1: x\nThread 1 (idle): "MainThread"\n' + text)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["pid", "frames", "thread_name", "line", "name", "active"]), inner, max_size=4
            )
        ),
        max_leaves=20,
    )
)
def test_any_json_is_taken(value):
    read_stacks(json.dumps([value]))
