"""Real logs with something put into them: the answer changes as it should, and in nothing else.

Each case takes a file of the collection, tells its points, and compares them with those of the changed file.
"""

import json
import math
import re
from functools import cache

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from diagnosis.findings import Finding
from diagnosis.formats import LogReader
from diagnosis.judge import Judge
from diagnosis.observations import Origin, StepSample
from diagnosis.summary import LossSummary
from tests.counts import examples
from tests.diagnosis.formats.reading import CORPUS

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the collection of real logs is not beside this checkout")

KEPT = 70_000
"""Bytes of each file behind its first loss that are mixed: the property holds at any length, and many mixtures are tried."""
LOSSES = {
    "bloom176b_chronicle_spike.log": re.compile(rb"(?<=lm loss: )[\d.E+-]+"),
    "megatron_2023_lambada_eval.log": re.compile(rb"(?<= lm loss: )[\d.E+-]+"),
    "megatron_gpt2_tp4pp4_cancelled.out": re.compile(rb"(?<= lm loss: )[\d.E+-]+"),
    "nanogpt_bpc.log": re.compile(rb"(?<=: loss )[\d.]+"),
    "llmc_124m_normal_nanz.log": re.compile(rb"(?<=\| loss )[\d.]+"),
    "modded_nanogpt_2024-10.txt": re.compile(rb"(?<=train_loss:)[\d.]+"),
    "olmo_20m_sighup.log": re.compile(rb"(?<=train/CrossEntropyLoss=)[\d.]+"),
    "torchtitan_aurora_early_spike.log": re.compile(rb"(?<=loss: )\s*[\d.]+"),
    "trl_dpo_qwen.log": re.compile(rb"(?<='loss': )[\d.]+"),
    "hf_trainer_state_dpo.json": re.compile(rb"(?<=\"loss\": )[\d.]+"),
    "mlperf_llama2_lora_mllog.txt": re.compile(rb"(?<=\"train_loss\", \"value\": )[\d.]+"),
    "verl_ppo_gsm8k.log": re.compile(rb"(?<=actor/pg_loss:)-?[\d.]+"),
    "wandb_export_nanotron_lm_loss.csv": re.compile(rb"(?<=,\")[\d.]+(?=\",\"[\d.]+\",\"[\d.]+\"$)", re.MULTILINE),
}
"""Where each file prints its training loss."""
NAMES = tuple(sorted(LOSSES))
WRAPPED = tuple(name for name in NAMES if not name.endswith((".json", ".csv")))
"""Files of lines; a launcher or a terminal puts nothing into a document or a table."""
FEW = settings(
    max_examples=examples(25),
    phases=(Phase.explicit, Phase.generate),  # making a failing log smaller would take minutes
)


@cache
def text_of(name):
    """The file, or its first whole lines."""
    data = (CORPUS / name).read_bytes()
    if name.endswith(".json"):
        return data
    first = next(LOSSES[name].finditer(data)).start()
    return data[: data.find(b"\n", first + KEPT) + 1] or data


def read(data, chunk=4096):
    """Samples, summary and findings of a log that comes in pieces."""
    reader, summary, judge = LogReader("train.log", Origin(run="run")), LossSummary(), Judge()
    seen, found = [], []
    pieces = [reader.feed(data[start : start + chunk]) for start in range(0, len(data), chunk)] + [reader.close()]
    for one in (one for piece in pieces for one in piece):
        seen.append(one)
        summary.observe(one)
        found += [verdict for verdict in judge.observe(one) if isinstance(verdict, Finding)]
    return seen, summary, found


@cache
def plain(name):
    return read(text_of(name))


def told(seen):
    """(step, loss) of every training loss; NaN as a word, so that it equals itself."""
    losses = [(one.step, one.loss) for one in seen if isinstance(one, StepSample) and one.loss is not None]
    return [(step, "nan" if math.isnan(loss) else loss) for step, loss in losses]


def with_loss(name, place, printed):
    """The file with the loss at this share of its points printed otherwise, and which of them it is."""
    data = text_of(name)
    matches = list(LOSSES[name].finditer(data))
    number = min(int(place * len(matches)), len(matches) - 1)
    match = matches[number]
    blanks = len(match[0]) - len(match[0].lstrip())
    return data[: match.start() + blanks] + printed + data[match.end() :], number


@given(name=st.sampled_from(NAMES), place=st.floats(0, 1), word=st.sampled_from([b"nan", b"NaN", b"inf", b"-inf"]))
@FEW
def test_a_nan_is_one_bad_point_and_the_rest_stays(name, place, word):
    """Whatever word the framework has for it, it is told as critical where it stands."""
    data, number = with_loss(name, place, word)

    seen, summary, found = read(data)

    before, after = told(plain(name)[0]), told(seen)
    assert [step for step, _ in before] == [step for step, _ in after]
    different = [place for place, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]
    assert different == [number] or before[number][1] == "nan"
    assert summary.nonfinite == plain(name)[1].nonfinite + (before[number][1] != "nan")
    assert any(one.kind == "nonfinite_loss" and one.step == after[number][0] for one in found) or summary.nonfinite > 1


