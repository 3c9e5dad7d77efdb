"""The chart of an incident, brought into its thread after the message, tried again, and in the end said in words.

When the picture changed (it is over, it got worse, it came back) a new chart takes the place of the old one: many
changes in a short time are one chart, and a thread holds one.
"""

import asyncio
import hashlib
import logging
from collections import Counter
from collections.abc import Coroutine, Sequence
from functools import partial

from bot import records
from bot.pacing import PATIENT
from bot.records import MISSING, NO_CHART, SHOWN, Record
from bot.slack import Shared, Slack
from bot.slack_answers import Answer, Outcome
from charts import Look, draw_incident, draw_loss
from charts.painter import ChartFailed
from diagnosis.errors import Mistake
from diagnosis.incidents import Incident
from diagnosis.observations import Category
from diagnosis.series import RunSeries
from diagnosis.wording import first_clause
from handlers.command import Draw
from handlers.loss import file_word
from handlers.messages.languages import speaking
from handlers.messages.phrase import Clause, say
from handlers.messages.replies import chart_missing
from handlers.tongues import channel_language
from registry import Registry
from registry.ending import end_all
from registry.errors import RegistryError

logger = logging.getLogger(__name__)

AT_ONCE = 2
SETTLE_SECONDS = 0.6
"""The step lines around a finding follow it by another way; a moment later the chart has them."""
CATCH_UP_SECONDS = 5.0
"""At most so long a chart waits for the line of the bad step."""
ATTEMPT_POINTS = 64
"""Among so many newest points it is looked for: after a restart the steps count on from further back."""
REDRAW_SECONDS = 5.0
"""After a change so long, in which others may follow: the curve has gone on a little by then."""
APART_SECONDS = 60.0
"""Between two charts of one thread."""
ABOUT_NUMBERS = frozenset({Category.NAN_INF, Category.LOSS_SPIKE, Category.SLOWDOWN})


