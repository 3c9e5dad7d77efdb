"""How long charts take, warm, as the bot draws them: `python -m benchmarks.charts`."""

import asyncio
import math
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from charts import Look, draw_gpus, draw_incident, draw_loss
from charts.painter import Painter
from diagnosis.observations import GpuSample
from diagnosis.series import Mark, RunSeries, Series

ROUNDS = 40
STARTED = 1_715_640_000.0
PROMISED_P95_MS = 150.0

Case = tuple[str, Callable[..., bytes], object, dict[str, object]]
"""A measurement's name, the chart, its subject, its options."""


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement."""

    what: str
    p50_ms: float
    p95_ms: float
    cpu_ms: float
    """Processor time of both halves in one process, the median: what is left of it on a machine that is busy."""
    kilobytes: float

    def __str__(self) -> str:
        """As a line of the table in docs/performance.md."""
        return f"| {self.what} | {self.p50_ms:.0f} | {self.p95_ms:.0f} | {self.cpu_ms:.0f} | {self.kilobytes:.0f} |"


def run_of(points: int) -> RunSeries:
    """A run with warm-up, noise, one spike and a NaN near its end."""
    random = np.random.default_rng(1)
    steps = np.arange(points, dtype=np.float64)
    share = steps / points
    loss = 2.1 + 1.2 * np.exp(-6 * share) + 8 * np.exp(-share / 0.004) + random.normal(0, 0.04, points)
    norm = np.exp(random.normal(-0.3, 0.25, points)) * (1 + 8 * np.exp(-share / 0.01))
    rate = 3e-4 * np.minimum(1, share / 0.02) * (0.1 + 0.45 * (1 + np.cos(np.pi * share)))
    loss[points // 2], loss[-points // 50] = 9.0, math.nan
    times = STARTED + 1.3 * steps
    return RunSeries(
        "run42",
        loss=_series("loss", steps, loss, times),
        grad_norm=_series("grad_norm", steps, norm, times),
        lr=_series("lr", steps, rate, times),
        marks=(Mark("spike", float(points // 2), value=9.0, before=2.1),),
    )


def _series(metric: str, *columns: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> Series:
    steps, values, times = (array("d", column.tobytes()) for column in columns)
    return Series(metric, steps=steps, values=values, times=times)


def readings(gpus: int) -> list[GpuSample]:
    """Fifteen minutes of a cluster that stopped in a collective."""
    return [
        GpuSample(
            node=f"node{gpu // 8:02}",
            gpu_index=gpu % 8,
            time=STARTED + second,
            utilization_percent=100.0,
            power_watts=190.0 if second > 540 else 650.0,
            power_limit_watts=700.0,
        )
        for gpu in range(gpus)
        for second in range(0, 900, 5)
    ]


async def measure(rounds: int = ROUNDS) -> list[Row]:
    """Every kind of chart, through a warm painter, thinning and the way to the worker included."""
    began = time.perf_counter()
    async with Painter(workers=1) as painter:
        start_ms = (time.perf_counter() - began) * 1000
        rows = [Row("start of the painter, fonts listed anew", start_ms, start_ms, math.nan, 0)]
        return [*rows, *[await _timed(painter, rounds, case) for case in cases()]]


def cases() -> Iterator[Case]:
    """What is drawn."""
    for points in (1_000, 100_000, 1_000_000):
        yield f"loss, {points:,} points", draw_loss, run_of(points), {}
    yield "incident, 1,000,000 points", draw_incident, run_of(1_000_000), {"bad_step": 980_000}
    for gpus in (8, 128):
        yield f"{gpus} GPUs, 15 min", draw_gpus, readings(gpus), {}


async def burst(charts: int = 50) -> float:
    """Seconds until so many charts asked for at once have all arrived."""
    series = run_of(100_000)
    async with Painter() as painter:
        await asyncio.gather(*(painter.draw(draw_loss, series, Look.LIGHT) for _ in range(4)))
        began = time.perf_counter()
        await asyncio.gather(*(painter.draw(draw_loss, series, Look.LIGHT) for _ in range(charts)))
        return time.perf_counter() - began


async def _timed(painter: Painter, rounds: int, case: Case) -> Row:
    what, chart, subject, options = case
    walls: list[float] = []
    processor: list[float] = []
    size = 0
    for _ in range(rounds):
        began = time.perf_counter()
        size = len(await painter.draw(chart, subject, Look.DARK, **options))
        walls.append((time.perf_counter() - began) * 1000)
        spent = time.process_time()
        chart(subject, Look.DARK, **options)
        processor.append((time.process_time() - spent) * 1000)
    return Row(what, quantile(walls, 0.5), quantile(walls, 0.95), quantile(processor, 0.5), size / 1000)


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which that share of the values lies."""
    return float(np.quantile(np.array(values), share))


def main() -> None:
    """Print the table."""
    print("| chart | p50 ms | p95 ms | CPU ms | kB |\n|---|---|---|---|---|")
    rows = asyncio.run(measure())
    for row in rows:
        print(row)
    million = next(row for row in rows if row.what == "loss, 1,000,000 points")
    kept = "kept" if million.p95_ms <= PROMISED_P95_MS else "NOT kept"
    print(f"\nPromise: p95 of the million-point chart at most {PROMISED_P95_MS:.0f} ms: {kept}.")
    print(f"50 charts of 100,000 points asked for at once: all there after {asyncio.run(burst()):.1f} s.")


if __name__ == "__main__":
    main()
