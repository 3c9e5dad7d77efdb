"""Attempts: when a new one begins, and how each ended."""

import pytest

from diagnosis.attempts import AttemptTracker, end_of
from diagnosis.observations import AttemptMark, Category, Origin, Phase, PhaseMark, Role
from tests.diagnosis.lines import RANK0, banner, course, evidence, rank, sample, symptom

NOBODY = Origin(run="run42")


@pytest.fixture
def tracker():
    return AttemptTracker()


def feed(tracker, *observations):
    for given in observations:
        for seen in given if isinstance(given, list) else [given]:
            tracker.observe(seen)
    return tracker.spans()


def finished(time=None):
    return PhaseMark(RANK0, Phase.FINISHED, True, evidence(9), None, time)


def test_one_launch_is_attempt_zero(tracker):
    """First and last step, and the times the log prints."""
    (span,) = feed(tracker, banner(), banner(), course([2.0] * 10, seconds=2.0))

    assert (span.number, span.first_step, span.last_step, span.end) == (0, 1, 10, "unknown")
    assert span.ended - span.started == 18.0


def test_a_banner_after_steps_opens_the_next(tracker):
    """Several banner lines of one launch open it once."""
    spans = feed(tracker, course([2.0] * 10), banner(), banner(), course([2.0] * 5, first=6), banner())

    assert [(span.number, span.first_step, span.last_step) for span in spans] == [
        (0, 1, 10),
        (1, 6, 10),
        (2, None, None),
    ]


def test_eight_ranks_in_one_file_open_it_once(tracker):
    """Each rank prints its own banner and its own steps."""
    ranks = [rank(number) for number in range(8)]
    first = [sample(step, 2.0, origin=origin) for step in (1, 2, 3) for origin in ranks]
    again = [seen for origin in ranks for seen in (banner(origin=origin), sample(2, 2.0, origin=origin))]

    spans = feed(tracker, [banner(origin=origin) for origin in ranks], first, again)

    assert [(span.number, span.first_step) for span in spans] == [(0, 1), (1, 2)]


def test_a_launcher_without_rank_moves_all_ranks_of_its_file(tracker):
    """torchrun's banner bears no rank."""
    steps = [sample(step, 2.0, origin=rank(number)) for step in (1, 2) for number in (0, 1)]

    spans = feed(tracker, steps, banner(origin=NOBODY), steps)

    assert [(span.number, span.first_step, span.last_step) for span in spans] == [(0, 1, 2), (1, 1, 2)]
    assert tracker.number == 1


def test_files_of_several_ranks_are_one_attempt(tracker):
    """Read one after another or side by side."""
    spans = feed(tracker, *[
        [banner(origin=rank(number), file=f"rank{number}.log"),
         *course([2.0] * 3, origin=rank(number), file=f"rank{number}.log")]
        for number in range(4)
    ])  # fmt: skip

    assert [span.number for span in spans] == [0]


def test_the_same_process_in_a_later_file_is_the_next_attempt(tracker):
    """`attempt1.log`, then `attempt2.log` that begins again."""
    spans = feed(tracker, course([2.0] * 9, file="a.log"), banner(file="b.log"), course([2.0] * 4, file="b.log"))

    assert [(span.number, span.last_step) for span in spans] == [(0, 9), (1, 4)]


def test_telling_lines_before_its_first_step_do_not_hide_a_new_attempt(tracker):
    """A launcher's harmless warning stands above the first step of the second file."""
    noise = symptom("noise", role=Role.BENIGN, file="b.log")

    spans = feed(
        tracker, course([2.0] * 9, file="a.log"), symptom(file="a.log"), noise, course([2.0] * 4, file="b.log")
    )

    assert [(span.number, span.last_step, span.end) for span in spans] == [(0, 9, "crashed"), (1, 4, "unknown")]


def test_a_rotated_file_goes_on(tracker):
    """Steps that continue in the next file are the same attempt."""
    spans = feed(tracker, course([2.0] * 9, file="a.log"), course([2.0] * 4, first=10, file="b.log"))

    assert [(span.number, span.last_step) for span in spans] == [(0, 13)]


@pytest.mark.parametrize(
    ("line", "end"),
    [
        (symptom("cuda_oom"), "crashed"),
        (symptom("traceback", role=Role.CONTEXT, category=Category.RANK_CRASH), "crashed"),
        (symptom("slurmstepd: CANCELLED DUE TO TIME LIMIT", category=Category.PREEMPTED), "killed"),
        (symptom("slurmstepd: CANCELLED DUE TO PREEMPTION", category=Category.PREEMPTED), "preempted"),
        (symptom("Pod was evicted", category=Category.PREEMPTED), "preempted"),
        (symptom("got signal: 15", role=Role.CASCADE, category=Category.PREEMPTED), "killed"),
        (symptom("oom_killer", role=Role.CONFIRM, category=Category.HOST_OOM), "killed"),
        (symptom("throttled", category=Category.SLOWDOWN), None),
        (symptom("nccl_dumping", role=Role.CONTEXT, category=Category.COLLECTIVE_HANG), None),
        (symptom("harmless", role=Role.BENIGN), None),
    ],
)
def test_a_line_tells_how_it_ended(line, end):
    """Context and benign lines end nothing."""
    assert end_of(line) == end


def test_a_scheduler_outweighs_the_crash_it_causes(tracker):
    """Teardown prints tracebacks; the reason stands above or below them."""
    feed(tracker, course([2.0] * 3), symptom("error", category=Category.RANK_CRASH))
    (span,) = feed(tracker, symptom("job was preempted", category=Category.PREEMPTED))

    assert span.end == "preempted"


def test_a_finished_run_stays_finished(tracker):
    """Errors of the teardown do not make it a crash."""
    (span,) = feed(tracker, course([2.0] * 3), finished(), symptom("error", category=Category.RANK_CRASH))

    assert span.end == "finished"


def test_steps_after_an_error_say_that_it_was_survived(tracker):
    """Judged by time where there is one."""
    feed(tracker, course([2.0] * 3, seconds=1.0), symptom(time=1_700_000_003.0))
    (span,) = feed(tracker, sample(4, 2.0, time=1_700_000_060.0))

    assert span.end == "unknown"


def test_lines_that_waited_in_a_buffer_do_not_undo_an_end(tracker):
    """stderr is not buffered, stdout is: 32 good steps may follow the error that ended them."""
    (span,) = feed(tracker, course([2.0] * 3), symptom(), course([2.0] * 32, first=4))

    assert span.end == "crashed"


def test_a_live_run_is_running(tracker):
    """Only who watches can know that."""
    feed(tracker, course([2.0] * 3), banner(), course([2.0] * 3))

    assert [span.end for span in tracker.spans(is_live=True)] == ["unknown", "running"]


def test_crashes_before_the_first_step_are_attempts_too(tracker):
    """A restart storm dies in its start-up."""
    feed(tracker, *[[banner(), symptom()] for _ in range(3)])

    assert [span.end for span in tracker.spans()] == ["crashed"] * 3


def test_a_mark_says_why(tracker):
    """The tracker takes any mark, with or without a time."""
    tracker.observe(sample(1, 2.0))
    number = tracker.observe(AttemptMark(RANK0, "resume", evidence(2), time=5.0))

    assert number == 1
    assert tracker.spans()[1].started == 5.0
