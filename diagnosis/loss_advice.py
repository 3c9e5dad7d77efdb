"""What to do about a loss: advice for each kind of finding, what to print, and what to check before a restart."""

from collections.abc import Mapping
from dataclasses import dataclass

from diagnosis.own_words import OR_NAME_THEM

_NAN = (
    "Stop soon: weights that once were NaN never come back, and every further checkpoint is spoiled.",
    "Before you stop: save the last good checkpoint from rotation and the log segment around the step (snapshot).",
    "Check the learning rate at that step against the schedule.",
    "Look at the batch of that step: empty values, labels that are all masked, sequences of abnormal length.",
    "If only one rank is NaN, suspect its GPU or its data shard before the learning rate.",
)
_OVERFLOW = (
    "Overflow in a row means gradients that fp16 cannot hold: look at the grad norm before the streak.",
    "Lower the learning rate or clip gradients harder; bf16 needs no loss scale at all.",
    "Go on from the newest checkpoint before the streak; a scale at its minimum does not recover.",
)
_SPIKE = (
    "Watch, do not stop: most spikes come back by themselves within some dozens of steps.",
    "If it is not back after about 500 steps, go back to a checkpoint before it and skip the data of these steps.",
    "Note the data shard and the grad norm before it: a second spike at the same data is no chance.",
)
RESUMED = (
    "Stop soon: what did not come back with the checkpoint will not come back by itself.",
    "Check that weights, optimizer state, schedule and data order were all loaded, and at the right step.",
    "Compare batch size, accumulation and learning rate with the attempt before, then resume again.",
)
"""What to do about a loss that is worse since a resume than at the same steps before."""
ADVICE: Mapping[str, tuple[str, ...]] = {
    "nonfinite_loss": _NAN,
    "nonfinite_grad_norm": _NAN,
    "nonfinite_reported": _NAN,
    "loss_vanished": _NAN,
    "loss_zero": (
        "A loss of exactly 0.0 is nearly always a NaN that a filter hides, or a batch whose labels are all masked.",
        "With the Trainer: set `logging_nan_inf_filter=False` to see it as it is.",
        *_NAN[:2],
    ),
    "nan_counter": (
        "These batches were skipped, so the weights are still good: find out which data they were.",
        *_NAN[2:4],
    ),
    "nonfinite_eval": (
        "The training loss is finite, so the weights are probably good: look at the evaluation data first.",
        "Empty labels give a mean over nothing, which is NaN; fp16 evaluation can overflow where training does not.",
    ),
    "overflow_streak": _OVERFLOW,
    "loss_scale_floor": _OVERFLOW,
    "loss_spike": _SPIKE,
    "loss_spike_reported": _SPIKE,
    "sustained_spike": (
        "Compare with what changed at that step: data mixture, batch size, learning rate, a resume.",
        "If nothing was meant to change, go back to a checkpoint before it rather than wait.",
    ),
    "divergence": (
        "Stop: a loss that climbs and stays up does not come back by itself.",
        (
            "Go on from a checkpoint from before the loss left its best, with a lower learning rate or past the data "
            "of these steps."
        ),
        "Was it resumed lately? Check that optimizer state, schedule and data order came back too.",
    ),
    "grad_norm_lead": ("Nothing yet: keep an eye on the next steps, and make sure a recent checkpoint is kept.",),
    "plateau": ("The learning rate, the data or the size of the model may be what limits it now.",),
    "slowdown": (
        "Look for one slow rank first: clocks and temperature of its GPU, its data, its network.",
        "`/stall` compares the ranks.",
    ),
}
"""What to do, by the kind of a finding; most urgent first."""

