"""The reader as a watcher uses it: any chunks, any bytes, partial lines, bookmarks, bounded memory."""

import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnosis.formats import LogReader, ReadSettings, UserPattern
from diagnosis.formats.hygiene import CUT, MAX_EVIDENCE
from diagnosis.observations import Origin, StepSample
from tests.counts import examples
from tests.diagnosis.formats.reading import attempts, losses, read, reader_of, samples

PIECES = (
    "step=1 loss=2.31 lr=0.0001 grad_norm=1.8\n",
    "step=2 loss=nan lr=0.0001 grad_norm=inf\n",
    " iteration        3/    1000 | lm loss: 2.2E+01 | grad norm: 16.999 |\n",
    "{'loss': 1.5, 'grad_norm': 7.7, 'learning_rate': 4e-06, 'epoch': 0.04}\n",
    "\r  1%|▏         | 1/120 [03:05<6:07:17, 185.19s/it]",
    "\r  2%|▏         | 2/120 [06:05<6:07:17, 185.19s/it]",
    "\r\x1b[A\x1b[K",
    "\r\n",
    "\n",
    "[default0]:",
    "  3: ",
    "2025-12-12 11:05:02.009\tnode001:0\tolmo.train:979\tINFO\t[step=1/15000,epoch=0]\n",
    "    train/CrossEntropyLoss=2.998\n",
    "2024-05-01T12:00:00.5Z stdout P step=7 loss",
    "2024-05-01T12:00:00.5Z stdout F =2.5 lr=1\n",
    '{"log":"step=9 loss=2.5 lr=1\\n","stream":"stdout","time":"2024-05-01T12:00:00.5Z"}\n',
    "[batch=1/10]:\n",
    "\t Train loss/train/total: 11.6153\n",
    "step,train_loss\n",
    "5,1.5\n",
    "{\n",
    '"loss": 0.5,\n"step": 10\n},\n',
    "Traceback (most recent call last):\n",
    "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768\n",
    "***** Running Evaluation *****\n",
    "train text without an end",
    "\xff\xfe",
    "\0\0\0",
)
LOGS = st.lists(st.sampled_from(PIECES), max_size=25).map(
    lambda parts: "".join(parts).encode("utf-8", "surrogateescape")
)


def in_chunks(data, sizes):
    """Observations of the same bytes cut at other places."""
    reader = LogReader("train.log", Origin(run="run"))
    seen = []
    position = 0
    for size in (*sizes, len(data)):
        seen += reader.feed(data[position : position + size])
        position += size
    return repr(seen + reader.close()), reader.position, reader.unread.count, reader.tracebacks


@settings(max_examples=examples(300))
@given(data=LOGS, sizes=st.lists(st.integers(1, 60), max_size=20))
def test_chunks_change_nothing(data, sizes):
    """Whatever the file system hands out at a time, the observations are the same."""
    assert in_chunks(data, sizes) == in_chunks(data, ())


@settings(max_examples=examples(200))
@given(data=st.binary(max_size=400))
def test_no_bytes_raise(data):
    """Junk is junk."""
    in_chunks(data, (7,))


@settings(max_examples=examples(150))
@given(text=st.text(st.characters(codec="utf-8"), max_size=200), number=st.floats())
def test_no_text_beside_a_loss_raises(text, number):
    """People log strange things next to their numbers."""
    read(f"{text} step=1 loss={number} {text}\n" * 2)


def test_a_line_is_numbered_as_grep_does_and_found_by_its_offset():
    """The evidence leads back to the byte."""
    data = b"noise\n\xc3\xbc\nstep=1 loss=2.5 lr=1\n"
    _, seen = reader_of(data)

    evidence = samples(seen)[0].evidence
    assert evidence.line == 3
    assert evidence.offset is not None
    assert data[evidence.offset :].startswith(b"step=1")


