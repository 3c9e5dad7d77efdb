"""What stays of a log, bounded whatever its length."""

import pytest

from diagnosis.log_facts import KEPT_APART, KEPT_MARKS, KEPT_OF_A_KIND, LogFacts
from diagnosis.observations import (
    AttemptMark,
    Category,
    Evidence,
    OptimizerSkip,
    Origin,
    Phase,
    PhaseMark,
    Role,
    StepSample,
    Symptom,
)

ONE, TWO = Origin(rank=1), Origin(rank=2)


def at(line: int, text: str = "x") -> Evidence:
    return Evidence("a.log", line, text)


def step(number, *, origin=ONE, time=None, line=1):
    return StepSample(origin, number, "printed", 2.0, at(line), time=time)


def symptom(signature="cuda_oom", *, origin=ONE, role=Role.ROOT, line=1, fields=None):
    return Symptom(origin, signature, role, Category.GPU_OOM, at(line), fields or {})


def facts_of(*seen):
    facts = LogFacts()
    for item in seen:
        facts.observe(item)
    return facts


def test_a_sighting_knows_its_place():
    facts = facts_of(step(8, time=100.0), step(9, time=110.0), symptom(), step(10, time=120.0))
    facts.finish({})
    (seen,) = facts.sightings
    assert (seen.step, seen.time, seen.attempt, seen.steps_before, seen.steps_after) == (9, 110.0, 0, 2, 1)
    assert seen.phase is Phase.TRAINING


def test_the_same_line_many_times_is_counted_not_kept():
    facts = facts_of(*(symptom(line=line) for line in range(1, 1001)))
    assert len(facts.sightings) == KEPT_OF_A_KIND
    assert sum(seen.count for seen in facts.sightings) == 1000


def test_each_rank_keeps_its_own():
    facts = facts_of(*(symptom(origin=Origin(rank=rank)) for rank in range(300)))
    assert len(facts.sightings) == 300


def test_marks_are_bounded():
    facts = facts_of(*(PhaseMark(ONE, Phase.SAVING, place % 2 == 0, at(place)) for place in range(1000)))
    assert len(facts.passages) == KEPT_MARKS
    assert len(facts.ranks[1].marks) == 8


def test_ranks_have_last_steps_of_their_own():
    facts = facts_of(step(5), step(5, origin=TWO), step(6), step(7))
    assert {rank: item.last.step for rank, item in facts.ranks.items()} == {1: 7, 2: 5}
    assert facts.last_step == 7


def test_a_new_attempt_begins_only_after_something_was_said():
    mark = AttemptMark(ONE, "banner", at(1), environment={"world_size": "8"})
    facts = facts_of(mark, mark, step(1), mark, step(1), step(2))
    assert facts.attempt == 1
    assert facts.world == 8
    assert facts.last_told.attempt == 1


def test_steps_after_count_only_in_the_same_attempt():
    facts = facts_of(step(1), symptom(), AttemptMark(ONE, "banner", at(2)), step(1), step(2), step(3))
    facts.finish({})
    assert facts.sightings[0].steps_after == 0


def test_a_step_that_is_told_late_stays_above_the_error():
    """Numbers that are only known at the end of a file do not make an error one that training survived."""
    early = [step(number, line=number) for number in range(1, 4)]
    facts = facts_of(early[0], symptom(line=40), symptom("xid", line=41), early[1], early[2], step(4, line=50))
    facts.finish({})
    assert [(seen.step, seen.steps_after) for seen in facts.sightings] == [(3, 1), (3, 1)]


def test_a_world_that_cannot_be_is_not_believed():
    facts = facts_of(AttemptMark(ONE, "banner", at(1), environment={"world_size": "99999999999"}))
    assert facts.world is None


def test_the_elastic_summary_is_put_together():
    told = (
        ("elastic_block", {"root": "Root Cause"}),
        ("elastic_field", {"time": "2026-03-14_09:00:00"}),
        ("elastic_field", {"host": "node3"}),
        ("elastic_field", {"rank": "27", "local_rank": "3"}),
        ("elastic_field", {"exit_code": "-9", "pid": "4242"}),
        ("elastic_field", {"signal": "9"}),
    )
    lines = [symptom(name, role=Role.CONTEXT, line=line, fields=fields) for line, (name, fields) in enumerate(told, 1)]
    (entry,) = facts_of(*lines).elastic
    assert entry.is_root
    assert (entry.host, entry.rank, entry.local_rank) == ("node3", 27, 3)
    assert (entry.exit_code, entry.pid) == (-9, 4242)
    assert (entry.evidence.line, entry.signal_evidence.line) == (5, 6)


def test_the_clock_does_not_go_back():
    facts = facts_of(step(1, time=100.0), step(2, time=90.0), symptom())
    assert facts.last_time == 100.0
    assert facts.sightings[0].time == 100.0


def test_both_ranks_of_a_line_are_joined():
    facts = facts_of(symptom(origin=Origin(node="n2", rank=11, local_rank=3)))
    assert facts.local_ranks == {("n2", 3): 11}
    assert facts.observed_ranks == {11}


@pytest.mark.parametrize(
    ("text", "is_over"),
    [
        ("Training done. Total time 3 h", True),
        ("fine-tuning finished", True),
        ("INFO run has ended", True),
        ("training is completed step 5", False),
        ("training a model", False),
    ],
)
def test_last_words_may_say_that_it_is_over(text, is_over):
    facts = LogFacts()
    facts.finish({None: (at(9, text),)})
    assert (facts.ranks[None].finished is not None) is is_over


def test_skipped_steps_remember_where_they_were():
    facts = facts_of(step(41), OptimizerSkip(ONE, 1, at(2)))
    assert [place for _, place in facts.skips] == [41]


NOBODY = Origin()


def test_lines_about_different_processes_are_no_repeats():
    """Where no rank stands in front, the rank, GPU, process or node that a line tells sets it apart."""
    facts = facts_of(*(symptom("nccl_comm", origin=NOBODY, fields={"rank": str(rank)}) for rank in range(64)))

    assert [item.symptom.fields["rank"] for item in facts.sightings] == [str(rank) for rank in range(64)]


def test_one_gpu_that_repeats_itself_hides_no_other():
    """Hundreds of small faults, and then the one that counts."""
    small = [symptom("xid", origin=NOBODY, fields={"xid": "43", "bus": "1b:00"}) for _ in range(500)]
    facts = facts_of(*small, symptom("xid", origin=NOBODY, fields={"xid": "79", "bus": "1b:00"}))

    assert [item.symptom.fields["xid"] for item in facts.sightings] == ["43"] * KEPT_OF_A_KIND + ["79"]
    assert facts.sightings[KEPT_OF_A_KIND - 1].count == 500 - KEPT_OF_A_KIND + 1


def test_what_is_told_apart_is_bounded():
    """Any number of pids."""
    facts = facts_of(
        *(symptom("hung_task", origin=NOBODY, fields={"pid": str(pid)}) for pid in range(KEPT_APART + 1000))
    )

    assert len(facts.sightings) <= KEPT_APART + KEPT_OF_A_KIND


@pytest.mark.parametrize(
    ("seen", "stride"),
    [
        ([step(10), step(20), step(30)], 10.0),
        ([step(1), step(2), step(3)], 1.0),
        ([step(7)], 1.0),
        ([step(10), step(20), AttemptMark(ONE, "resumed", at(3)), step(5), step(6)], 1.0),
    ],
)
def test_how_often_a_rank_tells_a_step(seen, stride):
    """From its lines of the newest attempt."""
    assert facts_of(*seen).ranks[1].stride == stride
