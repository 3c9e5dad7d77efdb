"""What a watcher keeps of a log tells a diagnosis as much as the log does, however long it was."""

from diagnosis.chronicle import KEPT_OF_A_KIND, MOST_SYMPTOMS, NEWEST_STEPS, SURVIVED_STEPS, Chronicle
from diagnosis.observations import AttemptMark, Category, Evidence, Origin, Role, StepSample, Symptom

LOG = "train.log"


def step(number, rank=0, line=None):
    return StepSample(Origin("r", None, rank), number, "printed", 2.0, Evidence(LOG, line or number, f"step {number}"))


def symptom(rank=0, signature="cuda_oom", role=Role.ROOT, line=1):
    evidence = Evidence(LOG, line, signature)
    return Symptom(Origin("r", None, rank), signature, role, Category.GPU_OOM, evidence)


def test_of_a_million_steps_the_first_and_the_newest_stay():
    """Bounded, in the order in which they came."""
    chronicle = Chronicle()

    for number in range(1, 100_001):
        chronicle.observe(step(number))

    steps = [seen.step for seen in chronicle.observations()]
    assert steps == [1, *range(100_001 - NEWEST_STEPS, 100_001)]


def test_the_last_step_of_every_rank_stays():
    """A rank that fell silent long before the others is the one that is looked for."""
    chronicle = Chronicle()
    for number in range(1, 10_001):
        chronicle.observe(step(number, rank=0))
        if number <= 7000:
            chronicle.observe(step(number, rank=1))

    last = {seen.origin.rank: seen.step for seen in chronicle.observations()}

    assert last == {0: 10_000, 1: 7000}


def test_a_storm_of_one_line_is_kept_as_a_few():
    """More sightings of the same row and rank tell a diagnosis nothing."""
    chronicle = Chronicle()

    for line in range(100_000):
        chronicle.observe(symptom(line=line))

    assert len(chronicle.observations()) == KEPT_OF_A_KIND


def test_consequences_do_not_push_out_a_late_cause():
    """Half of the room is for causes alone; what had no room is counted."""
    chronicle = Chronicle()
    for rank in range(2 * MOST_SYMPTOMS):
        chronicle.observe(symptom(rank, "nccl_watchdog_timeout", Role.CASCADE))

    chronicle.observe(symptom(99_999, "cuda_oom"))

    assert any(seen.signature == "cuda_oom" for seen in chronicle.observations())
    assert chronicle.dropped > 0


def test_what_training_survived_is_forgotten():
    """An error hundreds of steps ago ended nothing."""
    chronicle = Chronicle()
    chronicle.observe(symptom())
    for number in range(1, 2 * SURVIVED_STEPS + 2):
        chronicle.observe(step(number))

    assert not chronicle.has_trouble


def test_a_new_attempt_starts_afresh():
    """What ended the first attempt does not explain the second."""
    chronicle = Chronicle()
    chronicle.observe(step(1))
    chronicle.observe(symptom())

    chronicle.observe(AttemptMark(Origin("r"), "banner", Evidence(LOG, 9, "launching")))

    assert [type(seen) for seen in chronicle.observations()] == [AttemptMark]
