"""`runwatch registry` in a terminal: what is in Redis, in tables; and how to take something out."""

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

from rich.console import Console

from bot.settings import BotSettings
from bot.terminal.audit import audit
from bot.terminal.inspection import clean
from bot.terminal.printing import table_of
from diagnosis import wording
from diagnosis.errors import Away, Mistake
from registry import Registry, Run, connect
from registry.access import Role
from registry.acl import EVERY, line, user_name
from registry.errors import Refused, RegistryError, UnknownRun

MOST_RUNS = 1000
ALIVE_SECONDS = 120.0
WIDTH_OF_A_PIPE = 400
"""A name that is folded over two lines could not be grepped."""
FINE, USAGE = 0, 2


def inspect(options: argparse.Namespace, settings: BotSettings) -> int:
    """Do one act and return the exit code."""
    return asyncio.run(_inspect(ACTS[options.act], options, settings))


def acl(role: str | None, nodes: Sequence[str], runs: str, *, is_old: bool = False) -> int:
    """Print the users' lines; they hold no password."""
    if (nodes or runs != EVERY) and role not in (None, Role.WATCHER):
        raise Mistake("--node and --runs are of watchers: runwatch registry acl watcher --node NAME --runs 'llama-*'.")
    users = []
    for one in [Role(role)] if role else list(Role):
        for node in (nodes or [EVERY]) if one is Role.WATCHER else [EVERY]:
            try:
                print(line(one, node, runs, is_old=is_old))
            except ValueError as wrong:
                raise Mistake(f"{clean(node, 40)!r} cannot be a node's name: {wrong}.") from wrong
            users.append(user_name(one, node))
    said = [f"Give each user a password of its own: ACL SETUSER {users[0]} '>…'. One that it has already stays."]
    if Role.WATCHER in (role, None) and not nodes:
        said.append("This watcher may write as any node. With --node NAME each gets a user that may only be itself.")
    if is_old:
        said.append("Redis 6.2 ties no command to its keys: a watcher could also trim or overwrite what is its own.")
    sys.stderr.write("\n".join(said) + "\n")
    return FINE


async def _inspect(
    act: Callable[[Registry, argparse.Namespace], Awaitable[int]], options: argparse.Namespace, settings: BotSettings
) -> int:
    registry = connect(settings.redis_url, name="terminal", audit_key=settings.audit_key)
    try:
        return await act(registry, options)
    except Refused as refused:
        raise Mistake(f"{refused} `runwatch registry acl` prints the rights each user needs.") from refused
    except RegistryError as away:
        raise Away(f"The registry does not answer: {str(away).rstrip('.')}. Is REDIS_URL right?") from away
    finally:
        with suppress(RegistryError, OSError):
            await registry.aclose()


async def _runs(registry: Registry, options: argparse.Namespace) -> int:
    del options
    now = await registry.now()
    runs, names = await registry.runs.all(MOST_RUNS), await registry.runs.names(10 * MOST_RUNS)
    if not runs:
        print("No run is registered yet. `runwatch watch --run NAME --log GLOB` registers one.")
        return FINE
    rows = [["run", "state", "attempt", "last step", "last heard of", "size"]]
    for run in runs:
        size = await registry.inspection.size_of(run.name)
        rows.append(
            [
                clean(run.name, 80),
                run.state,
                str(run.attempt + 1),
                wording.whole(run.last_step),
                _ago(run.last_seen, now),
                _size(size),
            ]
        )
    _print(rows)
    if len(names) > len(runs):
        print(f"… and {len(names) - len(runs):,} more that are idle longer.")
    return FINE


async def _show(registry: Registry, options: argparse.Namespace) -> int:
    run, now = await _found(registry, options.run), await registry.now()
    print(f"{clean(run.name)} · {run.state} · attempt {run.attempt + 1}, last heard of {_ago(run.last_seen, now)}")
    facts = {
        "owner": run.owner,
        "channel": run.channel,
        "labels": ", ".join(f"{name}={value}" for name, value in run.labels.items()),
        "last step": None if run.last_step is None else wording.whole(run.last_step),
        "last loss": None if run.last_loss is None else wording.number(run.last_loss),
        "log": run.log,
        "first seen": None if run.first_seen is None else _ago(run.first_seen, now),
    }
    stored = await registry.series.stored(run.name)
    ranks = await registry.ranks.all(run.name)
    incidents = await registry.incidents.of_run(run.name, 1000)
    beats = await registry.heartbeats.of_run(run.name)
    facts |= {
        "points": ", ".join(f"{count:,} in attempt {number + 1}" for number, (count, _) in stored.items()) or "none",
        "ranks": f"{len(ranks)}",
        "watchers": ", ".join(
            f"{beat.heartbeat.watcher} ({'silent' if beat.is_silent else 'alive'})" for beat in beats
        ),
        "incidents": f"{len(incidents)}, {sum(bool(one.get('is_open')) for one in incidents.values())} open",
        "size": _size(await registry.inspection.size_of(run.name)),
    }
    for name, value in facts.items():
        if value:
            print(f"  {name:<11} {clean(str(value))}")
    return FINE