_ONE_FILE_A_RANK = "One file per rank, named by RANK (`train_rank${RANK}.log`), keeps ranks apart."
_PLAIN = 'if step % 10 == 0:\n    logging.info("step=%d loss=%.4f lr=%.3e grad_norm=%.3f", step, loss, lr, grad_norm)'
_TRAINER = (
    "TrainingArguments(..., logging_steps=10, logging_first_step=True, disable_tqdm=True, logging_nan_inf_filter=False)"
)
_DEEPSPEED = """\
loss = engine(batch)
engine.backward(loss); engine.step()
if engine.global_steps % 10 == 0 and engine.global_rank == 0:
    norm = engine.get_global_grad_norm() or 0.0
    logging.info("step=%d loss=%.4f lr=%.3e grad_norm=%.3f", engine.global_steps, loss.item(), engine.get_lr()[0], norm)
"""
_HOW: Mapping[str, tuple[str, str]] = {
    "huggingface": ("the Trainer prints it every `logging_steps`", _TRAINER),
    "progress bar": (
        "a bar holds at most a loss that is overwritten; with the Trainer these arguments print lines",
        _TRAINER,
    ),
    "deepspeed": (
        "DeepSpeed prints step, skipped and lr, never the loss: print it in your own loop",
        _DEEPSPEED,
    ),
    "megatron": ("Megatron prints it on the last rank", "--log-interval 1   # and keep the log of the last rank"),
    "verl": (
        "verl prints its metrics with the console logger",
        "trainer.logger=['console'] trainer.log_val_generations=0",
    ),
    "nemo": ("a Lightning bar is overwritten; a CSV logger keeps lines", 'trainer = Trainer(logger=CSVLogger("logs"))'),
    "torchtitan": ("torchtitan prints it every `log_freq`", "[metrics]\nlog_freq = 10"),
    "mllog": ("MLLOG prints a loss only where the benchmark does", _PLAIN),
}
FRAMEWORKS = tuple(name for name in _HOW if name != "progress bar")
"""Names a person may ask for."""
_SAME = {"deepspeed timer": "deepspeed", "deepspeed-chat": "deepspeed", "deepspeed pipeline": "deepspeed"}


@dataclass(frozen=True, slots=True)
class HowToPrint:
    """How a run that prints no loss can be made to."""

    why: str
    """One sentence: what this log shows, and what would help."""
    lines: str
    """The few lines to add, as code."""
    also: str
    """About ranks."""


def advice_for(kind: str) -> tuple[str, ...]:
    """What to do about a finding of this kind; empty where this page has nothing to say."""
    return ADVICE.get(kind, ())


def how_to_print_loss(dialect: str | None, *, run: str = "this run", steps_seen: int = 0) -> HowToPrint:
    """The answer for a log without a train loss, for the framework it was seen to come from."""
    name = _SAME.get(dialect or "", dialect or "")
    how, lines = _HOW.get(name, ("print a line every few steps at INFO", _PLAIN))
    if name == "progress bar":
        seen = "prints only a progress bar"
    elif steps_seen:
        seen = "prints steps but no training loss in this log"
    else:
        seen = "prints no step and no training loss in this log"
    why = f"{run} {seen}, so there is no loss to draw: {how}."
    return HowToPrint(why if name in _HOW else f"{why[:-1]}; {OR_NAME_THEM}.", lines, _ONE_FILE_A_RANK)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing to look at before a restart."""

    what: str
    value: str | None
    """What the log says; None: it does not say."""
    advice: str


_CHECKS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "global batch size",
        ("batch_size", "global_batch_size", "train_batch_size"),
        "micro batch × accumulation × data-parallel size must be the same as before",
    ),
    (
        "gradient accumulation",
        ("gradient_accumulation_steps", "accumulation"),
        "another number of GPUs needs another accumulation",
    ),
    ("learning rate", ("lr", "learning_rate"), "after a resume it must go on from the schedule, not from its start"),
    ("loss scale", ("loss_scale",), "a resume may begin the search for it again"),
    (
        "checkpoint to resume from",
        ("checkpoint",),
        "before the bad step, with a loss that was finite, and complete on every rank",
    ),
    ("world size", ("world_size",), "parallel sizes must divide it"),
    ("log level", ("log_level", "logging_level"), "INFO, so that step, loss, lr and grad norm are printed"),
    (
        "log files",
        ("log_files",),
        "one for each rank, opened to append (`>>`): ranks stay apart, and a rotation loses least",
    ),
    ("logging interval", ("logging_steps", "log_interval"), "every 10 steps or more often"),
    ("versions", ("torch", "cuda", "driver", "nccl"), "the same on every node as in the attempt that was good"),
)


def checklist(read: Mapping[str, str]) -> tuple[Check, ...]:
    """What to check before a restart, filled with what was read from the log under these names."""
    return tuple(Check(what, _first(read, names), advice) for what, names, advice in _CHECKS)


def _first(read: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    known = [(name, read[name]) for name in names if read.get(name)]
    if not known:
        return None
    if len(names) > 3:
        return ", ".join(f"{name} {value}" for name, value in known)
    return known[0][1]