def test_a_dict_behind_a_bar_is_read_and_shown_with_the_bar():
    """Both stand on one physical line."""
    _, seen = reader_of("\r 31%|███▏      | 50/160 [21:49<53:16, 29.06s/it]{'loss': 0.6922, 'epoch': 0.3}\n")

    loss = next(one for one in samples(seen) if one.loss is not None)
    assert loss.loss == 0.6922
    assert "50/160" in loss.evidence.text


def test_a_long_line_is_shown_shortened():
    """What an alert can carry is bounded."""
    _, seen = reader_of("step=1 loss=2.5 lr=1 " + "x" * 5_000 + "\n")

    assert len(samples(seen)[0].evidence.text) == MAX_EVIDENCE


def test_a_gigantic_line_costs_bounded_memory_and_the_next_is_read():
    """64 MiB without a line end, in pieces as a tail hands them out."""
    reader = LogReader("train.log", Origin())
    chunk = b"x" * (1 << 20)
    tracemalloc.start()
    for _ in range(64):
        reader.feed(chunk)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    seen = reader.feed(b"\nstep=1 loss=2.5 lr=1\n")

    assert peak < 8 << 20
    assert losses(seen) == [(1, 2.5)]
    assert CUT.encode().decode() in reader.recent_lines(None)[0] or len(reader.recent_lines(None)[0]) == 500


def test_a_partial_line_waits_for_its_end():
    """Half a number is no number."""
    reader = LogReader("train.log", Origin())

    assert reader.feed(b"step=1 loss=2.", received=100.0) == []
    assert reader.idle(102.0) == []
    assert losses(reader.feed(b"75 lr=1\n", received=102.5)) == [(1, 2.75)]


@pytest.mark.parametrize("jump", [0.0, 86_400.0, -86_400.0], ids=["clock as it was", "a day on", "a day back"])
def test_a_partial_line_that_nobody_ends_is_read_after_a_while(jump):
    """The process may be dead; its last words count, though somebody set the clock meanwhile."""
    reader = LogReader("train.log", Origin())
    reader.feed(b"step=1 loss=2.75 lr=1", received=1e9)

    assert losses(reader.idle(1e9 + 6.0 + jump)) == [(1, 2.75)]
    assert reader.close() == []


def test_a_dict_without_a_bar_is_given_out_after_a_second():
    """Live, an alert must not wait for the next step."""
    reader = LogReader("train.log", Origin())
    reader.feed(b"\r  1%|1         | 1/120 [03:05<6:07:17, 185.19s/it]\n", received=100.0)
    waiting = reader.feed(b"{'loss': nan, 'epoch': 0.04}\n", received=100.1)

    assert losses(waiting) == []
    assert [step for step, _ in losses(reader.idle(101.2))] == [1]


def test_a_bookmark_never_stands_behind_what_is_not_told_yet():
    """A watcher that dies here reads the record again."""
    head = b"noise\n2025-12-12 11:05:02.009\tnode001:0\tolmo.train:979\tINFO\t[step=1/15000,epoch=0]\n"
    reader = LogReader("train.log", Origin())
    reader.feed(head + b"    train/CrossEntropyLoss=2.998\n    half a li")

    assert reader.position == (6, 2)
    reader.feed(b"ne\nnext\n")
    assert reader.position == (len(head) + 33 + 16 + 5, 6)


def test_reading_on_from_a_bookmark_gives_the_same_places():
    """Offsets and line numbers are those of the file."""
    text = "".join(f"step={step} loss=2.{step} lr=1\n" for step in range(1, 30))
    whole = LogReader("train.log", Origin())
    first = whole.feed(text[:200].encode())
    place = whole.position
    rest = LogReader("train.log", Origin(), first_line=place.line, first_offset=place.offset)

    again = first + rest.feed(text.encode()[place.offset :])

    assert again == reader_of(text, origin=Origin())[1]


def test_lines_of_one_rank_are_remembered_for_evidence():
    """The newest last, never more than the setting says."""
    reader, _ = reader_of(
        "".join(f"[rank{number % 2}]: line {number}\n" for number in range(30)), settings=ReadSettings(recent_lines=3)
    )

    assert reader.recent_lines(1) == ("[rank1]: line 25", "[rank1]: line 27", "[rank1]: line 29")