async def _forget(registry: Registry, options: argparse.Namespace) -> int:
    run, now = await _found(registry, options.run), await registry.now()
    stored = await registry.series.stored(run.name)
    incidents = await registry.incidents.of_run(run.name, 1000)
    what = (
        f"{clean(run.name)}: {sum(count for count, _ in stored.values()):,} points in {_count(len(stored), 'attempt')}"
        f" and {_count(len(incidents), 'incident')}, last heard of {_ago(run.last_seen, now)}"
    )
    is_alive = run.last_seen is not None and now - run.last_seen < ALIVE_SECONDS
    warning = " A watcher still writes it, so it will be back: stop that first." if is_alive else ""
    if not options.yes:
        sys.stderr.write(
            f"Would forget {what}.{warning}\nNothing was removed. `runwatch registry export` keeps a copy; "
            "with --yes it is forgotten.\n"
        )
        return USAGE
    await registry.runs.forget(run.name)
    print(f"Forgotten: {what}.{warning}")
    return FINE


async def _export(registry: Registry, options: argparse.Namespace) -> int:
    run = await _found(registry, options.run)
    json.dump(await registry.inspection.export(run.name), sys.stdout, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")
    return FINE


async def _streams(registry: Registry, options: argparse.Namespace) -> int:
    del options
    now, looks = await registry.now(), await registry.inspection.streams()
    if not looks:
        print("No watcher has a stream yet.")
        return FINE
    rows = [["watcher", "epoch", "waiting", "settled to", "last number", "size", "last registered"]]
    rows += [
        [
            *(clean(look.stream.watcher, 80), clean(look.stream.epoch, 20), f"{look.waiting:,}", f"{look.settled:,}"),
            *(f"{look.last_number:,}", _size(look.bytes), _ago(look.registered_at, now)),
        ]
        for look in looks
    ]
    _print(rows)
    waiting = sum(look.waiting for look in looks)
    print(f"{_count(waiting, 'finding')} on the way." if waiting else "Everything is settled.")
    return FINE


async def _dead(registry: Registry, options: argparse.Namespace) -> int:
    now, found = await registry.now(), await registry.inspection.letters()
    if options.watcher is not None:
        found = {options.watcher: found.get(options.watcher, {})}
    letters = [(watcher, name, letter) for watcher, of in found.items() for name, letter in of.items()]
    if not letters:
        print("No dead letters: everything that was found could be handled.")
        return FINE
    rows = [["watcher", "finding", "when", "why"]]
    for watcher, name, letter in letters:
        at = letter.get("at")
        when = _ago(at if isinstance(at, int | float) else None, now)
        rows.append([clean(watcher, 80), clean(name, 60), when, clean(str(letter.get("why", "")))])
    _print(rows)
    if options.watcher is not None:
        for _, name, letter in letters:
            print(f"\n{clean(name, 60)}\n{clean(str(letter.get('body', '')), 4000)}")
    return FINE


async def _sizes(registry: Registry, options: argparse.Namespace) -> int:
    del options
    sizes = await registry.inspection.sizes()
    for server, (used, most) in sizes.servers.items():
        print(
            f"{server}: {_size(used)} used of {_size(most) if most else 'what the machine has (maxmemory is not set)'}"
        )
    rows = [["kind", "keys", "size"]]
    rows += [[kind, f"{count:,}", _size(size)] for kind, (count, size) in _by_size(sizes.kinds)]
    _print(rows)
    runs = _count(sizes.runs, "run")
    print(f"{runs} in all; sizes of runs are estimated from some." if sizes.is_estimated else f"{runs} in all.")
    if sizes.largest:
        print("Largest: " + ", ".join(f"{clean(run, 60)} {_size(size)}" for run, size in sizes.largest))
    return FINE


ACTS: Mapping[str, Callable[[Registry, argparse.Namespace], Awaitable[int]]] = {
    "runs": _runs,
    "show": _show,
    "forget": _forget,
    "export": _export,
    "streams": _streams,
    "dead": _dead,
    "size": _sizes,
    "audit": audit,
}


async def _found(registry: Registry, name: str) -> Run:
    try:
        return await registry.runs.find(name)
    except UnknownRun as unknown:
        near = f" Did you mean {' or '.join(clean(one, 80) for one in unknown.near)}?" if unknown.near else ""
        raise Mistake(f"There is no run {clean(name, 80)}.{near} `runwatch registry runs` lists all.") from unknown


def _count(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _by_size(kinds: Mapping[str, tuple[int, int]]) -> list[tuple[str, tuple[int, int]]]:
    return sorted(kinds.items(), key=lambda one: -one[1][1])


def _print(rows: Sequence[Sequence[str]]) -> None:
    width = None if sys.stdout.isatty() else WIDTH_OF_A_PIPE
    Console(file=sys.stdout, soft_wrap=True, highlight=False, width=width).print(table_of(rows))


def _ago(at: float | None, now: float) -> str:
    if at is None:
        return "never"
    return "now" if now - at < 5 else f"{wording.duration(max(0.0, now - at))} ago"


def _size(size: int | None) -> str:
    if size is None:
        return "not known"
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:,.1f} {name}"
    return f"{size} B"
