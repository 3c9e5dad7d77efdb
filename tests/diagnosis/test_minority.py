"""Who stands elsewhere, from several looks at each process."""

from diagnosis.minority import find_minority, place_of

WAITS = ["sk_wait_data"] * 8


def test_the_one_that_stands_elsewhere_in_most_looks_is_found():
    """Three wait for data of their peers, one for a file lock."""
    found = find_minority({0: WAITS, 1: WAITS, 2: ["locks_lock_inode_wait"] * 8, 3: WAITS})

    assert found is not None
    assert found.ranks == (2,)
    assert found.sentence() == (
        "rank 2 stood in locks_lock_inode_wait in 8 looks, while 3 others waited in sk_wait_data"
    )


def test_a_single_look_names_nobody():
    """Every rank passes through many places in a step."""
    assert find_minority({0: ["a"], 1: ["a"], 2: ["b"], 3: ["a"]}) is None


def test_a_rank_that_moves_about_makes_nobody_the_odd_one():
    """It has no place, so nothing can be said of the others either."""
    assert find_minority({0: WAITS, 1: WAITS, 2: ["a", "b", "c", "d"], 3: ["x"] * 4}) is None


def test_half_and_half_is_no_minority():
    """Two against two accuse each other."""
    assert find_minority({0: WAITS, 1: WAITS, 2: ["x"] * 4, 3: ["x"] * 4}) is None


def test_a_compilers_suffix_makes_no_new_place():
    """`wait.constprop.0` is `wait`; a running process is where it runs."""
    assert place_of("sleeping", "poll_schedule_timeout.constprop.0") == "poll_schedule_timeout"
    assert place_of("running", None) == "running"
