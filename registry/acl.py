"""ACL SETUSER lines for Redis, one for each role, derived from `access.py`.

From Redis 7.0 on every command is allowed on the very keys it is needed for, and on no others. Redis 6.2 knows no such
pairs: there a user gets all its commands on all its keys, which still keeps foreign keys and all else out.
"""

import re
from collections import defaultdict
from typing import Final

from registry.access import ACCESS, CHANNELS, WITHOUT_KEY, Role
from registry.keys import escaped

USER: Final = "runwatch"
EVERY: Final = "*"


def user_name(role: Role, node: str = EVERY) -> str:
    """Return what the user of a role is called; each node may have one of its own."""
    name = f"{USER}-{role}"
    return name if role is not Role.WATCHER or node == EVERY else f"{name}-{_safe(node)}"


def rules(role: Role, node: str = EVERY, runs: str = EVERY, *, is_old: bool = False) -> list[str]:
    """Return the rules of a user, without a password: one that it has already stays.

    Args:
        role: What it does.
        node: For a watcher, its node: whose stream, heartbeat and requests; `*` for any.
        runs: For a watcher, which runs it may write, as a pattern such as `llama-*`.
        is_old: Write them for Redis 6.2.
    """
    head = ["on", "resetkeys", "resetchannels", *(f"&{channel}" for channel in CHANNELS[role]), "-@all"]
    plain = [f"+{command.lower()}" for command in WITHOUT_KEY[role].split()]
    patterns = _patterns(role, node, runs)
    if is_old:
        keys = sorted({pattern for wanted in patterns.values() for pattern in wanted})
        commands = sorted(f"+{command.lower()}" for command in patterns)
        return [*head, *plain, *commands, *(f"~{key}" for key in keys)]
    pairs: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for command, wanted in sorted(patterns.items()):
        # By command and not by key: a command with several keys needs all of them in one pair of brackets.
        pairs[tuple(sorted(wanted))].append(f"+{command.lower()}")
    selectors = [f"({' '.join(commands)} {' '.join(f'~{key}' for key in keys)})" for keys, commands in pairs.items()]
    return [*head, *plain, "clearselectors", *selectors]


def line(role: Role, node: str = EVERY, runs: str = EVERY, *, is_old: bool = False) -> str:
    """Return the whole command, as one types it into redis-cli."""
    words = ["ACL", "SETUSER", user_name(role, node), *rules(role, node, runs, is_old=is_old)]
    return " ".join(f'"{word}"' if set(word) & set(" &()~*?[") else word for word in words)


def _patterns(role: Role, node: str, runs: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for shape, access in ACCESS.items():
        for command in access.of(role):
            found[command].add(_pattern(shape, role, node, runs))
    return found


def _pattern(shape: str, role: Role, node: str, runs: str) -> str:
    """Turn the shape of a key into a pattern: what a role may only touch of its own stands there by name."""
    is_watcher = role is Role.WATCHER
    own = _node_pattern(node) if is_watcher else EVERY
    named = {"{W}": own, "{R}": _glob(runs) if is_watcher else EVERY}
    shape = re.sub(r"\{[RW]\}", lambda found: f"{{{named[found[0]]}}}", shape)
    shape = re.sub(r"\{[A-Z]+\}", "{*}", shape)
    return re.sub(r":(EPOCH|NAME|N)$", ":*", shape)


def _node_pattern(node: str) -> str:
    """Return whose keys: those of one watcher, or of every watcher on a node (`node17/run42`, `node17/all`)."""
    if node == EVERY:
        return EVERY
    return _safe(node) if "/" in node else f"{_safe(node)}/*"


def _glob(runs: str) -> str:
    return "".join(part if part in "*?" else _safe(part) for part in re.split(r"([*?])", runs) if part)


def _safe(name: str) -> str:
    # A pattern holds no blank; any one character stands for it.
    return escaped(name).replace(" ", "?")
