"""The hint that a log grew: who closes it never takes its descriptors from under a sleeper."""

import threading
import time
from pathlib import Path

from watcher.wakeup import WakeUp


def open_files():
    """Descriptors of this process, by their numbers."""
    return sorted(path.name for path in Path("/proc/self/fd").iterdir())


def test_closing_wakes_the_sleeper_and_takes_nothing_from_under_it():
    """A watcher that stops closes it while the reading thread still sleeps in it."""
    for _ in range(50):
        ears, woken, raised = WakeUp(), [], []

        def sleep(ears=ears, woken=woken, raised=raised):
            try:
                woken.append(ears.sleep(60.0, 0.0))
                ears.arm("/dev/null")
                woken.append(ears.sleep(60.0, 0.0))
            except OSError as problem:
                raised.append(problem)

        sleeper = threading.Thread(target=sleep, daemon=True)
        sleeper.start()
        time.sleep(0.002)
        ears.close()
        sleeper.join(60)

        assert not raised
        assert woken == [True, True]


def test_descriptors_are_given_back_once():
    """Whoever got their numbers next keeps what it opened."""
    before = open_files()
    ears = WakeUp()
    ears.close()
    ears.close()
    ears.call()
    ears.arm("/dev/null")

    assert open_files() == before
