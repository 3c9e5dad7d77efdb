"""A NaN line is appended to a watched file: how long until its message stands in the workspace?"""

import asyncio
import time

from benchmarks.whole import Whole, spread, whole

TRIALS = 200
HEALTHY_LINES = 40


async def measure(trials: int = TRIALS) -> list[float]:
    """Seconds from the write to the message, one run after another, the watcher busy with all of them."""
    async with whole() as everything:
        logs = everything.home / "logs"
        logs.mkdir()
        config = everything.home / "runs.toml"
        config.write_text(
            "".join(f'[[runs]]\nname = "run{n:03}"\nlogs = ["{logs}/run{n:03}.log"]\n' for n in range(trials))
        )
        for n in range(trials):
            (logs / f"run{n:03}.log").write_text(
                "".join(f"step={s} loss={2.3 + 1 / s:.4f} lr=0.0001 grad_norm=1.8\n" for s in range(1, HEALTHY_LINES))
            )
        await everything.start(
            "watcher", ["watch", "--config", str(config), "--state-dir", str(everything.home / "state")]
        )
        await _all_registered(everything, trials)
        await asyncio.sleep(2)
        return [await _trial(everything, f"run{n:03}") for n in range(trials)]


async def _all_registered(everything: Whole, trials: int) -> None:
    deadline = time.monotonic() + 60
    while len(await everything.registry.runs.names(trials + 1)) < trials:
        if time.monotonic() > deadline:
            raise RuntimeError(
                "the watcher did not register all runs: " + (everything.home / "watcher.log").read_text()
            )
        await asyncio.sleep(0.2)


async def _trial(everything: Whole, run: str) -> float:
    with (everything.home / "logs" / f"{run}.log").open("a") as log:
        log.write(f"step={HEALTHY_LINES} loss=nan lr=0.0001 grad_norm=nan\n")
    began = time.monotonic()
    slack = everything.slack
    # The workspace is polled finely: its own notification is not what is measured.
    while not any(run in str(message.get("text")) for message in slack.messages(slack.channel)):
        if time.monotonic() - began > 30:
            raise RuntimeError(
                f"no message about {run} within 30 s: " + (everything.home / "bot.log").read_text()[-2000:]
            )
        await asyncio.sleep(0.005)
    return time.monotonic() - began


def main() -> None:
    """Print the figures."""
    print(f"NaN line written → message in the workspace, {TRIALS} trials: {spread(asyncio.run(measure()))}")


if __name__ == "__main__":
    main()
