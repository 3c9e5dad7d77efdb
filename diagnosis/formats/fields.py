"""What the numbers of a step line are called, whatever the framework calls them.

`FIELDS` are our names. `ALIASES` translates a key as it is printed, after `normalise`, into one of ours and
the factor that brings it to our unit.
"""

import re
from collections.abc import Iterable

from diagnosis.formats.tongues import in_english

FIELDS = {
    "loss_scale": "the fp16 loss scale in force",
    "skipped_steps": "optimizer steps skipped within the interval of this line",
    "nan_iterations": "iterations whose loss was NaN, within the interval of this line",
    "nan_total": "batches skipped for NaN or Inf since the start of the job: a counter that only grows",
    "batch_size": "samples of one optimizer step, over all ranks",
    "sequence_length": "tokens of one sample",
    "consumed_samples": "samples seen so far",
    "consumed_tokens": "tokens seen so far",
    "tokens_per_second": "tokens per second of the whole run",
    "tokens_per_second_per_gpu": "tokens per second of one GPU",
    "samples_per_second": "samples per second of the whole run",
    "step_seconds": "seconds of one optimizer step",
    "elapsed_seconds": "seconds since the job began to train",
    "tflops": "TFLOP/s of one GPU",
    "mfu": "model FLOPs utilisation, 0 to 1",
    "epoch": "passes over the data, with its fraction",
    "total_steps": "step at which the run will end",
    "num_zeros": "zeros in the gradient",
    "memory_bytes": "GPU memory in use, as the trainer says",
    "perplexity": "exp(loss) as logged",
    "reward": "mean reward of the batch",
    "kl": "KL divergence from the reference policy",
    "load_balancing_loss": "the auxiliary loss of a mixture of experts",
    "eval_loss": "the loss of an evaluation; a sample that has it has no training loss",
    "grad_absmax": "largest absolute gradient",
    "samples_per_second_mean": "samples per second since the job began",
    "adversarial": "1 where the loss has no level to keep: a generator's, or a sum over ever other documents",
}

ADVERSARIAL = "adversarial"

METRICS = ("step", "loss", "grad_norm", "lr")
"""The four that have their own place in a `StepSample`."""

COUNTING = frozenset(
    {"step_in_epoch", "steps_per_epoch", "lap", "unix_time", "skipped_total", "step_rounded", "first_epoch"}
    | {"steps_per_second"}
    | {f"part_{number}" for number in range(1, 6)}
)
"""What dialects use to say where in an epoch a line stands, when, what a counter shows, and the parts of a loss; not
for others."""

_PERCENT = 0.01
_MILLI = 0.001
_GIB = float(1 << 30)
_MIB = float(1 << 20)

