"""What to do about a finding: at most three sentences, the most urgent first, with its own numbers in them.

Somebody reads them at three in the morning: each begins with the act, and names the node, the step and the checkpoint
that are meant.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from diagnosis.advice import advice_for as advice_for_category
from diagnosis.findings import Finding, Severity
from diagnosis.instructions import is_said_by, sentence, without_repeats
from diagnosis.loss_advice import RESUMED, advice_for
from diagnosis.observations import Category
from diagnosis.resumed import SINCE_RESUME
from diagnosis.signatures import ROWS
from diagnosis.signatures.row import Tier
from diagnosis.wording import whole

MOST: Final = 3
SAVE: Final = "Press Snapshot: it saves the logs and the state of every node before they are gone."
_PASSING: Final = "Nothing yet: the optimizer usually skips one such step."
_GOES_ON: Final = "If it goes on, or the loss follows, this becomes critical."
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]i?B)")
_UNITS: Final = {"K": 1 / 1024 / 1024, "M": 1 / 1024, "G": 1.0, "T": 1024.0}
_ANY_EXCEPTION: Final = frozenset({"python_exception", "traceback_head"})
"""Rows whose line is any exception: it stands in the message, and their advice is how to choose among many."""
_MUCH_UNUSED: Final = 0.15
"""Reserved but unallocated, as a share of the GPU: from here on fragmentation may be the cause."""
_NO_OOM_KILL: Final = "shows no out-of-memory kill"
"""What the search for the cause says where the kernel's log was there."""
_OTHERS_HOLD: Final = 0.25
"""Neither torch's nor free: from here on somebody else uses the GPU."""


@dataclass(frozen=True, slots=True)
class _Scene:
    """What the finding does not tell itself."""

    is_one_rank: bool = False
    """One of many ranks alone shows it."""
    is_down: bool = False
    """The run does not live any more: there is nothing to stop, or to watch."""


def next_steps(
    finding: Finding, *, ranks: int = 1, world_size: int | None = None, is_down: bool = False
) -> tuple[str, ...]:
    """What to do, at most three sentences; `ranks` is how many of `world_size` are concerned."""
    kind = _KINDS.get(finding.kind) or _KINDS.get(finding.details.get("category", ""))
    if kind is not None:
        steps = kind(finding, _Scene(_is_one_of_many(finding, ranks, world_size), is_down))
    elif finding.details.get("next"):
        steps = [*finding.details["next"].splitlines(), *_resume(finding)]
    elif finding.kind in _PLAIN:
        steps = [*_PLAIN[finding.kind], *_resume(finding)]
    else:
        steps = _others(finding)
    kept = list(dict.fromkeys(step for step in steps if step))[:MOST]
    if len(kept) < MOST and finding.kind not in _NEEDS_NO_SNAPSHOT and not _may_be_skipped(finding):
        kept.append(SAVE)
    return tuple(kept)


def _is_one_of_many(finding: Finding, ranks: int, world_size: int | None) -> bool:
    """Whether one rank alone shows it. The first or the last may just be the only one that prints."""
    rank = finding.origin.rank
    return ranks == 1 and rank is not None and world_size is not None and 0 < rank < world_size - 1


def _node(finding: Finding) -> str:
    return finding.origin.node or "that node"


def _resume(finding: Finding, why: str = "") -> list[str]:
    """Where to go on from, where a checkpoint is known."""
    checkpoint = finding.details.get("checkpoint")
    if checkpoint is None:
        return []
    return [f"Start again from the checkpoint of step {checkpoint}{why}."]


def _keep_checkpoint(finding: Finding, *, is_down: bool) -> str:
    checkpoint, good = finding.details.get("checkpoint"), finding.last_good_step
    if is_down:
        start = f"a checkpoint of step {whole(good)} or before" if good is not None else "a checkpoint from before it"
        start = f"the checkpoint of step {checkpoint}" if checkpoint is not None else start
        return f"Start again from {start}: weights that once were NaN never come back."
    if checkpoint is None:
        return "Stop the run soon: weights that once were NaN never come back, and every checkpoint from now on is bad."
    end = ", which rotation is about to delete" if "checkpoint_end" in finding.details else ""
    return f"Copy the checkpoint of step {checkpoint} to a safe place{end}. Then stop: NaN weights never come back."


def _reported(finding: Finding, scene: _Scene) -> list[str]:
    """The trainer stopped by itself: nothing is to be stopped any more."""
    again = "Run that step once more: the same rank again means its data or the code, another result means its GPU."
    return [again, *_nonfinite(finding, scene)[1:], *_resume(finding)]


def _may_be_skipped(finding: Finding) -> bool:
    """One bad grad norm beside a finite loss: the weights are probably good."""
    return finding.kind == "nonfinite_grad_norm" and finding.severity is Severity.WARNING


