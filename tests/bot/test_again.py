"""A line that stands in a log again and again is counted, not read: the answer stays."""

import json
import random

import pytest

from bot import log_lines
from bot.inspect import inspect
from diagnosis.formats.reader import LogReader
from diagnosis.formats.settled import TOLD_SINGLY, tells_the_same_again
from diagnosis.formats.splitter import Lines
from diagnosis.observations import Origin
from tests.diagnosis.formats.test_fast_paths import one_by_one, told, whole

BIG = 1 << 40
STAMP = "2024-05-13 11:07:21,123"
LINES = (
    (
        "[rank3]:[E ProcessGroupNCCL.cpp:616] [Rank 3] Watchdog caught collective operation timeout: "
        "WorkNCCL(SeqNum=1234, OpType=ALLREDUCE, NumelIn=1048576, NumelOut=1048576, Timeout(ms)=600000) ran for "
        "600054 milliseconds before timing out."
    ),
    f"[{STAMP}] node7: torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
    "node07:41:977 [3] NCCL WARN NET/IB : Got completion from peer 10.0.0.7<4791> with error 12, opcode 0, vendor err 129",
    "NVRM: Xid (PCI:0000:3b:00): 79, pid=4711, GPU has fallen off the bus.",
    "RuntimeError: NCCL communicator was aborted on rank 5.",
    "Traceback (most recent call last):",
    '  File "/opt/train.py", line 41, in step',
    "    raise RuntimeError('CUDA error: an illegal memory access was encountered')",
    "OSError: [Errno 28] No space left on device",
    "slurmstepd: error: *** JOB 4711 ON node7 CANCELLED AT 2024-05-13T11:00:00 DUE TO PREEMPTION ***",
    "saving checkpoint to /data/ckpt/iter_0000100",
    "OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768",
    "iteration 40/ 100 | lm loss: 2.5E+00 |",
    "step=7 loss=2.5 lr=0.0001",
    "loss: 2.5",
    "{'loss': 2.5}",
    "{",
    "  exitcode  : -9 (pid: 4711)",
    "  time      : 2024-05-13_11:07:21",
    "Root Cause (first observed failure):",
    "[1,3]<stderr>:Connection reset by peer",
    "Mon May 13 11:07:21 2024[1,2]<stdout>:Broken pipe",
    "(RayTrainWorker pid=4711, ip=10.0.0.3) torch.cuda.OutOfMemoryError: CUDA out of memory.",
    "3: torch.cuda.OutOfMemoryError: CUDA out of memory.",
    '{"log":"CUDA out of memory\\n","stream":"stderr","time":"2024-05-13T11:07:21.1Z"}',
    "May 13 23:59:59 node7 kernel: Out of memory: Killed process 4711 (python)",
    "23:59:59 CUDA error: device-side assert triggered",
    "  1%|▏         | 1/99 [00:01<00:09,  1.01s/it]",
    "waiting",
    "\x1b[31mCUDA out of memory\x1b[0m",
    "a\rCUDA out of memory",
    "CUDA out of memory\r",
    "\xff\x00CUDA out of memory",
    "",
    "   ",
)


def log_of(dice):
    """Steps, and between them lines that repeat, some of them often."""
    lines, step = [], 1
    for _ in range(30):
        if dice.random() < 0.4:
            for _ in range(dice.choice((1, 5, 40))):
                lines.append(f"[{STAMP}] step={step} loss={2 + dice.random() / 9:.4f} lr=0.0001")
                step += 1
            step = max(1, step - dice.choice((0, 0, 0, 90)))
        lines += [dice.choice(LINES)] * dice.choice((1, 2, 7, 8, 9, 17, 100, 2000))
    return "\n".join(lines).encode("utf-8", "surrogateescape") + b"\n" * dice.randrange(2)


@pytest.mark.parametrize("seed", range(6))
def test_lines_that_come_again_are_judged_as_if_each_were_read(seed, tmp_path, monkeypatch):
    """One line at a time, in bulk, and in bulk by a second process: the same answer."""
    log = tmp_path / "train.log"
    log.write_bytes(log_of(random.Random(seed)))
    answers = []

    for bulk_from, two_from in ((BIG, BIG), (0, BIG), (0, 0)):
        monkeypatch.setattr(log_lines, "BULK_FROM", bulk_from)
        monkeypatch.setattr(log_lines, "TWO_FROM", two_from)
        monkeypatch.setattr(log_lines, "has_two_cores", lambda: True)
        answer = inspect([log])
        facts = answer.case.files[0].log
        seen = [(one.symptom, one.order, one.count, one.steps_after) for one in facts.sightings] if facts else []
        answers.append((json.loads(answer.as_json()), seen))

    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize("seed", range(6))
def test_a_live_reader_says_of_lines_that_come_again_what_each_says(seed):
    """Read together or each for itself: the same observations with the same places, and the same newest lines."""
    data = whole(log_of(random.Random(seed)))
    reader = LogReader("train.log", Origin(run="run"))

    seen = reader.feed(data) + reader.close()

    single, alone = one_by_one(data)
    assert told(reader, seen) == told(single, alone)
    assert reader.recent_evidence(None) == single.recent_evidence(None)


@pytest.mark.parametrize("line", [LINES[0], LINES[2], LINES[8]])
def test_a_line_that_floods_a_log_is_read_a_few_times(line, tmp_path, monkeypatch):
    """However often it stands there: the work is that of looking, not of understanding."""
    reads = []
    take = LogReader._take
    monkeypatch.setattr(LogReader, "_take", lambda self, piece: (reads.append(piece[2]), take(self, piece)))
    log = tmp_path / "train.log"
    log.write_text(f"{line}\n" * 50_000)

    facts = inspect([log]).case.files[0].log

    assert len(reads) < 500
    assert facts is not None
    assert all(
        sum(one.count for one in facts.all_of(name)) == 50_000
        for name in {s.symptom.signature for s in facts.sightings}
    )


class Looked(list):
    """Lines that count how often one of them is looked at."""

    looks = 0

    def __getitem__(self, place):
        Looked.looks += isinstance(place, int)
        return super().__getitem__(place)


@pytest.mark.parametrize("line", ["[", "{", LINES[0], LINES[13]])
def test_a_line_that_cannot_be_counted_is_not_looked_at_again_and_again(line, monkeypatch):
    """The work of looking grows with the lines, not with their square: `[` may open a record each time."""
    monkeypatch.setattr(Looked, "looks", 0)
    printed, size = Looked([line] * 5000), len(line) + 1

    LogReader("train.log", Origin())._take_lines(Lines(printed, printed, 1, range(0, 5001 * size, size)))

    assert Looked.looks < 20 * len(printed)


@pytest.mark.parametrize("line", LINES)
def test_what_is_counted_tells_nothing_new_when_it_is_read(line):
    """Where a line is said to tell the same again, it does, a thousand times."""
    reader = LogReader("train.log", Origin())
    data = line.encode("utf-8", "surrogateescape") + b"\n"

    told = [reader.feed(data) for _ in range(TOLD_SINGLY)][-1]

    if tells_the_same_again(reader, told):
        for _ in range(1000):
            assert [one.signature for one in reader.feed(data)] == [one.signature for one in told]