ALIASES: dict[str, tuple[str, float]] = {
    # step
    "step": ("step", 1),
    "steps": ("step", 1),
    "iter": ("step", 1),
    "iters": ("step", 1),
    "iteration": ("step", 1),
    "global_step": ("step", 1),
    "globalstep": ("step", 1),
    "global_steps": ("step", 1),
    "global_iter": ("step", 1),
    "train_step": ("step", 1),
    "training_step": ("step", 1),
    "train/step": ("step", 1),
    "train/global_step": ("step", 1),
    "trainer/global_step": ("step", 1),
    "trainer/step": ("step", 1),
    "current_steps": ("step", 1),
    "current_step": ("step", 1),
    "optimizer_step": ("step", 1),
    "opt_step": ("step", 1),
    "total_step": ("step", 1),
    "total_iteration": ("step", 1),
    "total_iter": ("step", 1),
    "total_iters": ("step", 1),
    "num_updates": ("step", 1),
    "train_num_updates": ("step", 1),
    "nupdates": ("step", 1),
    "updates": ("step", 1),
    "update": ("step", 1),
    "completed_step": ("step", 1),
    "it": ("step", 1),
    "itr": ("step", 1),
    "step_i": ("step", 1),
    "_step": ("step", 1),
    "global_step/max_steps": ("step", 1),
    "batch": ("step_in_epoch", 1),
    "batch_idx": ("step_in_epoch", 1),
    "batch_id": ("step_in_epoch", 1),
    "batch_index": ("step_in_epoch", 1),
    "mini_batch": ("step_in_epoch", 1),
    "minibatch": ("step_in_epoch", 1),
    "step_in_epoch": ("step_in_epoch", 1),
    "epoch_step": ("step_in_epoch", 1),
    # the same words in other languages (`tongues.py` has those with letters beyond ASCII)
    "pas": ("step", 1),
    "etape": ("step", 1),
    "schritt": ("step", 1),
    "paso": ("step", 1),
    "passo": ("step", 1),
    "krok": ("step", 1),
    # learning rate
    "lr": ("lr", 1),
    "learning_rate": ("lr", 1),
    "learningrate": ("lr", 1),
    "train/lr": ("lr", 1),
    "train/learning_rate": ("lr", 1),
    "optim/learning_rate": ("lr", 1),
    "optim/lr": ("lr", 1),
    "optim/learning_rate_group0": ("lr", 1),
    "actor/lr": ("lr", 1),
    "actor_lr": ("lr", 1),
    "act_lr": ("lr", 1),
    "optim0_lr0": ("lr", 1),
    "lr_0": ("lr", 1),
    "train_lr": ("lr", 1),
    "cur_lr": ("lr", 1),
    "current_lr": ("lr", 1),
    "lr0": ("lr", 1),
    "base_lr": ("lr", 1),
    "train/lr_pg_0": ("lr", 1),
    "lr_adamw": ("lr", 1),
    "lernrate": ("lr", 1),
    "taux_d'apprentissage": ("lr", 1),
    "tasa_de_aprendizaje": ("lr", 1),
    "taxa_de_aprendizado": ("lr", 1),
    # gradient norm
    "grad_norm": ("grad_norm", 1),
    "gradnorm": ("grad_norm", 1),
    "gnorm": ("grad_norm", 1),
    "grad": ("grad_norm", 1),
    "grdn": ("grad_norm", 1),
    "train_gnorm": ("grad_norm", 1),
    "norm": ("grad_norm", 1),
    "gradient_norm": ("grad_norm", 1),
    "global_norm": ("grad_norm", 1),
    "global_grad_norm": ("grad_norm", 1),
    "total_grad_norm": ("grad_norm", 1),
    "optim/total_grad_norm": ("grad_norm", 1),
    "optim/grad_norm": ("grad_norm", 1),
    "train/grad_norm": ("grad_norm", 1),
    "actor/grad_norm": ("grad_norm", 1),
    "grad_l2": ("grad_norm", 1),
    "l2_norm/grad/global": ("grad_norm", 1),
    "grad_absmax": ("grad_absmax", 1),
    "|g|": ("grad_norm", 1),
    "grad_norm:p2": ("grad_norm", 1),
    "model_grad_norm": ("grad_norm", 1),
    # the rest
    "loss_scale": ("loss_scale", 1),
    "grad_scale": ("loss_scale", 1),
    "scale": ("loss_scale", 1),
    "loss_scaler": ("loss_scale", 1),
    "number_of_skipped_iterations": ("skipped_steps", 1),
    "skipped": ("skipped_total", 1),
    "number_of_nan_iterations": ("nan_iterations", 1),
    "inf_nan_skip_batches": ("nan_total", 1),
    "global_batch_size": ("batch_size", 1),
    "batch_size": ("batch_size", 1),
    "actual_seqlen": ("sequence_length", 1),
    "seq_len": ("sequence_length", 1),
    "seqlen": ("sequence_length", 1),
    "sequence_length": ("sequence_length", 1),
    "consumed_samples": ("consumed_samples", 1),
    "consumed_tokens": ("consumed_tokens", 1),
    "num_consumed_tokens": ("consumed_tokens", 1),
    "num_tokens": ("consumed_tokens", 1),
    "trained_tokens": ("consumed_tokens", 1),
    "total_tokens": ("consumed_tokens", 1),
    "throughput/total_tokens": ("consumed_tokens", 1),
    "num_input_tokens_seen": ("consumed_tokens", 1),
    "tokens_per_second": ("tokens_per_second", 1),
    "tokens_per_sec": ("tokens_per_second", 1),
    "tokens/sec": ("tokens_per_second", 1),
    "tok/sec": ("tokens_per_second", 1),
    "tok/s": ("tokens_per_second", 1),
    "tokens/s": ("tokens_per_second", 1),
    "wps": ("tokens_per_second", 1),
    "tps": ("tokens_per_second_per_gpu", 1),
    "tgs": ("tokens_per_second_per_gpu", 1),
    "tokens_per_sec_per_gpu": ("tokens_per_second_per_gpu", 1),
    "tokens_per_second_per_gpu": ("tokens_per_second_per_gpu", 1),
    "tokens_per_gpu_per_second": ("tokens_per_second_per_gpu", 1),
    "tokens/s/device": ("tokens_per_second_per_gpu", 1),
    "throughput/device/tokens_per_second": ("tokens_per_second_per_gpu", 1),
    "samples_per_second": ("samples_per_second", 1),
    "samples/sec": ("samples_per_second", 1),
    "samples/s": ("samples_per_second", 1),
    "interval_samples_per_second": ("samples_per_second", 1),
    "currsamplespersec": ("samples_per_second", 1),
    "curr_samples_per_sec": ("samples_per_second", 1),
    "runningavgsamplespersec": ("samples_per_second_mean", 1),
    "ips": ("samples_per_second", 1),
    "step_time": ("step_seconds", 1),
    "iter_time": ("step_seconds", 1),
    "iteration_time": ("step_seconds", 1),
    "seconds": ("step_seconds", 1),
    "sec/step": ("step_seconds", 1),
    "per_step_time": ("step_seconds", _MILLI),
    "tflops": ("tflops", 1),
    "tflop/s/device": ("tflops", 1),
    "model_tflops_per_gpu": ("tflops", 1),
    "mfu": ("mfu", _PERCENT),
    "epoch": ("epoch", 1),
    "ep": ("epoch", 1),
    "round": ("epoch", 1),
    "global_round": ("epoch", 1),
    "communication_round": ("epoch", 1),
    "total_steps": ("total_steps", 1),
    "max_steps": ("total_steps", 1),
    "num_zeros": ("num_zeros", 1),
    "max_mem": ("memory_bytes", _MIB),
    "memory(gib)": ("memory_bytes", _GIB),
    "memory/max_mem_allocated(gib)": ("memory_bytes", _GIB),
    "perplexity": ("perplexity", 1),
    "ppl": ("perplexity", 1),
    "train/perplexity": ("perplexity", 1),
    "train/ppl": ("perplexity", 1),
    "reward": ("reward", 1),
    "kl": ("kl", 1),
    "objective/kl": ("kl", 1),
    "load_balancing_loss": ("load_balancing_loss", 1),
}

