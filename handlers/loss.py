"""`/loss RUN`: one sentence, what changed, then the chart."""

import asyncio
import difflib
import math
import re
from collections.abc import AsyncIterator

from charts import Look as Paper
from charts import draw_loss
from charts.table import to_csv
from diagnosis.series import RunSeries
from handlers.arguments import Arguments, Option, TooManyNames, WrongWords, quotes_hint, read_arguments
from handlers.around import changes_to_tell
from handlers.command import Asked, Command, Desk, Reply, Say, Upload, whisper
from handlers.find_run import find_run, named_run
from handlers.health import Health, look_at
from handlers.loss_standing import standing_of
from handlers.marked import marked_before
from handlers.messages.escaping import visible
from handlers.messages.loss import METRIC_NAMES, compared, loss_answer, nothing_in_part
from handlers.messages.phrase import NOTHING, Clause, Phrase, say
from handlers.selection import MOST_POINTS, Part, read_part, select
from registry import Run

OPTIONS = (
    Option("last", "2h|500"),
    Option("steps", "A..B"),
    Option("metric", "loss|grad_norm|lr"),
    Option("vs", "OTHER"),
    Option("csv"),
    Option("dark"),
)
METRICS = {
    "loss": "loss",
    "grad_norm": "grad_norm",
    "gradnorm": "grad_norm",
    "grad-norm": "grad_norm",
    "lr": "lr",
    "learning_rate": "lr",
}
MOST_CSV_ROWS = 200_000
MOST_INCIDENTS = 20
"""So many of a run's newest incidents are asked what changed."""
_RANGE = re.compile(r"[\d,_]{0,20}(?:\.\.|…)[\d,_]{0,20}")


