"""What the demo shows: which run goes wrong on which node, when, and from which real log."""

from dataclasses import dataclass
from pathlib import Path

SAMPLES = Path(__file__).parent / "samples"


@dataclass(frozen=True, slots=True)
class Replay:
    """A real log, written line by line into a file that a watcher follows."""

    run: str
    node: str
    sample: str
    shows: str
    starts_after_seconds: float
    lasts_seconds: float
    """The sample (or its first `quick_lines`) is written in this time."""
    quick_lines: int | None = None
    """After so many lines the rest comes slowly, one line every two seconds, so that the run stays alive."""
    source: str = "recorded log"
    """Whose log it is, and of when where its lines say so."""
    last_words: str = ""
    """Written after the recorded log, where that was cut while its run went on."""


@dataclass(frozen=True, slots=True)
class LiveJob:
    """A real job of four processes (`bot/demo/job.py`) whose output is watched, with a real fault in it."""

    run: str
    node: str
    arguments: tuple[str, ...]
    shows: str
    starts_after_seconds: float = 0.0


ENDS_HERE = "[after training is done] (runwatch demo: the recorded log ends here)\n"
PLAYS: tuple[Replay | LiveJob, ...] = (
    LiveJob(
        run="run42",
        node="node001",
        arguments=("--fault", "nan:0:60", "--step-seconds", "0.15"),
        shows="the loss turns NaN after the learning rate jumps",
    ),
    LiveJob(
        run="llama-7b",
        node="node002",
        arguments=("--fault", "lock:2:40", "--step-seconds", "0.15"),
        shows="hangs: rank 2 waits for a file lock and three ranks wait for rank 2",
    ),
    Replay(
        "gpt2-124m",
        "node001",
        "healthy_124m.log",
        "all is well, so nothing is said",
        starts_after_seconds=0,
        lasts_seconds=30,
        quick_lines=400,
        source="public log",
        last_words=ENDS_HERE,
    ),
    Replay(
        "olmo-1b",
        "node001",
        "cuda_oom.log",
        "CUDA out of memory before the first step",
        starts_after_seconds=6,
        lasts_seconds=6,
        source="public log of December 2025",
    ),
    Replay(
        "bloom-176b",
        "node002",
        "loss_spike.log",
        "the loss spikes and recovers by itself",
        starts_after_seconds=3,
        lasts_seconds=32,
        quick_lines=140,
        source="written after a public chronicle of 2022",
        last_words=ENDS_HERE,
    ),
    Replay(
        "byte-gpt",
        "node002",
        "lost_rank.log",
        "one rank dies and the others scream",
        starts_after_seconds=12,
        lasts_seconds=12,
        source="our own log of November 2026",
    ),
)

NODES = tuple(dict.fromkeys(play.node for play in PLAYS))