LOSSES = (
    "loss",
    "lm_loss",
    "reduced_train_loss",
    "train_loss_step",
    "train_loss",
    "train/loss_step",
    "train/loss",
    "main/loss",
    "loss/train",
    "loss_train",
    "loss_(train)",
    "loss_(batch)",
    "loss/out",
    "training_loss",
    "tr_loss",
    "trn_loss",
    "training/loss",
    "train/cross_entropy_loss",
    "train/crossentropyloss",
    "train_cross_entropy",
    "train_crossentropy",
    "train/ce_loss",
    "loss/train/total",
    "total_loss",
    "tot_loss",
    "loss/total",
    "loss/total_loss",
    "losses/total_loss",
    "train/total_loss",
    "step_loss",
    "cross_entropy_loss",
    "cross_entropy",
    "crossentropy",
    "loss_value",
    "lossvalue",
    "ce_loss",
    "ce",
    "loss_step",
    "batch_loss",
    "loss_avg_rank",
    "avr_loss",
    "avg_loss",
    "loss_avg",
    "mean_loss",
    "running_loss",
    "mlm_loss",
    "nll_loss",
    "nll",
    "xent",
    "masked_lm_loss",
    "actor/pg_loss",
    "train/pg_loss",
    "act_loss",
    "actor_loss",
    "policy_loss",
    "surrogate_loss",
    "mean_surrogate_loss",
    "loss/policy_avg",
    "losspi",
    "loss_pi",
    "losses/policy_loss",
    "model_loss",
    "trl",
    "t_loss",
    # the same word in other languages, likewise
    "perte",
    "verlust",
    "perdida",
    "perda",
    "perdita",
    "pierdere",
    "strata",
)
"""Keys that may hold the training loss; where a line has several, the first of this list is it."""

