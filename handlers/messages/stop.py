"""What is said about stopping a run: what would be done, what was done, what is left and how it is cleaned up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handlers.messages.blocks import Message, actions, button, context, fence, lines, message
from handlers.messages.phrase import NOTHING, Clause, Person, Phrase, join, listed, number_of, say, with_code
from handlers.messages.snapshot import NodeSaved, safe_to_stop

CONFIRM = "confirm_stop"
"""The button that really stops."""
CONFIRM_SECONDS = 60.0
MOST_NODES = 12
_WAYS = {
    "torchrun": "torchrun, which ends its ranks",
    "deepspeed": "the DeepSpeed launcher, which ends its ranks",
    "slurm": "Slurm, which tells every step",
    "kubernetes": "the launcher in the pod",
    "launcher": "the launcher, which ends its ranks",
    "process": "the training process itself",
}


@dataclass(frozen=True, slots=True)
class NodePlan:
    """What a node said it would do, or did."""

    node: str
    way: str = ""
    pids: tuple[int, ...] = ()
    processes: int = 0
    commands: tuple[str, ...] = ()
    is_allowed: bool = False
    error: str = ""
    ended: int = 0
    left: tuple[str, ...] = ()
    """Processes that still live, in words."""
    gpus: tuple[str, ...] = ()
    """Whose memory on a GPU is still held, in words."""
    cleanup: tuple[str, ...] = ()


def plan_of(node: str, body: Mapping[str, Any]) -> NodePlan:
    """A watcher's answer, read kindly."""
    launchers = [one for one in body.get("launchers") or () if isinstance(one, Mapping)]
    left = [one for one in body.get("left") or () if isinstance(one, Mapping)]
    return NodePlan(
        node=str(body.get("node") or node),
        way=str(body.get("way") or ""),
        pids=tuple(one["pid"] for one in launchers if isinstance(one.get("pid"), int)),
        processes=body["processes"] if isinstance(body.get("processes"), int) else 0,
        commands=tuple(map(str, body.get("commands") or ())),
        is_allowed=body.get("allowed") is True,
        error=str(body.get("error") or ""),
        ended=body["ended"] if isinstance(body.get("ended"), int) else 0,
        left=tuple(f"{one.get('name', 'process')} {one.get('pid')} ({one.get('state', 'lives')})" for one in left),
        gpus=(
            *(
                f"process {one.get('pid')} still holds GPU {', '.join(map(str, one['gpus']))}"
                for one in left
                if one.get("gpus")
            ),
            *map(str, body.get("gpus_held") or ()),
        ),
        cleanup=tuple(map(str, body.get("cleanup") or ())),
    )


def confirm(run: str, by: str, plans: Sequence[NodePlan], silent: Sequence[str], value: str) -> Message:
    """What pressing the button does, node by node; for the person who asked."""
    told = [say("• {node}: {what}", node=plan.node, what=_what(plan)) for plan in plans[:MOST_NODES]]
    if len(plans) > MOST_NODES:
        told.append(say("• and {count} more nodes", count=len(plans) - MOST_NODES))
    quiet = say("{nodes} do not answer and will not be asked.", nodes=", ".join(silent[:6])) if silent else NOTHING
    return message(
        say("{who} wants to stop *{run}*.", who=Person(by), run=run),
        lines([say("The evidence is saved first. Then SIGTERM goes to:"), *told, quiet]),
        actions(f"stop/{run}", [button("Stop it now", CONFIRM, value, style="danger")]),
        context(say("Only {who} can confirm, within a minute.", who=Person(by))),
    )


def how_to_stop(run: str, plans: Sequence[NodePlan], why: str, *, is_saved: bool) -> Message:
    """Exactly what a person would type, and why nobody else does it; `is_saved`: the evidence is in already."""
    head = say("To stop *{run}*, on each node:", run=run)
    if not is_saved:
        head = say("To stop *{run}*, save the evidence first (press Snapshot), then on each node:", run=run)
    return message(
        head,
        fence(_commands(plans, "commands") or "# no process of the run was found on any node that answers"),
        context(say("I cannot stop it myself: {why}", why=with_code(why))),
    )


