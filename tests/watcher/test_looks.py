"""The newest looks at every process: those of a stop where there are several, else all."""

from diagnosis.observations import ProcessSample
from watcher.looks import KEPT, Looks


def look(at, pid=7, wchan="sk_wait_data", state="sleeping"):
    return ProcessSample("n1", pid, at, "python", state, 1.0, pid, pid, wchan)


def test_only_a_few_looks_at_each_process_are_kept():
    """Bounded, whatever the run's length."""
    looks = Looks()

    for at in range(1000):
        looks.add([look(at, 1), look(at, 2)])

    assert len(looks.since(0.0)) == 2 * KEPT


def test_looks_before_the_stop_say_nothing_of_it():
    """A rank that passed through many places while it trained stands in one since."""
    looks = Looks()
    for at in range(10):
        looks.add([look(at, wchan="locks_lock_inode_wait" if at >= 6 else f"place {at}")])

    assert {one.wchan for one in looks.since(5.5)} == {"locks_lock_inode_wait"}


def test_a_run_that_goes_on_is_judged_by_all_looks():
    """The last step was a moment ago."""
    looks = Looks()
    for at in range(10):
        looks.add([look(at)])

    assert len(looks.since(9.5)) == 10


def test_a_process_that_is_gone_keeps_what_was_seen_of_it_alive():
    """An abort does not erase where it stood; that it is gone is told once."""
    looks = Looks()
    for at in range(5):
        looks.add([look(at, wchan="nfs_wait")])
    for _ in range(50):
        looks.add([look(5.0, wchan=None, state="gone")])

    assert [one.state for one in looks.since(-1.0)] == ["sleeping"] * 5 + ["gone"]
