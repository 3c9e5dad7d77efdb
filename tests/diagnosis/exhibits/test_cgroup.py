"""Memory counters of a control group."""

from hypothesis import given
from hypothesis import strategies as st

from diagnosis.exhibits import read_cgroup


def test_two_readings_are_compared():
    report = read_cgroup("before\nlow 0\noom_kill 3\nafter\nlow 0\noom_kill 5\n".splitlines())
    assert (report.kills, report.line, report.text) == (2, 6, "oom_kill 5")


def test_one_reading_counts_whole():
    report = read_cgroup(
        "memory.oom_control\noom_kill_disable 0\nunder_oom 0\noom_kill 1\nmemory.limit_in_bytes 1073741824\n".splitlines()
    )
    assert (report.kills, report.limit_bytes) == (1, 1 << 30)


def test_nothing_counted_is_nothing_known():
    assert read_cgroup(["memory.max 100"]) is None


@given(st.text(max_size=200))
def test_any_text(text):
    """The promise is that nothing is raised."""
    read_cgroup(text.splitlines())
    read_cgroup(["oom_kill " + text])
