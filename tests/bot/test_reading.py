"""Files of any kind become a case, each read once, never an error."""

import bz2
import codecs
import gzip
import json
import lzma
import os
import pickle
import random
import shutil
import subprocess
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot import log_lines
from bot.inspect import inspect
from bot.reading import read_case
from tests.counts import examples

LOG = "".join(f"2026-03-14 09:{i // 60:02d}:{i % 60:02d} step {i} loss {3 - i / 1000:.4f}\n" for i in range(1, 200))
OOM = "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.11 GiB\n"


def read(*paths):
    seen = []
    return read_case(paths, seen.append), seen


def powershell(data):
    """What its `>` makes of a program's output."""
    return data.decode().replace("\n", "\r\n").encode("utf-16")


def big_endian(data):
    return codecs.BOM_UTF16_BE + data.decode().encode("utf-16-be")


def zstd(data):
    """By the command, where it is installed."""
    if shutil.which("zstd") is None:
        pytest.skip("needs the zstd command")
    return subprocess.run(["zstd", "-qc"], input=data, capture_output=True, check=True).stdout


PACKERS = (gzip.compress, bz2.compress, lzma.compress, zstd)


@pytest.mark.parametrize("pack", [*PACKERS, bytes, powershell, big_endian])
def test_packed_files_are_read_as_they_are(tmp_path, pack):
    (tmp_path / "train.log").write_bytes(pack((LOG + OOM).encode()))

    case, seen = read(tmp_path)

    (file,) = case.files
    assert (file.kind, file.lines) == ("training_log", 200)
    assert len(seen) >= 199
    assert [item.symptom.signature for item in file.log.sightings] == ["cuda_oom"]


LANGUAGES = {
    "gb18030": "第1轮训练开始\n步数: {n} 损失: {l} 学习率: 0.001\n",
    "big5": "開始訓練\n步數: {n} 損失: {l} 學習率: 0.001\n",
    "shift_jis": "学習を開始します\nステップ: {n} 損失: {l} 学習率: 0.001\n",
    "euc_jp": "学習を開始します\nステップ: {n} 損失: {l} 学習率: 0.001\n",
    "euc_kr": "학습 시작\n스텝: {n} 손실: {l} 학습률: 0.001\n",
    "latin-1": "Démarrage de l'entraînement\nétape {n} perte {l} lr 0.001\n",
    "cp1251": "Обучение началось\nшаг: {n} потери: {l} lr: 0.001\n",
    "utf-16-le": "step {n} loss {l} lr 0.001\n",
    "utf-16-be": "step {n} loss {l} lr 0.001\n",
}


@pytest.mark.parametrize("encoding", LANGUAGES)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("count", [40, 40_000])
def test_a_log_in_another_encoding_is_read_by_the_words_in_it(tmp_path, encoding, pack, count):
    """Its keys, and what is quoted of it; long or short, packed or not."""
    head, _, line = LANGUAGES[encoding].rstrip("\n").rpartition("\n")
    text = f"{head}\n" + "".join(line.format(n=n, l=f"{3 - n / 1e5:.5f}") + "\n" for n in range(1, count + 1))
    (tmp_path / "train.log").write_bytes(pack(text.encode(encoding)))

    said = inspect([tmp_path])

    facts = said.summary.loss()
    assert (facts["points"], facts["first_step"], facts["last_step"]) == (count, 1, count)
    assert said.case.files[0].tail[-1] == line.format(n=count, l=f"{3 - count / 1e5:.5f}")
    assert said.diagnosis.unknown == ()


def test_an_encoding_that_nobody_knows_is_told(tmp_path):
    """The numbers are read all the same."""
    (tmp_path / "train.log").write_bytes(b"".join(b"step %d loss 2.5 \xa1\xf7\x88\xfe\xb9\n" % n for n in range(1, 40)))

    said = inspect([tmp_path])

    assert said.summary.loss()["points"] == 39
    assert said.diagnosis.unknown == (
        "train.log: it is not UTF-8, and its encoding is not known: words beyond ASCII were not read",
    )


