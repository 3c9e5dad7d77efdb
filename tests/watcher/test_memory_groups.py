"""Kills by the kernel in the job's memory groups, counted from when we began to look."""

import pytest

from watcher import memory_groups
from watcher.memory_groups import MemoryGroups


@pytest.fixture
def group(tmp_path, monkeypatch):
    """A group of version 2 whose counters a test may turn."""
    folder = tmp_path / "job"
    folder.mkdir()
    monkeypatch.setattr(memory_groups, "groups_of", lambda _: {folder})

    def turn(kills, limit="max"):
        (folder / "memory.events").write_text(f"low 0\nhigh 0\nmax 3\noom 1\noom_kill {kills}\n")
        (folder / "memory.max").write_text(f"{limit}\n")
        (folder / "memory.current").write_text("4096\n")

    turn(2)
    return turn


def test_kills_from_before_we_looked_are_not_this_jobs(group):
    """Only what comes after the first look counts."""
    groups = MemoryGroups()
    groups.look([7])
    group(3, 1 << 30)

    groups.look([7])

    (found,) = groups.newest
    assert (found.kills, found.limit_bytes, found.used_bytes) == (1, 1 << 30, 4096)


def test_a_group_that_vanished_with_its_job_is_told_as_it_was(group, tmp_path):
    """Slurm removes a step's group at once."""
    groups = MemoryGroups()
    groups.look([7])
    group(3)
    groups.look([7])
    for file in (tmp_path / "job").iterdir():
        file.unlink()
    (tmp_path / "job").rmdir()

    groups.look([])

    assert [found.kills for found in groups.newest] == [1]


def test_the_groups_of_a_real_process_are_read():
    """Whatever this machine has: nothing is raised, and a count is never below zero."""
    groups = MemoryGroups()

    groups.look([1, 999_999_999])

    assert all(found.kills >= 0 for found in groups.newest)
