"""Answers of NCCL's RAS, as text and as JSON, grouped by identical state."""

import json

from diagnosis.exhibits import kind_of, read_ras

HEAD = (
    "Job summary\n===========\n\n  Nodes  Processes         GPUs  Processes     GPUs\n(total)   per node  per process    (total)  (total)\n"
    "      1          8            1          8        8\n\nCommunicators... (0.00s)\n=============\n\n"
    "Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors\n    #  in group  per comm  per node  per comm  in group\n"
    "    0         1         1         8         8         8   RUNNING  MISMATCH\n\n"
)
MISMATCH = (
    "Warnings\n========\n\n#0-0 (27a079b828ff1a75) MISMATCH\n  Communicator ranks have different collective operation counts\n"
    "  7 ranks have launched up to operation 6650\n  1 ranks have launched up to operation 6649\n"
    "  Rank 5 -- GPU 5 managed by process 905 on node 172.16.64.210\n"
)
DEAD = (
    "Errors\n======\n\nDEAD\n  1 job process is considered dead (unreachable via the RAS network)\n"
    "  Process 905 on node 172.16.64.213 managing GPU 5\n\n#0-0 (cf264af53edbe986) INCOMPLETE\n  Missing communicator data from 1 rank\n"
    "  The missing rank: 5\n"
)


def test_ranks_are_grouped_by_what_they_launched():
    """The smaller group that launched less is named, as RAS names it."""
    report = read_ras(HEAD + MISMATCH)

    ((least, others),) = report.lagging()
    assert (least.state, least.size, [one.rank for one in least.members]) == ("operation 6649", 1, [5])
    assert [(one.state, one.size) for one in others] == [("operation 6650", 7)]


def test_a_process_that_ras_lost_is_told():
    """By its pid; the rank stands in its communicator."""
    report = read_ras(HEAD + DEAD)

    assert [(one.pid, one.node) for one in report.lost] == [(905, "172.16.64.213")]
    assert [(one.state, one.members[0].rank) for one in report.groups] == [("missing", 5)]


def test_newer_releases_count_by_kind():
    """Since 2.26."""
    report = read_ras(HEAD + MISMATCH.replace("to operation", "to AllReduce operation"))

    assert report.lagging()[0][0].state == "AllReduce 6649"


def test_json_says_the_same():
    """Since 2.28.7."""
    ranks = [
        {
            "rank": r,
            "host": "10.0.0.1",
            "pid": 900 + r,
            "collective_counts": {"AllReduce": 49 if r == 5 else 50, "Reduce": 0},
        }
        for r in range(8)
    ]
    text = json.dumps(
        {"communicators_count": 1, "communicators": [{"hash": "0xae", "ranks": ranks, "missing_ranks": []}], "ras": {}}
    )

    ((least, others),) = read_ras(text).lagging()

    assert (least.state, least.members[0].pid, others[0].size) == ("AllReduce 49", 905, 7)
    assert kind_of(text.encode(), "answer.txt") == "nccl_ras"


def test_anything_else_is_no_answer():
    """And never an error."""
    for text in ("", "{", "{}", '{"communicators": [{"ranks": [{}]}]}', "\x00" * 99, HEAD * 50, MISMATCH * 2000):
        read_ras(text)
    assert kind_of(HEAD.encode(), "x.txt") == "nccl_ras"