@pytest.mark.parametrize("garbage", [b"\xff\xfe\x80\n", b"\0\0\0\n", "损失".encode("gbk") + b"\n"])
def test_a_little_garbage_makes_no_other_encoding_of_a_log(tmp_path, garbage):
    """Another program's output among lines of UTF-8."""
    line = "步数: {} 损失: 2.5\n"
    text = "".join(line.format(n) for n in range(1, 20)).encode()
    (tmp_path / "train.log").write_bytes(text + garbage + "".join(line.format(n) for n in range(20, 40)).encode())

    said = inspect([tmp_path])

    assert said.summary.loss()["points"] == 39
    assert said.diagnosis.unknown == ()


@pytest.mark.parametrize("cut", ["█▏", "显存"])
def test_letters_that_were_cut_make_no_unknown_encoding_of_a_log(tmp_path, cut):
    """Ranks that print over each other cut bars and words in their midst, all through a log."""
    lines = [f"step {n} loss 2.5 {cut * 5}".encode()[: -1 if n % 10 == 0 else None] for n in range(1, 200)]
    (tmp_path / "train.log").write_bytes(b"\n".join(lines) + b"\n")

    said = inspect([tmp_path])

    assert said.summary.loss()["points"] == 199
    assert said.diagnosis.unknown == ()


def test_a_hole_hides_no_encoding(tmp_path):
    """A log that was truncated under its writer begins with NULs."""
    text = "".join(f"步数: {n} 损失: 2.5\n" for n in range(1, 40))
    (tmp_path / "train.log").write_bytes(b"\0" * 4096 + text.encode("gbk"))

    said = inspect([tmp_path])

    assert said.summary.loss()["points"] == 39
    assert said.case.files[0].tail[-1] == "步数: 39 损失: 2.5"


CUT = "packed, and its end is missing: it was cut, or is still being written"


