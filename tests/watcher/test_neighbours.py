"""Two watchers on one node, each of one run: neither takes ranks for its own that nothing relates to it."""

import subprocess
import sys

import pytest

from watcher.bookmarks import Bookmarks
from watcher.host import Host
from watcher.neighbours import has_neighbours

CLAIM = """
import sys, time
from pathlib import Path
from watcher.bookmarks import Bookmarks
Bookmarks(Path(sys.argv[1]), "other-run").claim()
print("claimed", flush=True)
time.sleep(600)
"""


@pytest.fixture
def neighbour():
    """Another watcher, as far as its lock is concerned."""
    started = []

    def start(folder):
        child = subprocess.Popen([sys.executable, "-c", CLAIM, str(folder)], stdout=subprocess.PIPE)
        started.append(child)
        child.stdout.readline()
        return child

    yield start
    for child in started:
        child.kill()
        child.wait()


def test_a_lock_that_somebody_else_holds_is_a_neighbour(tmp_path, neighbour):
    """Our own is none, and neither is one that nobody holds any more."""
    own = Bookmarks(tmp_path, "ours")
    own.claim()
    assert not has_neighbours(tmp_path)

    child = neighbour(tmp_path)
    assert has_neighbours(tmp_path)

    child.kill()
    child.wait()
    assert not has_neighbours(tmp_path)


async def test_ranks_without_a_sign_are_nobodys_beside_another_watcher(settings, neighbour, monkeypatch):
    """Alone on its node a watcher takes them for its run's: there the guess is safe."""
    monkeypatch.setattr("watcher.host.find_members", lambda runs, guesses: asked.append(guesses) or [])
    asked: list[bool] = []
    alone, beside = Host(settings), Host(settings)

    await alone.look(finds=True)
    neighbour(settings.home / "bookmarks")
    await beside.look(finds=True)

    assert asked == [True, False]
    assert "another watcher" in beside.problems[0]