def stopping(run: str, by: str) -> Message:
    """Said when it begins."""
    return message(say("{who} stops *{run}*: evidence first, then SIGTERM.", who=Person(by), run=run))


def not_safe(run: str, saved: Sequence[NodeSaved], silent: Sequence[NodeSaved], plans: Sequence[NodePlan]) -> Message:
    """The evidence is not complete, so the run goes on."""
    return message(
        say("I did not stop *{run}*, because its evidence is not complete.", run=run),
        lines([safe_to_stop(saved, silent), say("If you want to stop it all the same, on each node:")]),
        fence(_commands(plans, "commands") or "# no process of the run was found on any node that answers"),
    )


def stopped(run: str, plans: Sequence[NodePlan], silent: Sequence[str], paths: Sequence[str]) -> Message:
    """Which processes ended, which are left, whether any holds GPU memory, and how to clean up."""
    ended, left = sum(plan.ended for plan in plans), sum(len(plan.left) for plan in plans)
    failed = [plan for plan in plans if plan.error]
    holds = any(plan.gpus for plan in plans)
    if holds and not (left or failed or silent):
        head = say(
            "*{run} is stopped, but memory of GPUs is still in use*: {ended} ended.", run=run, ended=_many(ended)
        )
    elif left or failed or silent:
        head = say(
            "*{run} is not stopped everywhere*: {ended} ended, {left} left.", run=run, ended=_many(ended), left=left
        )
    else:
        head = say("*{run} is stopped*: all {ended} ended, none is left behind.", run=run, ended=_many(ended))
    told = [
        *(say("• {node} did not answer", node=node) for node in silent),
        *(say("• {node}: {error}", node=plan.node, error=Clause(plan.error)) for plan in failed),
        *(
            say("• {node}: {left}", node=plan.node, left=Clause("; ".join((*plan.left[:8], *plan.gpus))))
            for plan in plans
            if plan.left or plan.gpus
        ),
    ]
    if left and not holds:
        told.append(say("None of those left is known to hold memory of a GPU."))
    cleanup = _commands(plans, "cleanup")
    evidence = listed(say("`{path}`", path=path) for path in paths[:4])
    return message(
        head,
        lines(told),
        lines([say("To clean up, on each node:")]) if cleanup else None,
        fence(cleanup) if cleanup else None,
        context(say("Evidence: {paths}.", paths=evidence)) if paths else None,
    )


def too_late(run: str) -> Message:
    """The button is older than a minute."""
    return message(say("That was more than a minute ago, so I did nothing. Ask again how to stop *{run}*.", run=run))


def somebody_else(by: str) -> Message:
    """Only who asked may confirm."""
    return message(say("Only {who}, who asked for it, can confirm.", who=Person(by)))


def nobody_answers(run: str) -> Message:
    """No node can say anything."""
    return message(say("No watcher of *{run}* answers, so I cannot say how it is stopped.", run=run))


def _what(plan: NodePlan) -> Phrase:
    if not plan.processes:
        return say("no process of the run")
    pids = ", ".join(map(str, plan.pids[:4]))
    parts = [say("{way}", way=Clause(_WAYS.get(plan.way, plan.way or "the launcher")))]
    if pids:
        parts.append(say("process {pids}", pids=pids))
    return say("{what} ({count} in all)", what=join(parts, ", "), count=_many(plan.processes))


def _commands(plans: Sequence[NodePlan], which: str) -> str:
    told: list[str] = []
    for plan in plans[:MOST_NODES]:
        commands = getattr(plan, which)
        told += [f"# {plan.node}", *commands] if commands else []
    return "\n".join(told)[:2500]


def _many(count: int) -> Phrase:
    return number_of(count, "{n} process", "{n} processes")
