"""Gathers what a report tells, draws its pictures, and writes it twice: Markdown and HTML."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence

from charts import Look, draw_incident, draw_loss
from charts.painter import ChartFailed
from diagnosis.errors import Mistake
from diagnosis.incidents import Incident
from diagnosis.observations import Category
from diagnosis.series import RunSeries
from handlers.command import Desk, NotKnownNow, Reply, Say, Upload
from handlers.kept import kept_of
from handlers.loss import file_word
from handlers.messages.phrase import say
from handlers.messages.report import report_answer
from handlers.reports.markdown import to_markdown
from handlers.reports.post_mortem import Told, post_mortem
from handlers.reports.web import to_html
from handlers.shown_runs import few_as_shown
from registry import Run
from registry.audit import Entry as Effect

logger = logging.getLogger(__name__)

MOST_INCIDENTS = 50
MOST_PICTURES = 12
MOST_EFFECTS = 200
EFFECTS_LOOKED_AT = 2000
ABOUT_NUMBERS = frozenset({Category.NAN_INF, Category.LOSS_SPIKE, Category.SLOWDOWN})


async def make_report(desk: Desk, run: Run, *, only: str = "") -> AsyncIterator[Reply]:
    """The report of a run, or of one incident of it, as two files."""
    told = await gather(desk, run, only=only)
    yield Say(report_answer(run.name, told.incidents, only=bool(only)))
    document = post_mortem(told)
    name = f"{file_word(run.name)}-{only or 'report'}"
    title = say("{run} · what happened", run=run.name).plain
    yield Upload(f"{name}.html", await asyncio.to_thread(lambda: to_html(document, title).encode()), title)
    yield Upload(f"{name}.md", to_markdown(document).encode(), title)


async def gather(desk: Desk, run: Run, *, only: str = "") -> Told:
    """Everything the report tells."""
    found = await desk.registry.incidents.of_run(run.name, MOST_INCIDENTS)
    kept = [one.incident for name, fields in found.items() if only in ("", name) and (one := kept_of(fields))]
    incidents = sorted(kept, key=lambda one: one.opened_at)
    effects = await _effects(desk, run, incidents)
    series = await desk.registry.series.whole(run.name)
    (shown,) = await few_as_shown(desk, [run])
    return Told(
        shown,
        incidents,
        await desk.registry.runs.attempts(run.name),
        effects,
        await desk.registry.clock.estimate(),
        await _names(desk, incidents, effects),
        await _pictures(desk, series, incidents),
    )


async def _effects(desk: Desk, run: Run, incidents: Sequence[Incident]) -> list[Effect]:
    """What people did about this run: by its name, by its incidents."""
    names = {run.name.lower(), *(one.id for one in incidents)}
    newest = await desk.registry.audit.newest(EFFECTS_LOOKED_AT)
    mine = [one for one in newest if one.target.lower() in names or names & set(one.words.lower().split()[:2])]
    return list(reversed(mine[:MOST_EFFECTS]))


async def _names(desk: Desk, incidents: Sequence[Incident], effects: Sequence[Effect]) -> dict[str, str]:
    wanted = {entry.by for one in incidents for entry in one.entries} | {one.user for one in effects}
    wanted |= {who for one in incidents for who in (one.acknowledged_by, one.resolved_by)}
    names = {}
    for user in sorted(wanted - {""}):
        try:
            names[user] = (await desk.people.names_of(user))[0]
        except NotKnownNow:
            names[user] = user
    return names


async def _pictures(desk: Desk, series: RunSeries, incidents: Sequence[Incident]) -> dict[str, bytes]:
    """The run's own chart, and one for each incident that is about numbers."""
    if len(series.loss) < 2:
        return {}
    pictures = {}
    try:
        pictures[""] = await desk.draw(draw_loss, series, Look.LIGHT)
        for incident in incidents[-MOST_PICTURES:]:
            head = incident.head
            if incident.trouble not in ABOUT_NUMBERS or head.step is None:
                continue
            metric = "grad_norm" if "grad_norm" in head.kind and len(series.grad_norm) else "loss"
            good = None if head.last_good_step is None else float(head.last_good_step)
            pictures[incident.id] = await desk.draw(
                draw_incident,
                series,
                Look.LIGHT,
                bad_step=float(head.step),
                last_good_step=good,
                kind=head.kind,
                metric=metric,
            )
    except (ChartFailed, Mistake) as failed:
        logger.warning("A picture of the report is missing: %s", failed)
    return pictures
