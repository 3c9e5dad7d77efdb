"""The job comes first: what saves evidence takes what is left over, and nothing else of the watcher steps back."""

import os
import threading

import pytest

from tests.watcher.test_snapshot_safety import scene_of, snapshots_in
from watcher.courtesy import NICE
from watcher.evidence.collector import Outcome, Result
from watcher.evidence.programs import Program
from watcher.snapshot import Order

pytestmark = pytest.mark.skipif(
    os.getpriority(os.PRIO_PROCESS, 0) >= NICE, reason="this test run has itself stepped back"
)


@pytest.fixture
def no_courtesy():
    """Here it is what is looked at."""


class Tells:
    """A collector that says how it runs, and lets a program say the same."""

    name, seconds, bytes = "tells", 20.0, 1000

    def __init__(self):
        self.nice = []

    def collect(self, scene, into):
        self.nice.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
        return Program(("nice",), "nice.txt").collect(into, 10.0)


async def test_collectors_and_their_programs_step_back(tmp_path):
    """By ten, in a thread of their own; the watcher's own thread is as urgent as before."""
    before, tells = os.getpriority(os.PRIO_PROCESS, 0), Tells()

    snapshot = await snapshots_in(tmp_path, collectors=(tells,)).take(scene_of(tmp_path), Order())

    assert tells.nice == [NICE]
    (file,) = tmp_path.glob("snapshots/run42/*/nice.txt")
    assert int(file.read_text()) == NICE
    assert [piece.outcome for piece in snapshot.pieces] == [Outcome.COLLECTED]
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


async def test_one_after_the_other_does_not_step_back_further(tmp_path):
    """Each begins from where the watcher stands."""
    tells = Tells()
    tells.collect = lambda scene, into: (
        tells.nice.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id())) or Result(Outcome.EMPTY)
    )

    snapshots = snapshots_in(tmp_path, collectors=(tells,))
    for _ in range(3):
        await snapshots.take(scene_of(tmp_path), Order())

    assert tells.nice == [NICE] * 3