class Pictures:
    """Draws and uploads, one thread after another; never in the way of a message."""

    def __init__(
        self,
        registry: Registry,
        slack: Slack,
        draw: Draw,
        *,
        tries: int = 4,
        command: str = "/loss",
        redraw_seconds: float = REDRAW_SECONDS,
        apart_seconds: float = APART_SECONDS,
    ) -> None:
        self._registry = registry
        self._slack = slack
        self._draw = draw
        self._tries = tries
        self._command = command
        self._redraw_after = redraw_seconds
        self._apart = apart_seconds
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._tasks: set[asyncio.Task[None]] = set()
        self._shown: dict[str, tuple[str, float]] = {}
        """Incident → the state its chart shows, and since when."""
        self._newest: dict[str, Record] = {}
        self._redraws: dict[str, Record] = {}
        """Incident → what is to be drawn anew."""
        self._busy: Counter[str] = Counter()
        self._leaving: set[str] = set()
        """Over and shown, but for a chart that is on its way."""

    def want(self, record: Record) -> None:
        """The thread of this incident should have a chart."""
        self._start(record.incident.id, self._bring(record))

    def know(self, record: Record) -> None:
        """An earlier bot brought its chart."""
        self._shown[record.incident.id] = (state_of(record.incident), 0.0)

    def changed(self, record: Record) -> None:
        """The root reads anew: where its chart tells another story, a new one is drawn."""
        name = record.incident.id
        state, at = self._shown.get(name, ("", 0.0))
        if record.ts is None:
            return
        self._leaving.discard(name)
        if not state:
            # Its first chart may be on the way, and tell what was true before.
            self._newest[name] = record
            return
        if name in self._redraws:
            self._redraws[name] = record
        elif state != state_of(record.incident):
            self._redraws[name] = record
            waits = at + self._apart - asyncio.get_running_loop().time()
            self._start(name, self._redraw(name, max(self._redraw_after, waits)))

    def forget(self, incidents: Sequence[str]) -> None:
        """These are over and shown."""
        self._leaving.update(incidents)
        for name in incidents:
            self._leave(name)

    def _leave(self, name: str) -> None:
        if name in self._leaving and name not in self._busy:
            self._leaving.discard(name)
            self._shown.pop(name, None)
            self._newest.pop(name, None)

    def _start(self, name: str, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        self._busy[name] += 1
        task.add_done_callback(partial(self._end, name))

    def _end(self, name: str, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._busy[name] -= 1
        if not self._busy[name]:
            del self._busy[name]
        self._leave(name)

    async def _redraw(self, name: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        record = self._redraws.pop(name)
        if self._shown.get(name, ("", 0.0))[0] != state_of(record.incident):
            await self._bring(record)

    async def stop(self) -> None:
        """Leave what is not begun; the next reign brings it."""
        await end_all(self._tasks)
        self._shown.clear()
        self._newest.clear()
        self._redraws.clear()
        self._leaving.clear()

    async def _bring(self, record: Record) -> None:
        async with self._slots:
            try:
                await asyncio.sleep(SETTLE_SECONDS)
                became = await self._try(record)
                if became == SHOWN:
                    now = asyncio.get_running_loop().time()
                    self._shown[record.incident.id] = (state_of(record.incident), now)
                    if (newest := self._newest.pop(record.incident.id, None)) is not None:
                        self.changed(newest)
                await records.save_chart(self._registry, record, became)
            except RegistryError as away:
                logger.warning("The chart of %s waits for the registry: %s", record.incident.id, away)
            except Exception:
                logger.exception("The chart of %s failed", record.incident.id)

    async def _try(self, record: Record) -> str:
        assert record.channel is not None
        assert record.ts is not None
        head = f"{file_word(record.incident.run)}-{record.incident.id}-"
        name = f"{head}{state_of(record.incident)}.png"
        there = await self._slack.files_in(record.channel, record.ts) or {}
        older = [shared for known, shared in there.items() if known.startswith(head) and known != name]
        if name in there:
            await self._remove(record.channel, older)
            return SHOWN
        try:
            drawn = await self._drawn(record.incident)
        except (ChartFailed, Mistake) as failed:
            return await self._say_missing(record, str(failed).rstrip("."))
        if drawn is None:
            return NO_CHART
        answer, wait = Answer(Outcome.AWAY), 1.0
        with speaking(await channel_language(self._registry, record.channel)):
            title = _title(record.incident)
        for left in range(self._tries - 1, -1, -1):
            answer = await self._slack.upload(name, drawn, title, record.channel, record.ts)
            if answer.is_ok or await self._arrived(answer, record.channel):
                await self._remove(record.channel, older)
                return SHOWN
            if answer.outcome is Outcome.REFUSED or not left:
                break
            await asyncio.sleep(max(wait, answer.retry_after))
            wait *= 2
        if older:
            # The older chart stays: nothing is missing that a line would have to tell.
            logger.warning("No new chart for %s: %s", record.incident.id, answer.error or answer.outcome)
            return SHOWN
        return await self._say_missing(record, answer.error or str(answer.outcome))

    async def _remove(self, channel: str, older: Sequence[Shared]) -> None:
        """A thread holds one chart; one that Slack will not take back does no harm."""
        for shared in older:
            answer = await self._slack.remove(channel, shared)
            if not answer.is_ok:
                logger.info("An older chart stays: %s", answer.error or answer.outcome)

    async def _arrived(self, answer: Answer, channel: str) -> bool:
        """An upload without a clear answer is looked for before it is repeated."""
        file = str(answer.data.get("file_id", ""))
        if answer.outcome is not Outcome.UNCLEAR or not file:
            return False
        await asyncio.sleep(1.0)
        return bool(await self._slack.is_shared(file, channel))

    async def _say_missing(self, record: Record, why: str) -> str:
        logger.warning("No chart for %s: %s", record.incident.id, why)
        assert record.channel is not None
        with speaking(await channel_language(self._registry, record.channel)):
            said = chart_missing(record.incident.run, why, self._command)
        await self._slack.post(record.channel, said, thread_ts=record.ts, priority=PATIENT)
        return MISSING

    async def _caught_up(self, incident: Incident) -> RunSeries:
        """The run's numbers, with the bad step among them as soon as its line has come by its own way."""
        step, patience = incident.head.step, CATCH_UP_SECONDS
        series = await self._registry.series.whole(incident.run)
        while step is not None and incident.trouble in ABOUT_NUMBERS and patience > 0 and not _shows(series, step):
            await asyncio.sleep(SETTLE_SECONDS)
            patience -= SETTLE_SECONDS
            series = await self._registry.series.whole(incident.run)
        return series

    async def _drawn(self, incident: Incident) -> bytes | None:
        """The chart that fits the trouble; None: there are no numbers to draw."""
        series = await self._caught_up(incident)
        if len(series.loss) < 2 and len(series.grad_norm) < 2:
            return None
        head = incident.head
        if incident.trouble in ABOUT_NUMBERS and head.step is not None:
            return await self._draw(
                draw_incident,
                series,
                Look.LIGHT,
                bad_step=float(head.step),
                last_good_step=None if head.last_good_step is None else float(head.last_good_step),
                kind=head.kind,
                metric=_metric_of(head.kind, series),
            )
        return await self._draw(draw_loss, series, Look.LIGHT, title_facts=_facts(incident))


def _shows(series: RunSeries, step: float) -> bool:
    return any(len(one) and max(one.steps[-ATTEMPT_POINTS:]) >= step for one in (series.loss, series.grad_norm))


def _metric_of(kind: str, series: RunSeries) -> str:
    wanted = "grad_norm" if "grad_norm" in kind else "loss"
    return wanted if len(getattr(series, wanted)) else "loss"


def _facts(incident: Incident) -> Sequence[str]:
    return (incident.head.text.split(";")[0][:80],)


def _title(incident: Incident) -> str:
    form = "{run} · {what}" if incident.is_open else "{run} · over: {what}"
    return say(form, run=incident.run, what=Clause(first_clause(incident.head.text))).plain[:150]


def state_of(incident: Incident) -> str:
    """Four letters that are others when the chart would tell another story."""
    lives = sum(entry.what == "reopened" for entry in incident.entries)
    parts = (incident.is_open, incident.severity.value, incident.trouble, incident.head.kind, incident.attempt, lives)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:4]