def _nonfinite(finding: Finding, scene: _Scene) -> list[str]:
    if _may_be_skipped(finding) and not scene.is_down:
        return [f"{_PASSING} {_GOES_ON}"]
    steps = [] if _may_be_skipped(finding) else [_keep_checkpoint(finding, is_down=scene.is_down)]
    course = finding.details.get("lr_change", "unchanged")
    if scene.is_one_rank:
        steps.append("Only one rank shows it: suspect its GPU (Xid, ECC) or its data shard before the learning rate.")
    elif "→" in course:
        rates = course.split(" → ")
        steps.append(f"Find out why the learning rate went from {rates[0]} to {rates[-1]}, and mend that first.")
    elif any(line.startswith("grad norm:") for line in finding.changes):
        steps.append("The grad norm rose before the loss did: look at the data of these steps, then at the clipping.")
    step = f" of step {finding.step:,}" if finding.step is not None else " of that step"
    steps.append(f"Look at the batch{step}: empty values, labels that are all masked, abnormally long sequences.")
    return steps


def _overflow(finding: Finding, _: _Scene) -> list[str]:
    return [
        "The gradients do not fit fp16 any more: look at the grad norm before the streak.",
        "Lower the learning rate or clip harder; bf16 needs no loss scale at all.",
        *_resume(finding, ", from before the streak"),
    ]


def _spike(finding: Finding, scene: _Scene) -> list[str]:
    if finding.details.get("since") == SINCE_RESUME:
        return [*RESUMED[scene.is_down :]]
    checkpoint = finding.details.get("checkpoint")
    back = f"the checkpoint of step {checkpoint}" if checkpoint else "a checkpoint before it"
    if scene.is_down:
        return [f"Go on from {back} and skip the data of these steps."]
    return [
        "Watch it, do not stop yet: most spikes come back by themselves within some dozens of steps.",
        f"Not back after about 500 steps: go on from {back} and skip the data of these steps.",
    ]


def _divergence(finding: Finding, scene: _Scene) -> list[str]:
    if finding.details.get("since") == SINCE_RESUME:
        return [*RESUMED[scene.is_down :]]
    checkpoint = finding.details.get("checkpoint")
    back = f"the checkpoint of step {checkpoint}" if checkpoint else "a checkpoint from before the loss left its best"
    stop = "Stop: a loss that climbs and stays up does not come back by itself."
    return [
        *([] if scene.is_down else [stop]),
        f"Go on from {back}, with a lower learning rate or past the data of these steps.",
        "Was it resumed lately? Check that optimizer state, schedule and data order came back too.",
    ]


def _gpu_oom(finding: Finding, _: _Scene) -> list[str]:
    sizes = {name: _gib(finding.details.get(name, "")) for name in ("total", "free", "allocated", "unallocated")}
    total, allocated, unused, free = (sizes[name] for name in ("total", "allocated", "unallocated", "free"))
    steps = []
    if total and allocated is not None and free is not None:
        others = total - free - allocated - (unused or 0.0)
        if unused and unused >= _MUCH_UNUSED * total:
            steps.append(
                f"{finding.details['unallocated']} is reserved but not used: try "
                "`PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`."
            )
        elif others >= _OTHERS_HOLD * total:
            steps.append(
                f"Something else holds {others:.1f} GiB of this GPU: `nvidia-smi` on {_node(finding)} shows what."
            )
        else:
            steps.append(
                "The job itself fills the GPU: smaller micro-batch or sequences, activation checkpointing, or more "
                "sharding."
            )
    else:
        steps.append("Smaller micro-batch or sequences, activation checkpointing, or more sharding.")
    if finding.details.get("last_step", "0") not in {"0", whole(None)}:
        steps.append(
            f"It ran until step {finding.details['last_step']}: look for a longer batch there, or memory that grows "
            "step by step (a leak)."
        )
    else:
        steps.append("It failed before the first step, so it will fail again the same way: change the size first.")
    return [*steps, *_resume(finding)]


def _killed(finding: Finding, _: _Scene) -> list[str]:
    node = _node(finding)
    if _NO_OOM_KILL in finding.details.get("more", ""):
        return [
            "The kernel did not end it for lack of memory: ask who sent kill -9 (a person, the scheduler, a limit).",
            *_resume(finding),
        ]
    return [
        f"`dmesg -T | grep -i oom` on {node} shows whether the kernel ended it for lack of memory.",
        "If so: fewer loader workers, less prefetch, or a higher memory limit. If not, ask who sent kill -9.",
        *_resume(finding),
    ]


def _host_oom(finding: Finding, _: _Scene) -> list[str]:
    return [
        f"`dmesg -T | grep -i oom` on {_node(finding)} names the process that was killed and the limit that was hit.",
        "Fewer loader workers, less prefetch, no offload; or a higher --mem or pod limit.",
        *_resume(finding),
    ]


def _rank_crash(finding: Finding, _: _Scene) -> list[str]:
    code, own = finding.details.get("exit_code", ""), _row_advice(finding)
    if own and not code:
        return [*own, *_resume(finding, " once that is mended")]
    first = f"Read {_traceback(finding)}; what other ranks print only follows from it."
    if code:
        first = f"Read what that process printed last, before exit code {code}; other ranks only follow it."
    return [first, *_resume(finding, " once that is mended")]