async def answer(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """The sentence at once, the picture when it is drawn."""
    given = read_words(asked.words)
    metric = metric_of(given)
    part = read_part(given.options.get("last"), given.options.get("steps"))
    run = await find_run(desk, asked, given.names[0] if given.names else None)
    other = await other_run(desk, given, run.name)
    series = await read_series(desk, run.name, part)
    shown = select(series, part)
    beside = select(await read_series(desk, other.name, part), part) if other else None
    now = await desk.registry.clock.estimate()
    judged = await from_its_start(desk, run.name, series, part)
    stands = await standing_of(desk, run, look_at(judged), judged)
    look = stands.look
    incidents = (await desk.registry.incidents.of_run(run.name, MOST_INCIDENTS)).values()
    around = changes_to_tell(shown, incidents, look, is_part=not part.is_whole)
    versus = compare(shown, beside) if beside is not None else NOTHING
    url = desk.workspace_url()
    # Nobody is sent to the thread they ask in.
    opened = [one for one in stands.opened if one.incident.id != asked.thread_incident]
    marked = marked_before(shown, look)
    yield Say(
        loss_answer(stands.run, look, now, opened=opened, vs=versus, around=around, marked=marked, workspace_url=url)
    )
    if look.health is Health.UNKNOWN and not len(series.grad_norm) and not len(series.lr):
        return
    if not len(shown.loss) and not len(shown.grad_norm):
        yield whisper(nothing_in_part, run.name)
        return
    paper = Paper.DARK if given.has("dark") else Paper.LIGHT
    drawn = await desk.draw(draw_loss, shown, paper, vs=beside, metric=metric)
    what = Clause(METRIC_NAMES[metric])
    named = say("{run} · {what}", run=run.name, what=what)
    beside_it = say("{run} · {what} beside {other}", run=run.name, what=what, other=other.name) if other else named
    yield Upload(f"{file_word(run.name)}-{metric}.png", drawn, beside_it.plain)
    if given.has("csv"):
        table = await asyncio.to_thread(to_csv, shown, most_rows=MOST_CSV_ROWS)
        yield Upload(f"{file_word(run.name)}.csv", table, say("{run} · numbers", run=run.name).plain)


def read_words(words: str) -> Arguments:
    """Run and options; behind the run a bare `41000..41300` means the steps, a bare `grad_norm` the metric.

    Raises:
        TooManyNames: Several runs.
        WrongWords: What was typed cannot be meant.
    """
    given = read_arguments(words, OPTIONS, most_names=3)
    ranges = [name for name in given.names if _RANGE.fullmatch(name)]
    metrics = [name for name in given.names[1:] if name.lower() in METRICS]
    names = tuple(name for name in given.names if name not in (*ranges, *metrics))
    if len(names) > 1:
        both = f"both on one chart: `{names[0]} --vs {names[1]}`."
        raise TooManyNames(f"One run at a time; {both} {quotes_hint(names)}", names, given.options)
    if len(ranges) > 1 or (ranges and given.has("steps")):
        raise WrongWords("One range of steps at a time: `--steps 41000..41300`.")
    if len(metrics) > 1 or (metrics and given.has("metric")):
        raise WrongWords("One metric at a time: `--metric grad_norm`.")
    bare = {"steps": ranges, "metric": metrics}
    return Arguments(names, {**given.options, **{option: typed[0] for option, typed in bare.items() if typed}})


async def other_run(desk: Desk, given: Arguments, run: str) -> Run | None:
    """The run of `--vs`; None: none was asked for.

    Raises:
        WrongWords: It is the same run.
        NoSuchRun: There is none of that name.
    """
    if not given.has("vs"):
        return None
    other = await named_run(desk, given.options["vs"])
    if other.name == run:
        raise WrongWords(f"`--vs {run}` is the same run; name another one.")
    return other


async def read_series(desk: Desk, run: str, part: Part) -> RunSeries:
    """The series that can show the part: exact where the newest points reach, else the whole run."""
    if part.points is not None and part.points <= MOST_POINTS:
        return await desk.registry.series.newest(run, part.points)
    if part.is_whole:
        return await desk.registry.series.whole(run)
    newest = await desk.registry.series.newest(run, MOST_POINTS)
    if part.first is not None and len(newest.loss) and newest.loss.steps[0] <= part.first:
        return newest
    if part.seconds is not None and len(newest.loss):
        first, last = newest.loss.times[0], newest.loss.times[-1]
        if math.isfinite(first) and math.isfinite(last) and last - first >= part.seconds:
            return newest
    return await desk.registry.series.whole(run)


async def from_its_start(desk: Desk, run: str, series: RunSeries, part: Part) -> RunSeries:
    """The same, or the whole run where the part begins within a trouble: its first step is not since when."""
    look = look_at(series)
    begins_wrong = look.health is Health.WRONG and look.last_good_step is None
    return await desk.registry.series.whole(run) if begins_wrong and not part.is_whole else series


def file_word(name: str) -> str:
    """A run's name as a file name."""
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name)[:80] or "run"


def metric_of(given: Arguments) -> str:
    """The metric that was asked for; `loss` when none was.

    Raises:
        WrongWords: There is no such metric.
    """
    wanted = given.options.get("metric", "loss")
    metric = METRICS.get(wanted.lower())
    if metric is None:
        near = difflib.get_close_matches(wanted.lower(), METRICS, n=1, cutoff=0.5)
        hint = f" Did you mean `{METRICS[near[0]]}`?" if near else ""
        raise WrongWords(f"There is no metric `{visible(wanted)[:40]}`; there are `loss`, `grad_norm` and `lr`.{hint}")
    return metric


def compare(one: RunSeries, other: RunSeries) -> Phrase:
    """How two runs stand at the newest step both have."""
    values = dict(zip(other.loss.steps, other.loss.values, strict=True))
    for step, value in zip(reversed(one.loss.steps), reversed(one.loss.values), strict=True):
        beside = values.get(step)
        if beside is not None and math.isfinite(value) and math.isfinite(beside):
            return compared(one.run, other.run, value - beside, step)
    return compared(one.run, other.run, None, None)


COMMAND = Command(
    name="loss",
    usage="RUN [--last 2h|500] [--steps A..B] [--metric grad_norm] [--vs OTHER] [--csv]",
    summary="The loss of a run: normal, watch or wrong, with its chart",
    examples=("run42", "run42 --last 2h", "run42 --steps 41000..41300 --metric grad_norm", "run42 --vs run40"),
    answer=answer,
)
