"""Whose process it is, by the name that a kernel prints: a kernel tells of processes of anybody on the machine."""

import re
from collections.abc import Callable, Mapping

from diagnosis.observations import Category, Role
from diagnosis.signatures.row import Ruling

_TRAINING = re.compile(
    r"(?i)^i?python|^pt_|^torch|^ray\b|\.py$|train|finetune|megatron|deepspeed|accelerate|lightning|nemo|llm|jax|xla|"
    r"rank[-_ ]?\d"
)
"""Names of interpreters, loader workers and launchers, and those that trainings give themselves."""


def may_train(name: str) -> bool:
    """False for a browser, a log shipper, a daemon or a thread of the kernel."""
    return _TRAINING.search(name) is not None


def where_it_may_train(role: Role, category: Category) -> Callable[[Mapping[str, str]], Ruling]:
    """That role for a process that may be of a training, and only context for any other."""
    return lambda fields: (role if may_train(fields.get("name", "")) else Role.CONTEXT, category)