_GENERATOR = re.compile(
    r"(?:^|[_/])(?:loss_?g(?:en(?:erator)?)?|(?:g|gen|generator)_?loss|err_?g|g_err)(?:_total|_all)?$"
)
_DISCRIMINATOR = re.compile(
    r"(?:^|[_/])(?:loss_?d(?:is(?:c(?:riminator)?)?)?|(?:d|disc?|discriminator|critic)_?loss|err_?d|d_err)(?:_total|_all)?$"
)
"""The two losses of an adversarial training: the generator's is the model's."""

_LOSS_ORDER = {name: place for place, name in enumerate(LOSSES)}
_NOT_TRAINING = re.compile(
    r"(?:^|[/_ ])(?:e?val|va|vali|valid|validation|test|dev|held_?out|eval\w*|tel)(?:$|[/_ ])|__(?:min|max)$|_epoch$"
)
_UNIT = re.compile(r" ?\([^()]*\)$| in s$")
_TIME = re.compile(r"_?\((?:t|time|m?s|sec\w*|min\w*)\)$")
"""`Batch (t): 0.559` is how long one takes."""


def normalise(key: str) -> str:
    """The printed key in English and lower case, `_` for blanks and hyphens, without quotes and dots of short words."""
    return in_english(key).strip().strip("'\"").strip().lower().replace(". ", " ").replace(" ", "_").replace("-", "_")


def is_evaluation(name: str) -> bool:
    """True when a normalised key tells of an evaluation or a mean over an epoch."""
    return _NOT_TRAINING.search(name) is not None


def loss_key(names: Iterable[str]) -> str | None:
    """The normalised key that holds the training loss of a line, or None."""
    return min((name for name in names if name in _LOSS_ORDER), key=_LOSS_ORDER.__getitem__, default=None)


def generator_loss(names: Iterable[str]) -> str | None:
    """The normalised key of a generator's loss beside a discriminator's, or None."""
    told = list(names)
    if not any(_DISCRIMINATOR.search(name) for name in told):
        return None
    return next((name for name in told if _GENERATOR.search(name)), None)


def field_of(name: str) -> tuple[str, float] | None:
    """Our name and factor for a normalised key, or None for a key we have no use for."""
    found = ALIASES.get(name)
    if found is None and name.endswith((")", "_in_s")):
        base = _UNIT.sub("", name.replace("_in_s", " in s") if name.endswith("_in_s") else name.replace("_(", " ("))
        found = ALIASES.get(base)
        if found is not None and found[0] in ("step", "step_in_epoch", "epoch") and _TIME.search(name):
            return None
        if found is not None and found[0] == "step_seconds":
            factor = _MILLI if "(ms)" in name else 1.0
            return found[0], factor
    return found
