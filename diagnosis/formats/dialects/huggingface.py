"""The dict of the Hugging Face Trainer and everything built on it: TRL, LLaMA-Factory, axolotl, ms-swift.

The dict has no step (ms-swift's has): `implied_steps.py` gives it one. Version 5 prints all values as short
strings. TRL's PPO has no `loss`; its x is the episode.
"""

import re

from diagnosis.formats.line_format import Found, Token, Values
from diagnosis.formats.numbers import NUMBER

_HEAD = re.compile(r"\{'(?:loss|eps|grad_norm|objective/kl|train_loss_step|reward|rewards/\S+|learning_rate|lr)'")
_REFUSE = re.compile(r"'(?:eval_\w+|train_runtime|train_loss|test_\w+|predict_\w+)'")
_PAIR = re.compile(
    rf"'(?P<key>[^'\n]{{1,80}})': ?(?:np\.float\d+\()?(?P<quote>['\"]?)(?P<value>{NUMBER})(?P=quote)(?=[,)}}]|$)"
)
_PROGRESS = re.compile(r"'(?:global_step/max_steps|iteration|global_step|step)': ?'(\d+)/(\d+)'")
_NAMES = {
    "loss": ("loss", 1.0),
    "grad_norm": ("grad_norm", 1.0),
    "learning_rate": ("lr", 1.0),
    "lr": ("lr", 1.0),
    "epoch": ("epoch", 1.0),
    "loss/policy_avg": ("policy_loss", 1.0),
    "episode": ("episode", 1.0),
    "global_step": ("step", 1.0),
    "step": ("step", 1.0),
    "num_tokens": ("consumed_tokens", 1.0),
    "num_input_tokens_seen": ("consumed_tokens", 1.0),
    "reward": ("reward", 1.0),
    "kl": ("kl", 1.0),
    "objective/kl": ("kl", 1.0),
    "memory/max_mem_allocated(gib)": ("memory_bytes", float(1 << 30)),
    "memory(GiB)": ("memory_bytes", float(1 << 30)),
    "tokens_per_second_per_gpu": ("tokens_per_second_per_gpu", 1.0),
}


def _settle(values: Values) -> bool:
    policy = values.pop("policy_loss", None)
    episode = values.pop("episode", None)
    if policy is not None and "loss" not in values:
        values["loss"] = policy
        if episode is not None:
            values["step"] = episode
    return "loss" in values or "grad_norm" in values


class _Dict:
    name = "huggingface"
    hint = "{'"

    def find(self, text: str) -> Found | None:
        """Where the dict's numbers stand; its step is implied unless it carries one."""
        if _HEAD.search(text) is None or _REFUSE.search(text) is not None:
            return None
        tokens = []
        known = set()
        progress = _PROGRESS.search(text)
        if progress is not None:
            tokens += [Token("step", *progress.span(1)), Token("total_steps", *progress.span(2))]
            known.add("step")
        for match in _PAIR.finditer(text):
            name = _NAMES.get(match["key"])
            if name is not None and name[0] not in known:
                known.add(name[0])
                tokens.append(Token(name[0], *match.span("value"), name[1]))
        if known.isdisjoint({"loss", "policy_loss"}):
            return None
        kind = (
            "samples" if "episode" in known and "policy_loss" in known else "printed" if "step" in known else "implied"
        )
        return Found(tuple(tokens), kind, _settle)  # type: ignore[arg-type]


DICT = _Dict()
FORMATS = (DICT,)
