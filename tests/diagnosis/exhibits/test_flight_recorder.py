"""Flight-recorder dumps: groups, numbers, what is in flight."""

import json
import os
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.exhibits import read_dump


def entry(
    seq: int,
    *,
    state: str = "completed",
    group: tuple[str, str] = ("0", "default_pg"),
    name: str = "nccl:all_reduce",
    **more,
):
    return {
        "record_id": seq,
        "process_group": group,
        "collective_seq_id": seq,
        "profiling_name": name,
        "input_sizes": [[1024]],
        "state": state,
        "retired": state == "completed",
        "time_created_ns": 1_000_000_000 * seq,
        "frames": [
            {
                "name": "all_reduce",
                "filename": "/venv/site-packages/torch/distributed/distributed_c10d.py",
                "line": 2501,
            },
            {"name": "train", "filename": "/opt/run/train.py", "line": 88},
        ],
        **more,
    }


def dump(entries, status=None):
    return {"version": "2.5", "pg_config": {"0": {"ranks": "[0, 1]"}}, "pg_status": status or {}, "entries": entries}


@pytest.mark.parametrize("write", [pickle.dumps, lambda value: json.dumps(value).encode()])
def test_what_a_dump_tells(write):
    data = write(
        dump(
            [entry(1), entry(2), entry(3, state="started")],
            {"0": {"last_enqueued_collective": 3, "last_completed_collective": 2}},
        )
    )
    found = read_dump(data, "traces/nccl_trace_rank_5")
    group = found.groups["0"]
    assert (found.rank, found.version, found.complete) == (5, "2.5", True)
    assert (group.last_enqueued, group.last_completed) == (3, 2)
    assert [item.sequence for item in group.in_flight] == [3]
    assert group.at(3).where == "train (train.py:88)"
    assert found.newest_ns == 3_000_000_000


def test_groups_are_kept_apart_and_point_to_point_does_not_count():
    found = read_dump(
        pickle.dumps(dump([entry(7), entry(9, group=("3", "tp")), entry(40, is_p2p=True, name="nccl:send 0->1")])),
        "fr_2",
    )
    assert {name: group.last_enqueued for name, group in found.groups.items()} == {"0": 7, "3": 9}
    assert found.groups["3"].description == "tp"


def test_a_status_that_lags_does_not_turn_the_clock_back():
    found = read_dump(pickle.dumps(dump([entry(7)], {"0": {"last_enqueued_collective": -1}})), "fr_2")
    assert found.groups["0"].last_enqueued == 7


@pytest.mark.parametrize(
    ("path", "rank"),
    [
        ("fr_a_3", 3),
        ("nccl_trace_rank_12", 12),
        ("dump/rank7.pickle", 7),
        ("x/comm_lib_trace_rank_0.json", 0),
        ("nccl_trace", None),
    ],
)
def test_the_rank_stands_in_the_name(path, rank):
    assert read_dump(pickle.dumps(dump([entry(1)])), path).rank == rank


def test_a_dump_that_was_cut_still_tells_its_first_entries():
    data = pickle.dumps(dump([entry(i) for i in range(1, 60)]), 2)
    found = read_dump(data[: len(data) * 3 // 4], "fr_0")
    assert not found.complete
    assert found.groups["0"].last_enqueued > 20


class Evil:
    def __reduce__(self):
        return os.system, ("true",)


@pytest.mark.parametrize("value", [Evil(), dump([entry(1), Evil()]), [1, 2], 5, "text"])
def test_what_is_no_dump_is_none(value):
    assert read_dump(pickle.dumps(value), "fr_0") is None


@given(st.binary(max_size=200))
def test_any_bytes(data):
    """The promise is that nothing is raised."""
    read_dump(data, "fr_0")
    read_dump(b"\x80\x02}" + data, "fr_0")
    read_dump(b"{" + data, "fr_0")


JUNK = st.recursive(
    st.none() | st.integers() | st.text(max_size=5) | st.floats(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["frames", "process_group", "name", "0", "collective_seq_id", "time_created_ns"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(
    st.dictionaries(
        st.sampled_from(["version", "entries", "pg_status", "pg_config"]), JUNK | st.lists(JUNK, max_size=4)
    )
)
def test_any_values(value):
    read_dump(pickle.dumps(value), "fr_0")