def _preempted(finding: Finding, _: _Scene) -> list[str]:
    reason = finding.details.get("reason", "").upper()
    again = _resume(finding) or ["Start again from the newest checkpoint."]
    if "TIME LIMIT" in reason:
        return [*again, "Ask for more time, or save often enough before the limit (a warning signal can do it)."]
    return [
        "Find out who sent it: `sacct -j JOB`, `scontrol show job`, node events, a time limit, or a person.",
        *again,
    ]


def _collective(finding: Finding, _: _Scene) -> list[str]:
    """Unless the search for the cause has said more."""
    told = finding.details.get("next", "").splitlines()
    return told or [
        "`/stall` asks every node which rank stopped first: the others only wait for it.",
        "Before the job is gone: `py-spy dump --nonblocking` of every rank; whose stack differs is the suspect.",
    ]


def _row_advice(finding: Finding) -> list[str]:
    """What this very line is known for, where that is more than how it reads."""
    row = ROWS.get(finding.details.get("signature", ""))
    if row is None or row.tier > Tier.EXCEPTION or row.name in _ANY_EXCEPTION or not row.advice:
        return []
    return [sentence(row.advice)]


def _traceback(finding: Finding) -> str:
    """Where to begin to read."""
    own = finding.evidence[0] if finding.evidence else None
    if own is None or own.line is None or finding.details.get("signature") not in _ANY_EXCEPTION:
        return "the first traceback of that process"
    return f"the traceback that ends at `{own.file.rsplit('/', 1)[-1]}:{own.line}`"


def _others(finding: Finding) -> list[str]:
    """What this very line is known for, then what is always right for its category and not said yet."""
    row = ROWS.get(finding.details.get("signature", ""))
    own = row.advice if row is not None else ""
    category = next((one for one in Category if one.value in (finding.details.get("category"), finding.kind)), None)
    if category is None and row is not None:
        category = row.category
    always = advice_for_category(category) if category is not None else advice_for(finding.kind)
    checkpoint = finding.details.get("checkpoint")
    if checkpoint is not None:
        always = tuple(step.replace("the newest checkpoint", f"the checkpoint of step {checkpoint}") for step in always)
    news = [step for step in always if not is_said_by(own, step)]
    return without_repeats([own, *news[: 1 if own else 2], *_resume(finding)], MOST)


def _gib(text: str) -> float | None:
    found = _SIZE.search(text)
    return None if found is None else float(found[1]) * _UNITS[found[2][0]]


_Steps = Callable[[Finding, _Scene], list[str]]
_KINDS: Final[Mapping[str, _Steps]] = {
    "nonfinite_loss": _nonfinite,
    "nonfinite_grad_norm": _nonfinite,
    "nonfinite_reported": _reported,
    "loss_vanished": _nonfinite,
    "overflow_streak": _overflow,
    "loss_scale_floor": _overflow,
    "loss_spike": _spike,
    "loss_spike_reported": _spike,
    "sustained_spike": _spike,
    "divergence": _divergence,
    "gpu_oom": _gpu_oom,
    "killed": _killed,
    "host_oom": _host_oom,
    "rank_crash": _rank_crash,
    "preempted": _preempted,
    "collective_timeout": _collective,
}
_PLAIN: Final[Mapping[str, tuple[str, ...]]] = {
    "loss_zero": (
        "A loss of exactly 0.0 is nearly always a NaN that a filter hides, or a batch whose labels are all masked.",
        "With the Trainer: `logging_nan_inf_filter=False` shows it as it is.",
    ),
    "nan_counter": (
        "The trainer skipped these batches, so the weights are still good: find out which data they were.",
    ),
    "nonfinite_eval": (
        "The training loss is finite, so the weights are probably good: look at the evaluation data for empty labels.",
    ),
    # Whoever could take a snapshot is the one that is not heard.
    "watcher_silent": (
        "See whether the node answers and its watcher runs (`runwatch doctor` there); the job itself may be well.",
    ),
    "grad_norm_lead": ("Nothing yet: keep an eye on the next steps, and make sure a recent checkpoint is kept.",),
    "slowdown": (
        "`/stall` compares the ranks: look for one slow rank first (GPU clocks and heat, its data, its network).",
    ),
    "slowdown_reported": (
        "`/stall` compares the ranks: look for one slow rank first (GPU clocks and heat, its data, its network).",
    ),
}
_NEEDS_NO_SNAPSHOT: Final = frozenset(
    {
        "preempted",
        "watcher_silent",
        "loss_spike",
        "loss_spike_reported",
        "grad_norm_lead",
        "nonfinite_eval",
        "nan_counter",
        "slowdown_reported",
    }
)
"""Nothing of these is lost when somebody looks later, or nobody is there who could save it."""
