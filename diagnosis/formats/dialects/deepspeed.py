"""DeepSpeed's engine (no loss), DeepSpeed-Chat, LMOps, and the small forks that print through it."""

import re

from diagnosis.formats.line_format import LineFormat, where

_ENGINE = LineFormat(
    name="deepspeed",
    hint="skipped=",
    head=re.compile(r"\bstep=(?P<step>\d+), skipped=(?P<skipped_total>\d+), lr=\["),
    fields={"lr": where(r"\blr=\[#")},
)

_TIMER = LineFormat(
    name="deepspeed timer",
    hint="RunningAvgSamplesPerSec=",
    head=re.compile(r"\bglobal_step=(?P<step>\d+), RunningAvgSamplesPerSec="),
    fields={
        "samples_per_second": where(r"CurrSamplesPerSec=#"),
        "memory_bytes": where(r"MaxMemAllocated=#GB", 1e9),
    },
)

_CHAT_PPO = LineFormat(
    name="deepspeed-chat",
    hint="|act_loss: ",
    head=re.compile(r"\bepoch: (?P<epoch>\d+)\|step: (?P<step_in_epoch>\d+)\|ppo_ep: \d+\|act_loss: "),
    fields={"loss": where(r"\|act_loss: #")},
)

_CHAT_PPO_2 = LineFormat(
    name="deepspeed-chat",
    hint="| Actor Loss: ",
    head=re.compile(r"\bEpoch: (?P<epoch>\d+) \| Step: (?P<step_in_epoch>\d+) \| PPO Epoch: \d+ \| Actor Loss: "),
    fields={"loss": where(r"\| Actor Loss: #")},
)

_CHAT_PRINT_LOSS = LineFormat(
    name="deepspeed-chat",
    hint=", loss = ",
    head=re.compile(r"\bEpoch: (?P<epoch>\d+), Step: (?P<step_in_epoch>\d+), Rank: \d+, loss = "),
    fields={"loss": where(r", loss = #")},
)

_LMOPS = LineFormat(
    name="lmops",
    hint="global iter:",
    head=re.compile(r"\btrain \|.*?\bglobal iter:\s+(?P<step>\d+)/\s*(?P<total_steps>\d+)\s*\|"),
    fields={
        "loss": (where(r"\| tot_loss: #"), where(r"\| (?:lm_)?loss: #")),
        "lr": where(r"\| lr: #"),
        "loss_scale": where(r"\| scale: #"),
        "step_seconds": where(r"\| time: #"),
    },
)

FORMATS = (_ENGINE, _TIMER, _CHAT_PPO, _CHAT_PPO_2, _CHAT_PRINT_LOSS, _LMOPS)
