"""Tracebacks put together again, also when ranks print over each other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis import signatures
from diagnosis.observations import Evidence, Origin
from diagnosis.tracebacks import MAX_OPEN, TracebackReader, ended_unknown


def read(lines):
    reader = TracebackReader()
    found = []
    for number, (rank, text) in enumerate(lines, 1):
        for symptom in signatures.match(text, Origin(rank=rank), Evidence("a.log", number, text)):
            raised = reader.observe(symptom)
            if raised is not None:
                found.append(raised)
    return found


ONE = (
    "Traceback (most recent call last):",
    '  File "/opt/run/train.py", line 88, in <module>',
    "    main()",
    '  File "/opt/run/train.py", line 40, in main',
    '    raise ValueError("torch.cuda.OutOfMemoryError: no")',
    '  File "/usr/lib/python3.11/site-packages/x/y.py", line 7, in check',
    "    check()",
    "ValueError: batch of 7 does not divide by 8",
)


def test_frames_and_exception():
    (raised,) = read([(0, line) for line in ONE])
    assert [str(frame) for frame in raised.frames] == ["<module> (train.py:88)", "main (train.py:40)", "check (y.py:7)"]
    assert str(raised.where) == "main (train.py:40)"
    assert raised.exception.evidence.line == 8
    assert not raised.is_launcher
    assert not raised.is_communication


def test_two_ranks_print_over_each_other():
    lines = [item for one in ONE for item in ((0, one), (1, one.replace("ValueError: batch", "KeyError: batch")))]
    found = read(lines)
    assert [(item.opened.origin.rank, len(item.frames)) for item in found] == [(0, 3), (1, 3)]


def test_what_followed_from_another_exception_says_so():
    again = [*ONE, "", "During handling of the above exception, another exception occurred:", "", *ONE]
    assert [item.is_chained for item in read([(None, line) for line in again])] == [False, True]


def test_a_launchers_own_traceback():
    lines = (
        "Traceback (most recent call last):",
        '  File "/usr/local/bin/torchrun", line 8, in <module>',
        "    sys.exit(main())",
        '  File "/v/site-packages/torch/distributed/run.py", line 879, in main',
        "    run(args)",
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
    )
    (raised,) = read([(None, line) for line in lines])
    assert raised.is_launcher


def test_raised_inside_a_collective():
    lines = (
        "Traceback (most recent call last):",
        '  File "/opt/run/train.py", line 88, in <module>',
        "    dist.barrier()",
        '  File "/v/site-packages/torch/distributed/distributed_c10d.py", line 4159, in barrier',
        "    work.wait()",
        "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.1]:42",
    )
    (raised,) = read([(None, line) for line in lines])
    assert raised.is_communication


def test_a_traceback_that_was_cut_gives_nothing():
    assert read([(0, line) for line in ONE[:-1]]) == []


def test_open_tracebacks_are_bounded():
    reader = TracebackReader()
    for rank in range(MAX_OPEN + 100):
        for symptom in signatures.match(ONE[0], Origin(rank=rank), Evidence("a.log", 1, ONE[0])):
            reader.observe(symptom)
    assert len(reader._open) == MAX_OPEN


@given(st.lists(st.tuples(st.sampled_from([None, 0, 1]), st.sampled_from(ONE) | st.text(max_size=40)), max_size=30))
def test_any_order(lines):
    read(lines)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("mylib.data.DataCorrupted: checksum differs", "mylib.data.DataCorrupted"),
        ("__main__.BadShard: /d/7.bin", "__main__.BadShard"),
        ("StopIteration", "StopIteration"),
        ("socket.timeout: timed out", "socket.timeout"),
        ("pyarrow.lib.ArrowInvalid: Parquet magic bytes not found", "pyarrow.lib.ArrowInvalid"),
        ("INFO: step 3", None),
        ("Loss: 2.5", None),
        ("train.py: nothing to do", None),
        ("    main()", None),
        ("", None),
    ],
)
def test_an_exception_that_no_row_knows_ends_a_traceback_by_its_place(line: str, kind: str | None):
    """The first line behind the frames, where it is a dotted name or several words in one."""
    texts = [ONE[0], ONE[1], ONE[2], line]
    evidence = [Evidence("a.log", number, f"[rank2]: {text}") for number, text in enumerate(texts, 1)]
    reader = TracebackReader()
    for text, seen in zip(texts, evidence, strict=True):
        for symptom in signatures.match(text, Origin(rank=2), seen):
            reader.observe(symptom)

    (open_one,) = reader.unfinished()
    ended = ended_unknown(open_one, evidence)

    assert (ended.fields["type"] if ended is not None else None) == kind
    assert ended is None or ended.evidence.line == 4


@pytest.mark.parametrize(
    ("frames", "is_launcher"),
    [
        (["/opt/bin/torchrun", "torch/distributed/elastic/multiprocessing/errors/__init__.py"], True),
        (["/w/train.py", "torch/distributed/elastic/multiprocessing/errors/__init__.py", "/w/train.py"], False),
        (["/w/main.py", "site-packages/torch/multiprocessing/spawn.py"], True),
        (["site-packages/torch/multiprocessing/spawn.py", "/w/main.py"], False),
    ],
)
def test_what_a_launcher_wraps_is_no_launcher(frames: list[str], is_launcher: bool):
    """torch's `@record` stands around anybody's main function, its spawn below what a child ran."""
    lines = ["Traceback (most recent call last):", *(f'  File "{path}", line 5, in main' for path in frames)]
    (raised,) = read([(None, line) for line in [*lines, "ValueError: no"]])

    assert raised.is_launcher is is_launcher
