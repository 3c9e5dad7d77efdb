"""Process states as JSON or as a table of `ps`."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.exhibits import read_processes

STATES = {
    "0": {"pid": 11, "status": "sleeping", "wchan": "futex_do_wait", "cpu_times": [3.0, 0.5], "children": []},
    "1": {
        "pid": 12,
        "status": "sleeping",
        "wchan": "futex_do_wait",
        "children": [{"pid": 13, "name": "pt_data_worker", "status": "disk-sleep", "wchan": "rpc_wait_bit_killable"}],
    },
    "2": {"pid": 14, "status": "stopped", "wchan": "do_signal_stop"},
    "3": {"status": "gone"},
}


def test_ranks_by_key():
    found = read_processes(json.dumps(STATES, indent=1))
    assert [process.rank for process in found] == [0, 1, 2, 3]
    assert [process.is_stopped for process in found] == [False, False, True, False]
    assert found[3].is_gone
    assert found[0].cpu_seconds == 3.5
    (child,) = found[1].children
    assert (child.pid, child.is_uninterruptible, child.waits_for_storage) == (13, True, True)


def test_the_line_is_the_one_that_tells_the_state():
    text = json.dumps(STATES, indent=1)
    found = read_processes(text)
    assert found[2].text == '"wchan": "do_signal_stop"'
    assert text.splitlines()[found[2].line - 1].strip() == found[2].text


@pytest.mark.parametrize("value", [[{"rank": 4, "state": "T"}], {"processes": [{"rank": "4", "state": "T"}]}])
def test_lists_with_ranks_inside(value):
    (found,) = read_processes(json.dumps(value))
    assert (found.rank, found.is_stopped) == (4, True)


def test_a_table_of_ps():
    text = (
        "    PID STAT WCHAN                  COMMAND\n"
        "   4021 Sl   futex_wait_queue       python\n"
        "   4022 D    nfs_wait_on_request    pt_data_worker\n"
        "   4023 Tl   do_signal_stop         python train.py\n"
        "   4024 Z    -                      [python] <defunct>\n"
        "rubbish\n"
    )
    found = read_processes(text)
    assert [(p.pid, p.state, p.wchan) for p in found] == [
        (4021, "sleeping", "futex_wait_queue"),
        (4022, "disk-sleep", "nfs_wait_on_request"),
        (4023, "stopped", "do_signal_stop"),
        (4024, "zombie", None),
    ]
    assert found[1].waits_for_storage
    assert found[1].line == 3
    assert found[3].is_gone


@pytest.mark.parametrize(
    ("wchan", "storage", "gpu"),
    [
        ("nfs4_proc_lock", True, False),
        ("ptlrpc_set_wait", True, False),
        ("fuse_dev_do_read", True, False),
        ("wait_for_partner", True, False),
        ("folio_wait_bit_common", True, False),
        ("os_acquire_rwlock_write", False, True),
        ("uvm_va_space_down_write", False, True),
        ("futex_wait_queue", False, False),
        ("pipe_read", False, False),
        ("ep_poll", False, False),
    ],
)
def test_what_the_kernel_waits_for(wchan, storage, gpu):
    (found,) = read_processes(json.dumps([{"state": "D", "wchan": wchan}]))
    assert (found.waits_for_storage, found.waits_for_gpu) == (storage, gpu)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["0", "pid", "status", "state", "wchan", "children", "cpu_times", "rank", "processes"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=25,
    )
)
def test_any_json_is_taken(value):
    read_processes(json.dumps(value))
    read_processes(json.dumps([value]))


@given(st.text(max_size=300))
def test_any_text_is_taken(text):
    read_processes(text)
    read_processes("PID STAT WCHAN COMMAND\n" + text)
    read_processes("{" + text)
