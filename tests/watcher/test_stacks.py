"""Stacks of a run that stands: one at a time, without stopping anybody, and never waited for too long."""

import stat

import pytest

from diagnosis.exhibits import read_stacks
from diagnosis.observations import ProcessSample
from watcher import stacks
from watcher.stacks import dump_stacks

DUMP = """\
Process {pid}: python train.py
Python v3.11.7 (/usr/bin/python3.11)

Thread {pid} (idle): "MainThread"
    all_reduce (torch/distributed/distributed_c10d.py:2810)
    train (train.py:88)
"""


def process(pid, rank=None, name="python", state="sleeping"):
    return ProcessSample("n1", pid, 1.0, name, state, 1.0, rank, rank)


@pytest.fixture
def dumper(tmp_path, monkeypatch):
    """A program in the place of py-spy: a line of shell that knows its arguments."""

    def make(body):
        path = tmp_path / "py-spy"
        path.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n{body}\n')
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        return tmp_path / "asked"

    return make


def test_every_rank_is_read_without_being_stopped(dumper):
    """Ranks first, then their loaders; who is gone is not asked."""
    asked = dumper(f"cat <<EOF\n{DUMP.replace('{pid}', '$4')}EOF")

    found, missing = dump_stacks(
        [process(9, name="pt_data_worker"), process(7, 0), process(8, 1), process(5, 2, state="gone")]
    )

    assert missing == ""
    assert [(dump.pid, dump.rank, dump.is_child) for dump in found] == [(7, 0, False), (8, 1, False), (9, None, True)]
    assert all("--nonblocking" in line for line in asked.read_text().splitlines())
    (stack,) = read_stacks(found[1].text)
    assert (stack.pid, str(stack.doing)) == (8, "waits in a collective")


def test_one_that_hangs_is_left_and_said(dumper, monkeypatch):
    """A dumper that does not come back costs its time and no more."""
    monkeypatch.setattr(stacks, "EACH_SECONDS", 0.2)
    dumper("exec sleep 600")

    found, missing = dump_stacks([process(7, 0)])

    assert found == ()
    assert "did not answer in time for pid 7" in missing


def test_a_refusal_is_told_in_its_own_words(dumper):
    """Mostly: no permission."""
    dumper("echo 'Permission Denied: Try running again with elevated permissions'; exit 1")

    _, missing = dump_stacks([process(7, 0)])

    assert "exit code 1 for pid 7: Permission Denied" in missing


def test_without_the_program_there_are_no_stacks(monkeypatch, tmp_path):
    """And that is said."""
    monkeypatch.setenv("PATH", str(tmp_path))

    assert dump_stacks([process(7, 0)]) == ((), "no stacks: no py-spy here")
