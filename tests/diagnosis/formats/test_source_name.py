"""A path says rank and node where people write them into it."""

import pytest

from diagnosis.formats.source_name import origin_of


@pytest.mark.parametrize(
    ("path", "node", "rank", "local_rank"),
    [
        ("rank3.log", None, 3, None),
        ("/logs/run42/rank_12.txt", None, 12, None),
        ("rank3.stdout.log", None, 3, None),
        ("rank-07.err", None, 7, None),
        ("train_node17_rank3.log", "node17", 3, None),
        ("node0.log", "node0", None, None),
        ("gpu-node48.csv", "node48", None, None),
        ("pyspy-node48.log", "node48", None, None),
        ("pod1.log", "pod1", None, None),
        ("workerlog.3", None, None, 3),
        ("worker-3.log", "worker-3", None, None),
        ("stderr.3", None, None, 3),
        ("local_rank2_node5.log", "node5", None, 2),
        ("/logs/attempt_0/3/stderr.log", None, None, 3),
        ("/data/node17/rank_3/train.log", "node17", 3, None),
        ("job-node003-7.out", "node003", None, None),
        ("C:\\logs\\rank3.log", None, 3, None),
        ("slurm-12345.out", None, None, None),
        ("train.log", None, None, None),
        ("franklin2.log", None, None, None),
        ("", None, None, None),
    ],
)
def test_a_path_says_where_its_lines_come_from(path, node, rank, local_rank):
    """And a bare number says nothing."""
    origin = origin_of(path, run="run42")

    assert (origin.run, origin.node, origin.rank, origin.local_rank) == ("run42", node, rank, local_rank)