@pytest.mark.parametrize("pack", PACKERS)
def test_a_packed_file_that_was_cut_is_read_up_to_there_and_says_so(tmp_path, pack):
    """What it told before the cut is found."""
    text = OOM + "".join(f"step {n} loss {3 - n / 1e5:.5f} # {random.Random(n).random()}\n" for n in range(60_000))
    data = pack(text.encode())
    (tmp_path / "train.log").write_bytes(data[: len(data) * 9 // 10])

    case, seen = read(tmp_path)

    (file,) = case.files
    assert file.problem == CUT
    assert file.kind == "training_log"
    assert 20_000 < file.lines < 60_000
    assert len(seen) > 20_000
    assert [item.symptom.signature for item in file.log.sightings] == ["cuda_oom"]
    assert f"train.log: {CUT}" in inspect([tmp_path]).diagnosis.unknown


@pytest.mark.parametrize("pack", PACKERS)
def test_an_exhibit_that_was_cut_says_so(tmp_path, pack):
    """Such as the stacks of a hang."""
    stack = 'Thread 1 (idle): "MainThread"\n    all_reduce (torch/distributed/distributed_c10d.py:2501)\n'
    text = "".join(f"Process {n}: python train.py --seed {random.Random(n).random()}\n{stack}\n" for n in range(30_000))
    data = pack(text.encode())
    (tmp_path / "rank0.pyspy.txt").write_bytes(data[: len(data) // 2])

    case, _ = read(tmp_path)

    assert (case.files[0].kind, case.files[0].problem) == ("stacks", CUT)


@pytest.mark.parametrize("lines", [1, 60_000, 400_000])
def test_lines_too_long_to_be_read_whole_are_told(tmp_path, lines, monkeypatch):
    """How many, and the first, whether they are read one by one, in bulk or by a second process."""
    monkeypatch.setattr(log_lines, "TWO_FROM", 8 << 20)
    step = "step {} loss 2.5 lr 1e-4\n"
    text = step.format(1) + "x" * 70_000 + "\n" + step.format(2) + "y" * 70_000 + "\r" + "z" * 70_000 + "\n"
    (tmp_path / "train.log").write_text(text + "".join(map(step.format, range(3, 3 + lines))))

    assert inspect([tmp_path]).diagnosis.unknown == (
        "train.log: 2 lines, the first is line 2, are longer than 64 KiB: what stands behind that was not read",
    )


def test_one_line_too_long_is_told_by_its_number(tmp_path):
    (tmp_path / "train.log").write_text("step 1 loss 2.5\n" + "x" * 70_000)

    assert inspect([tmp_path]).diagnosis.unknown == (
        "train.log: line 2 is longer than 64 KiB: what stands behind that was not read",
    )


PLAIN, MEGATRON = (
    "step {0} loss 2.5 lr 1e-4\n",
    " iteration {0:8d}/ 100 | elapsed time per iteration (ms): 9.1 | learning rate: 1.0E-04 | lm loss: 2.5E+00 | loss scale: 1.0 |\n",
)
DOUBTED = (
    "a.log (key and value) and b{} (megatron) were read as logs of one run; if they are of two, look at each by itself"
)


@pytest.mark.parametrize(
    ("name", "style", "told"),
    [("b.log", MEGATRON, (DOUBTED.format(".log"),)), ("b.log", PLAIN, ()), ("b.jsonl", MEGATRON, ())],
    ids=["another style", "the same style", "records beside the log"],
)
def test_logs_of_two_styles_may_be_of_two_runs_and_it_is_said(tmp_path, name, style, told):
    for path, line in ((tmp_path / "a.log", PLAIN), (tmp_path / name, style)):
        path.write_text("".join(map(line.format, range(1, 40))))

    assert inspect([tmp_path]).diagnosis.unknown == told


@pytest.mark.parametrize("at", [40, 400, -6])
@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_damaged_packed_file_says_so_and_the_others_are_read(tmp_path, pack, at):
    """One byte of its head, its middle or its checksum is another."""
    data = bytearray(pack(random.Random(1).randbytes(2000) + LOG.encode()))
    data[at] ^= 0xFF
    (tmp_path / "rank0.log").write_bytes(data)
    (tmp_path / "rank1.log").write_text(LOG)

    case, _ = read(tmp_path)

    assert case.files[0].problem.startswith("packed, and ")
    assert (case.files[1].rank, case.files[1].lines) == (1, 199)


def test_a_folder_is_read_in_the_order_of_ranks_without_hidden_files(tmp_path):
    for rank in (10, 2, 0):
        (tmp_path / f"rank{rank}.log").write_text(LOG)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "rank1.log").write_text(LOG)

    case, _ = read(tmp_path)

    assert [(file.path, file.rank) for file in case.files] == [("rank0.log", 0), ("rank2.log", 2), ("rank10.log", 10)]


def test_what_is_no_plain_file_is_left_alone(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    (tmp_path / "train.log").write_text(LOG)

    case, _ = read(tmp_path, tmp_path / "pipe")

    assert [(file.path, bool(file.problem)) for file in case.files] == [("train.log", False), ("pipe", True)]


def test_memory_stays_small_whatever_the_size(tmp_path):
    path = tmp_path / "train.log"
    with path.open("w") as out:
        for part in range(60):
            out.write(LOG.replace("step ", f"step {part}000"))
            out.write("x" * 300_000 + "\n")
    tracemalloc.start()

    read(path)

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 24 << 20


def test_the_last_lines_are_kept_with_their_numbers(tmp_path):
    (tmp_path / "train.log").write_text(LOG + "the end")

    (file,) = read(tmp_path)[0].files

    assert file.line(200) == "the end"
    assert file.line(1) == LOG.split("\n", 1)[0]
    assert not file.ends_whole


def test_lines_that_ranks_share_have_owners(tmp_path):
    text = "".join(f"[rank{rank}]: step {step} loss 2.5\n" for step in range(50) for rank in range(4))
    (tmp_path / "all.log").write_text(text)

    (file,) = read(tmp_path)[0].files

    assert file.ranks == (0, 1, 2, 3)
    assert set(file.log.ranks) >= {0, 1, 2, 3}


def test_a_dump_is_never_unpickled(tmp_path):
    class Evil:
        def __reduce__(self):
            return os.system, (f"touch {tmp_path}/was-here",)

    for name in ("fr_trace_0", "nccl_trace_rank_1", "train.log"):
        (tmp_path / name).write_bytes(pickle.dumps({"entries": [Evil()], "version": "2"}))

    inspect([tmp_path])

    assert not (tmp_path / "was-here").exists()


NAMES = st.sampled_from(
    ["rank0.log", "gpu.csv", "dmesg.txt", "fr_a_0", "pyspy_rank1.txt", "proc_a.json", "smi.txt", "a.log.gz"]
)
PIECES = st.sampled_from(
    [
        LOG.encode(),
        OOM.encode(),
        b"Traceback (most recent call last):\n",
        b'  File "a.py", line 1, in f\n',
        b"\x80\x04}\x94(",
        pickle.dumps({"entries": [{"collective_seq_id": 1}], "pg_config": {}}),
        b"timestamp, index, utilization.gpu [%], memory.used [MiB], power.draw [W]\n",
        b"1, 0, 100 %, 5 MiB, 60 W\n",
        b'Process 1: python\nThread 1 (idle): "MainThread"\n',
        b"    wait (threading.py:3)\n",
        b'{"0": {"status": "sleeping", "wchan": "x", "pid": 3}}\n',
        b"[  12.345678] NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.\n",
        b"| NVIDIA-SMI 550.54 |\n|   0  NVIDIA H100  On | 00000000:1B:00.0 Off |\n",
        b"[rank1]:[E] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=3, OpType=ALLREDUCE, Timeout(ms)=5) ran for 6 milliseconds\n",
        b"step 5 loss nan\n",
        b"\r\n\x1b[31m\x00\xff\xfe",
        gzip.compress(b"step 1 loss 2\n"),
        b"JobID State ExitCode\n1 TIMEOUT 0:0\n",
        b"oom_kill 3\n",
        b"[0]:\n  time      : 2026-03-14_09:00:00\n  rank      : 3 (local_rank: 3)\n  exitcode  : -9 (pid: 12)\n",
    ]
)


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.dictionaries(NAMES, st.lists(PIECES | st.binary(max_size=60), max_size=8), min_size=1, max_size=4))
def test_any_files_have_an_answer(tmp_path_factory, files):
    folder = tmp_path_factory.mktemp("any")
    for name, pieces in files.items():
        (folder / name).write_bytes(b"".join(pieces))

    answer = inspect([folder])

    told = json.loads(answer.as_json())
    assert told["schema"] == 1
    assert len(told["files"]) == len(files)
    assert answer.found_trouble in {True, False}


@pytest.mark.parametrize(
    ("name", "node"),
    [
        ("dmesg_gpu17.txt", "gpu17"),
        ("gpu17-kern.log", "gpu17"),
        ("dmesg.gpu17.txt.gz", "gpu17"),
        ("gpu-12.cluster.local.dmesg", "gpu-12.cluster.local"),
        ("node3/dmesg.txt", "node3"),
        ("dmesg.txt", None),
        ("dmesg_1.txt", None),
        ("dmesg-2026-03-14.txt", None),
        ("attempt1_dmesg.txt", None),
    ],
)
def test_a_kernel_logs_name_may_tell_its_node(tmp_path, name, node):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("[ 99.123456] NVRM: Xid (PCI:0000:5d:00): 79, pid=1, GPU has fallen off the bus.\n")

    assert read(tmp_path)[0].files[0].node == node


@pytest.mark.parametrize(
    ("stamp", "day"),
    [
        ("Mar 14 09:00:01", 14),
        ("Mar  4 09:00:01", 4),
        ("2026-03-14T09:00:01+0000", 14),
        ("2026-03-14T09:00:01.123456+00:00", 14),
    ],
)
def test_a_collected_kernel_log_tells_the_node_of_each_line(tmp_path, stamp, day):
    xid = "NVRM: Xid (PCI:0000:5d:00): 79, pid=1, GPU has fallen off the bus."
    (tmp_path / "messages").write_text(f"{stamp} gpu17.cluster.local kernel: {xid}\n")
    ranks = "".join(
        f"gpu17:{80 + r}:1 [{r}] NCCL INFO comm 0x1 rank {r + 8} nranks 16 cudaDev {r} busId {0x5A + r:x}000 - Init COMPLETE\n"
        for r in range(8)
    )
    (tmp_path / "train.log").write_text(ranks + LOG.replace("2026-03-14", f"2026-03-{day:02d}"))

    said = inspect([tmp_path]).diagnosis

    assert (str(said.category), said.culprit_node, said.culprit_rank) == ("gpu_hardware", "gpu17", 11)