def test_a_local_rank_is_known_by_its_global_one_once_the_log_has_said_both():
    """The traceback bears only torchrun's tag; the steps before it named the rank."""
    step = "[default3]:2026-11-29 16:11:40,552 INFO [rank11] step 1/600 loss 5.7460 lr 1.00e-03\n"
    error = "[default3]:RuntimeError: CUDA error: device-side assert triggered\n"
    other = step.replace("rank11", "rank19")

    def ranks(text):
        return {one.origin.rank for one in read(text) if hasattr(one, "signature")}

    assert ranks(step + error) == {11}
    assert ranks(error) == {None}
    assert ranks(step + other + error) == {None}


def test_what_was_not_understood_is_counted_and_shown():
    """A line with a loss and a number that no dialect reads is no secret."""
    reader, seen = reader_of("in the middle loss 2.5 was seen\n" * 9 + "a plain line\n")

    assert losses(seen) == []
    assert reader.unread.count == 9
    assert len(reader.unread.samples) == 5
    assert reader.unread.samples[0] == "in the middle loss 2.5 was seen"


def test_tracebacks_are_counted_over_all_ranks():
    """By the line that opens one."""
    reader, _ = reader_of(
        "[rank0]: Traceback (most recent call last):\n[rank0]:   File x\n"
        "\x1b[36m(main_task pid=1)\x1b[0m Traceback (most recent call last):\nTraceback of something else\n"
    )

    assert reader.tracebacks == 2


def test_a_known_dialect_silences_guesses():
    """A log that speaks nanoGPT is not read by the general reader beside it."""
    seen = read("iter 1: loss 2.5, time 1ms\nsome debug: step=7 loss=99.0 lr=1\niter 2: loss 2.4, time 1ms\n")

    assert losses(seen) == [(1, 2.5), (2, 2.4)]


def test_a_dialect_without_losses_does_not():
    """DeepSpeed's engine prints no loss; the user's own print beside it does."""
    seen = read("[Rank 0] step=10, skipped=0, lr=[1e-05], mom=[(0.9, 0.95)]\nloss:0.92626953125, global_step:160\n")

    assert losses(seen) == [(160, 0.92626953125)]


def test_two_dialects_may_stand_side_by_side():
    """MLPerf prints MLLOG between the lines of DLLogger."""
    seen = read(
        "DLL 2024-05-14 23:08:00.755998 - Iteration 1 | train_loss : 0.9199 \n"
        ':::MLLOG {"namespace": "", "time_ms": 1, "key": "tracked_stats", "value": {"train_step_timing in s": 1.5}, '
        '"metadata": {"step": 512}}\n'
        "DLL 2024-05-14 23:08:01.755998 - Iteration 2 | train_loss : 0.9 \n"
    )

    assert losses(seen) == [(1, 0.9199), (2, 0.9)]


def test_arrival_time_goes_with_every_observation():
    """Live, silence is measured by the watcher's clock."""
    reader = LogReader("train.log", Origin())
    seen = reader.feed(b"step=1 loss=2.5 lr=1\nTraceback (most recent call last):\n", received=1234.5)

    assert {one.seen_at for one in seen} == {1234.5}


