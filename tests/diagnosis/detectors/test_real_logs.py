"""Real logs through the reader and the judge: healthy ones are quiet, the others say what is wrong and when."""

from functools import cache
from pathlib import Path

import pytest

from diagnosis.findings import Cleared, Finding, Severity
from diagnosis.formats.reader import LogReader
from diagnosis.formats.source_name import origin_of
from diagnosis.judge import Judge

SHARED = Path(__file__).parents[3].parent / "shared"
CORPUS, CASES, RUNS = SHARED / "corpus", SHARED / "cases", SHARED / "real_runs"

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the collection of real logs is not beside this checkout")

HEALTHY = (
    "deepspeed_chat_dpo_opt350m.log",
    "deepspeed_chat_ppo_opt1.3b.log",
    "deepspeed_chat_sft_opt1.3b.log",
    "hf_trainer_deepspeed_16nodes.out",
    "hf_trainer_state_dpo.json",
    "megatron_2023_lambada_eval.log",
    "megatron_gpt2_tp4pp4_cancelled.out",
    "mlperf_gnn_dllogger.txt",
    "mlperf_gpt3_srun_labels.txt",
    "mlperf_llama2_lora_mllog.txt",
    "modded_nanogpt_2024-10.txt",
    "nanogpt_bpc.log",
    "olmo_1b_sigterm.log",
    "olmo_20m_sighup.log",
    "torchtitan_aurora_early_spike.log",
    "trl_dpo_qwen.log",
    "trl_sft_stdout_buffered.log",
    "verl_ppo_gsm8k.log",
    "wandb_export_nanotron_lm_loss.csv",
)
"""No page for these, whatever ended them: someone stopped them, or they finished, or the file was cut."""


@cache
def judged(*paths):
    """What the judge says of these files, read one after another, and the judge."""
    judge, said = Judge(), []
    for path in paths:
        reader = LogReader(path.name, origin_of(path.name))
        for seen in [*reader.feed(path.read_bytes()), *reader.close()]:
            said += judge.observe(seen)
    return said, judge


def findings(*paths):
    return [verdict for verdict in judged(*paths)[0] if isinstance(verdict, Finding)]


def loud(*paths):
    return [(one.kind, one.severity, one.step) for one in findings(*paths) if one.severity is not Severity.INFO]


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_log_raises_nothing(name):
    """Skips, warm-up, evaluations, negative losses, single hard batches."""
    assert loud(CORPUS / name) == []


def test_bloom_is_warned_of_before_its_peak_and_called_recovered():
    """Grad norm first, at 31,217; the peak at 31,219; back at 31,250."""
    path = CORPUS / "bloom176b_chronicle_spike.log"

    assert [(one.kind, one.step) for one in findings(path)] == [("grad_norm_lead", 31217), ("loss_spike", 31219)]
    (end,) = [verdict for verdict in judged(path)[0] if isinstance(verdict, Cleared)]
    assert "peaked at 5.10 at step 31,219" in end.text
    assert "back at 2.216 at step 31,250" in end.text


def test_the_13b_spike_does_not_come_back():
    """Spike, then divergence, and nothing clears them."""
    path = CORPUS / "tr1_13b_chronicle_spike.log"

    assert loud(path) == [("loss_spike", "warning", 29050), ("divergence", "critical", 29050)]
    assert not any(isinstance(verdict, Cleared) for verdict in judged(path)[0])
    assert findings(path)[-1].details["recovery"] == "not recovered"


def test_the_slow_climb_is_divergence():
    """From 11.6 at step 31 to 20 at step 62."""
    assert [(kind, severity) for kind, severity, _ in loud(CORPUS / "megatron_ds3d_divergence.out")] == [
        ("divergence", "critical")
    ]


def test_a_run_that_was_never_finite_says_so_at_its_first_step():
    """902 losses, all NaN."""
    path = CORPUS / "llmc_124m_all_nan_timelimit.log"

    assert ("nonfinite_loss", "critical", 1) in loud(path)
    assert [kind for kind, _, _ in loud(path)].count("nonfinite_loss") == 1


def test_a_crash_names_its_ranks():
    """Eight ranks with one TypeError are one kind, said of each rank."""
    crashed = [one for one in findings(CORPUS / "llamafactory_8gpu_eval_crash.out") if one.severity == "critical"]

    assert {one.kind for one in crashed} == {"rank_crash"}
    assert {one.origin.rank for one in crashed} == set(range(8))


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("llmc_124m_normal_nanz.log", "killed"),
        ("olmo_1b_sigterm.log", "killed"),
        ("olmo_1b_cuda_oom.log", "killed"),
        ("nanogpt_cuda_oom.log", "crashed"),
        ("llamafactory_8gpu_eval_crash.out", "crashed"),
        ("trl_dpo_qwen.log", "finished"),
        ("mlperf_gnn_dllogger.txt", "finished"),
        ("nanogpt_bpc.log", "unknown"),
    ],
)
def test_an_attempt_ends_as_it_ended(name, end):
    """One attempt each; what printed before the training began is none."""
    _, judge = judged(CORPUS / name)

    assert [span.end for span in judge.attempts.spans()] == [end]


def test_skips_at_the_start_and_now_and_then_are_normal():
    """Six at the start, two at step 500."""
    assert loud(CASES / "v05-overflow-skips-are-normal" / "train.log") == []


def test_a_scale_that_falls_to_its_floor_is_told_from_its_first_skip():
    """Not from the exception seventeen steps later."""
    told = loud(CASES / "v19-loss-scale-to-floor" / "train.log")

    assert ("loss_scale_floor", "critical") in [(kind, severity) for kind, severity, _ in told]
    assert {step for kind, _, step in told if kind in ("overflow_streak", "loss_scale_floor")} <= {367, 368, 369}


def test_a_hidden_nan_is_told_by_its_grad_norm():
    """A NaN beside a finite loss may be a skipped step; at the next point the loss is 0.0, and that is none."""
    assert [(kind, severity) for kind, severity, _ in loud(CASES / "v21-loss-zero-gradnorm-nan" / "train.log")] == [
        ("nonfinite_grad_norm", "warning"),
        ("nonfinite_grad_norm", "critical"),
    ]


def test_every_rank_of_a_real_nan_is_told():
    """Four ranks, read file by file: step 41, after the learning rate jumped at 40."""
    told = findings(*sorted((RUNS / "nan_loss").glob("rank*.stdout.log")))

    assert [(one.kind, one.step, one.origin.rank) for one in told] == [
        ("nonfinite_loss", 41, rank) for rank in range(4)
    ]
    assert told[0].details["lr_change"] == "1.0e-3 → 1.0e18"
    assert told[0].last_good_step == 40


@pytest.mark.parametrize("name", ["healthy", "long_checkpoint"])
def test_a_real_healthy_run_is_quiet(name):
    """All its ranks' files together are one attempt without a word."""
    paths = sorted((RUNS / name).glob("rank*.stdout.log"))

    assert loud(*paths) == []
    assert [span.number for span in judged(*paths)[1].attempts.spans()] == [0]
