"""Processes that hold GPU memory and do not train: zombies, left-overs, others; and the safe way to end each."""

from collections.abc import Iterable
from dataclasses import replace

from diagnosis.instructions import MOST_STEPS, without_repeats
from diagnosis.node_facts import GpuHolder
from diagnosis.observations import Category
from diagnosis.root_cause.answer import Diagnosis

HELD_BYTES = 1 << 30
"""Less on a GPU is a context, not somebody's model."""
MOST = 3
_GIB = float(1 << 30)
_STATES = {"Z": "a zombie", "D": "waits in the kernel and cannot be killed", "": "not seen in /proc"}


def with_holders(said: Diagnosis, holders: Iterable[GpuHolder], *, is_down: bool) -> Diagnosis:
    """The diagnosis with whoever still holds GPU memory, where that matters; `is_down`: the run has ended here."""
    found = [one for one in holders if one.bytes_there >= HELD_BYTES and _matters(one, said, is_down=is_down)]
    if not found:
        return said
    found.sort(key=lambda one: (one.state != "Z", -one.bytes_there, one.pid))
    because = tuple(_sentence(one) for one in found[:MOST])
    steps = [_way_to_end(one) for one in found[:MOST]]
    is_cause = said.category is Category.GPU_OOM or is_down
    order = (*steps, *said.next) if is_cause else (*said.next, *steps)
    return replace(said, because=(*said.because, *because), next=tuple(without_repeats(order, MOST_STEPS)))


def _matters(one: GpuHolder, said: Diagnosis, *, is_down: bool) -> bool:
    if one.state in {"Z", "D"} and (one.is_of_run or is_down or one.shares):
        return True
    if one.is_of_run:
        return is_down
    return is_down or (one.shares and said.category is Category.GPU_OOM)


def _gpus(one: GpuHolder) -> str:
    numbers = ", ".join(map(str, one.gpus))
    return f"GPU {numbers}" if len(one.gpus) == 1 else f"GPUs {numbers}"


def _sentence(one: GpuHolder) -> str:
    state = {"Z": "a zombie", "D": "waits in the kernel and cannot be killed", "": "not seen in /proc"}.get(
        one.state, ""
    )
    whose = "" if one.is_of_run else "not of this run"
    words = ", ".join(word for word in (one.name, state, whose) if word)
    return (
        f"pid {one.pid} ({words}) is still on {_gpus(one)} of {one.node}, {one.bytes_there / _GIB:.1f} GiB in use there"
    )


def _way_to_end(one: GpuHolder) -> str:
    reset = f"`nvidia-smi --gpu-reset -i {','.join(map(str, one.gpus))}` on {one.node} once nothing else runs there"
    if one.state == "Z" and one.parent is not None and one.parent > 1:
        parent = f"{one.parent} ({one.parent_name})" if one.parent_name else str(one.parent)
        return (
            f"A zombie cannot be killed: end its parent, pid {parent}, with `kill -TERM {one.parent}` on {one.node}; "
            f"if the memory stays, {reset}."
        )
    if one.state == "Z":
        return f"Pid {one.pid} is a zombie that nobody reaps: only {reset}, or a reboot, frees the memory."
    if one.state == "D":
        return f"Signals do not reach pid {one.pid} while it waits in the driver: drain {one.node}, then {reset}."
    if not one.state:
        return f"Find pid {one.pid} on the host of {one.node}: it is outside this container, `nvidia-smi` shows it."
    return (
        f"Look whose it is: `ps -o pid,ppid,user,lstart,cmd -p {one.pid}` on {one.node}; if it is a left-over, "
        f"`kill -TERM {one.pid}`, and only after 30 s `kill -KILL {one.pid}`."
    )
