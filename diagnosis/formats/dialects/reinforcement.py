"""Reinforcement learning stacks: verl, slime, cosmos-rl, prime-rl, dreamer.

Policy losses are small and often negative; a validation-only first line has no loss.
"""

import re

from diagnosis.formats.line_format import LineFormat, where

_VERL = LineFormat(
    name="verl",
    hint="step:",
    head=re.compile(r"(?:^|\s)step:(?P<step>\d+) - (?=.*(?:actor/|critic/|train/|timing|perf/|val))"),
    fields={
        "loss": (
            where(r" - actor/pg_loss:(?:np\.float\d+\()?#"),
            where(r" - train/loss:(?:np\.float\d+\()?#"),
            where(r" - actor/loss:(?:np\.float\d+\()?#"),
        ),
        "grad_norm": (
            where(r" - actor/grad_norm:(?:np\.float\d+\()?#"),
            where(r" - train/grad_norm:(?:np\.float\d+\()?#"),
        ),
        "lr": (where(r" - actor/lr:(?:np\.float\d+\()?#"), where(r" - train/lr:(?:np\.float\d+\()?#")),
        "kl": where(r" - actor/ppo_kl:#"),
        "reward": where(r" - critic/rewards/mean:#"),
        "step_seconds": where(r" - (?:timing_s|perf)/(?:step|time_per_step):#"),
        "mfu": where(r" - perf/mfu/actor:#"),
        "tokens_per_second_per_gpu": where(r" - perf/throughput:#"),
    },
)

_SLIME = LineFormat(
    name="slime",
    hint="'train/",
    head=re.compile(r"\bstep (?P<step>\d+): \{'train/"),
    fields={
        "loss": where(r"'train/loss': #"),
        "grad_norm": where(r"'train/grad_norm': #"),
        "lr": where(r"'train/lr-pg_0': #"),
        "kl": where(r"'train/ppo_kl': #"),
    },
)

_COSMOS = LineFormat(
    name="cosmos-rl",
    hint=", Loss: ",
    head=re.compile(r"\bStep: (?P<step>\d+)/(?P<total_steps>\d+), Loss: "),
    fields={
        "loss": where(r", Loss: #"),
        "lr": where(r", Learning rate: #"),
        "grad_norm": where(r", Grad norm: #"),
        "step_seconds": where(r", Iteration time: #s"),
        "reward": where(r", Reward: #"),
    },
)

_PRIME = LineFormat(
    name="prime-rl",
    hint="| Loss: ",
    head=re.compile(r"\bStep (?P<step>\d+) \| Time: "),
    fields={
        "loss": where(r"\| Loss: #"),
        "step_seconds": where(r"\| Time: #s"),
        "grad_norm": where(r"\| Grad\.? Norm: #"),
        "lr": where(r"\| LR: #"),
        "tokens_per_second": where(r"\| Throughput: # tokens/s"),
        "mfu": where(r"\| MFU: #%", 0.01),
        "reward": where(r"\| Reward: #"),
    },
)

_DREAMER = LineFormat(
    name="dreamer",
    hint=" / ",
    head=re.compile(r"^\[(?P<step>\d+)\] (?=.*\w loss? ?|.*_loss )(?:\S+ [-\w.+]+ / )"),
    fields={
        "loss": (where(r"(?<=[ \]])(?:model_loss|total_loss|loss) #"), where(r"\w_loss #")),
        "grad_norm": where(r"(?<=[ \]])(?:model_)?grad_norm #"),
    },
)

FORMATS = (_VERL, _SLIME, _COSMOS, _PRIME, _DREAMER)