@given(name=st.sampled_from(NAMES), place=st.floats(0.05, 0.95))
@FEW
def test_a_spike_is_the_largest_jump_and_the_rest_stays(name, place):
    """One loss of 977, which none of the files comes near."""
    data, number = with_loss(name, place, b"977.125")

    seen, summary, _ = read(data)

    before, after = told(plain(name)[0]), told(seen)
    assert [one for one in after if one[1] != 977.125] == [one for at, one in enumerate(before) if at != number]
    assert summary.points == plain(name)[1].points
    jump = summary.loss()["largest_jump"]
    assert 977.125 in {jump["from"], jump["to"]}
    assert jump["step"] in {after[number][0], after[min(number + 1, len(after) - 1)][0]}


@given(name=st.sampled_from(WRAPPED), share=st.floats(0.3, 0.9))
@FEW
def test_a_resumed_run_tells_its_steps_again_in_a_new_attempt(name, share):
    """The log goes back to its beginning, as when a job is requeued: the same points once more, none lost."""
    data = text_of(name)
    cut = data.rfind(b"\n", 0, int(share * len(data))) + 1
    both = data[:cut] + b"\n" + data

    seen, _, found = read(both)

    first = told(read(data[:cut])[0])
    whole = told(plain(name)[0])
    after = told(seen)
    assert after[-len(whole) :] == whole or [loss for _, loss in after[-len(whole) :]] == [loss for _, loss in whole]
    assert abs(len(after) - len(first) - len(whole)) <= 1  # a record that was cut in two
    kinds = {one.kind for one in plain(name)[2]}
    assert {one.kind for one in found if one.severity == "critical"} <= kinds | {"node_restart"}


def crlf(lines, _dice):
    return [line.rstrip(b"\r") + b"\r" for line in lines]


def coloured(lines, dice):
    """Colour codes around lines, and inside of some."""
    return [b"\x1b[3%dm" % dice.randrange(8) + line + b"\x1b[0m" if dice.random() < 0.7 else line for line in lines]


def from_rank(lines, dice):
    """One of the tags that launchers put in front, the same on every line."""
    tag = dice.choice([b"[rank0]: ", b"[default3]:", b"  0: ", b"2024-05-01T12:00:00.123456789Z stdout F "])
    return [tag + line for line in lines]


def from_docker(lines, _dice):
    """One JSON object a line."""
    return [
        json.dumps({"log": line.decode("utf-8", "replace") + "\n", "stream": "stdout", "time": "2024-05-01T12:00:00.1Z"}).encode()
        for line in lines
    ]  # fmt: skip


def with_bars(lines, dice):
    """Bars of something else than training, redrawn between the lines."""
    bars = [
        b"Map:  %d%%|##        | %d/1000 [00:01<00:09, 96.15 examples/s]",
        b"Loading checkpoint shards:  %d%%|##   | %d/100 [00:04<00:04,  1.06s/it]",
        b"Generating train split:  %d%%|##  | %d/100 [00:00<00:01, 67.03it/s]",
    ]
    out = []
    for line in lines:
        if dice.random() < 0.05 and line[:1] not in b" \t":  # not into a record that is not complete
            count = dice.randrange(1, 100)
            out.append(b"\r".join(dice.choice(bars) % (count, count) for _ in range(3)))
        out.append(line)
    return out


@given(
    name=st.sampled_from(WRAPPED),
    wraps=st.lists(st.sampled_from([crlf, coloured, from_rank, from_docker, with_bars]), min_size=1, max_size=3, unique=True),
    dice=st.randoms(use_true_random=False),
)  # fmt: skip
@FEW
def test_what_is_put_around_the_lines_changes_nothing(name, wraps, dice):
    """Rank prefixes, colours, Windows ends, a container's objects and foreign bars, also several of them."""
    order = [with_bars, coloured, crlf, from_rank, from_docker]
    lines = text_of(name).split(b"\n")
    for wrap in sorted(wraps, key=order.index):
        lines = wrap(lines, dice)

    seen, summary, found = read(b"\n".join(lines))

    _, before, found_before = plain(name)
    assert told(seen) == told(plain(name)[0])
    assert (summary.points, summary.nonfinite, summary.skipped_steps) == (
        before.points, before.nonfinite, before.skipped_steps,
    )  # fmt: skip
    assert [(one.kind, one.step) for one in found] == [(one.kind, one.step) for one in found_before]