def test_a_persons_pattern_is_asked_first():
    """Words of any language, and a log no dialect knows."""
    own = ReadSettings(pattern=UserPattern(r"pas (?P<step>\d+) \| pierdere (?P<loss>[\d.na]+) \| lr (?P<lr>\S+)"))
    seen = read("pas 20 | pierdere 3.0124 | lr 8.40e-04 | |g| 0.33\n" * 2, settings=own)

    assert [(one.step, one.loss, one.lr) for one in samples(seen)] == [(20, 3.0124, 8.4e-4)] * 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("step=1200 loss=2.31 lr=0.0001 grad_norm=1.8\n", (1200, 2.31)),
        ("Step: 5, Loss: 2.5, LR: 1e-4\n", (5, 2.5)),
        ("iter 7 | train_loss 1.25 | val_loss 1.5\n", (7, 1.25)),
        ("2019-03-14 09:00:00 INFO epoch 3 step 1500 loss 3.0375 lr 0.000400 409.8 samples/s\n", (1500, 3.0375)),
        ("2025-03-24 10:00:20,260 [rank0] step 1 fwd+bwd done loss=1.5546\n", (1, 1.5546)),
        ("Training: epoch 4 batch 366500 loss 0.23092\n", (366500, 0.23092)),
        ("pas 20 | pierdere 3.0124 | lr 8.40e-04 | |g| 0.33\n", (20, 3.0124)),
        ("étape 20 | perte 3.0124\n", (20, 3.0124)),
        ("步数: 20, 损失: 3.0124, 学习率: 0.001\n", (20, 3.0124)),
        (
            (
                "2026-04-01 14:06:36 | INFO | step 00000001/00000015 | step-time 73.352 sec | cross-entropy-loss 2.6636 "
                "| load-balance-loss 1.0 | learning-rate 1.0e-06 | gradient-norm 20.2657\n"
            ),
            (1, 2.6636),
        ),
        ("[Step 10] Loss: 9.8765 | LR: 0.000002 | Tokens: 655360\n", (10, 9.8765)),
        ("mamba | Step 50 | Loss 6.2958 | Gate 0.0000\n", (50, 6.2958)),
        ("Training Step: 30  | total loss: 0.13343\n", (30, 0.13343)),
        ("Step: 50 | train loss: 2.9848 | time: 3.2459\n", (50, 2.9848)),
        ("Epoch [2/100] Train Loss: 2.5123 Train Acc: 15.23% Val Loss: 2.1234 Val Acc: 25.93%\n", (1, 2.5123)),
        ("step 3 - total_loss: 2.5 - aux_loss: 0.5 - ce_loss: 2.0\n", (3, 2.5)),
        (
            (
                "train, rank: 3, epoch: 0/10, step_in_epoch: 3899, total step: 3899, (loss_avg_rank: 0.773), "
                "(loss_avg_slice: 0.807), (lr: 1.934e-05)\n"
            ),
            (3899, 0.773),
        ),
    ],
)
def test_an_unknown_script_is_read_by_names_people_use(text, expected):
    """Any separators, any order, several languages."""
    assert losses(read(text)) == [expected]


def test_steps_that_begin_again_with_each_epoch_go_on_counting():
    """A counter within the epoch is no restart."""
    line = "Epoch {epoch} | Step {step} | Loss: 2.{step} | Avg: 4.8449\n"
    seen = read("".join(line.format(epoch=epoch, step=step) for epoch in (1, 2) for step in (100, 200, 300)))

    assert [step for step, _ in losses(seen)] == [100, 200, 300, 400, 500, 600]
    assert attempts(seen) == []


@pytest.mark.parametrize(
    "text",
    [
        "val step 100 loss 2.5\n",
        "Validation at step 100: loss=2.5 lr=1\n",
        "eval: step=100, loss=2.5, lr=1\n",
        "Test Loss: 2.5, step: 5\n",
        "step 100 held-out loss 2.5\n",
        "Heldout | step: 100 | ppl: 9.5\n",
        "best loss: 2.5 at step: 100\n",
        "loss_scale=65536 step=3\n",
        "Let's start with the first step: 1 + 1 loss\n",
        "TrainConfig(step=5, loss=2.0)\n",
        "micro_step=360 loss=2.5\n",
        "aux_loss: 0.5, step: 7\n",
    ],
)
def test_what_looks_like_a_step_of_training_and_is_none(text):
    """Evaluations, bests, configurations, micro-batches, prose."""
    assert losses(read(text)) == []


def test_samples_of_an_evaluation_carry_no_training_loss():
    """They are observations all the same."""
    seen = read("val loss 11.0\n")

    assert [one.loss for one in seen if isinstance(one, StepSample)] == [None]
