"""Asks the nodes of a run that stands or broke why, once at a time, while the monitor goes on."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from diagnosis.detectors.line_words import words_for
from diagnosis.findings import Finding, Severity
from diagnosis.incidents import Incident, Tracker
from diagnosis.incidents.explaining import ABOUT, EXPLANATION, STALL, asked_beside, asks_for_a_cause
from diagnosis.observations import Category, Evidence, Origin
from diagnosis.root_cause import Diagnosis
from diagnosis.signatures import ROWS
from handlers.command import Desk
from handlers.explaining import look
from handlers.messages.causes import CAUSES, WAITS, cause, missing, reasons, steps
from handlers.messages.languages import ENGLISH, speaking
from handlers.messages.unseen import unseen
from registry import Run
from registry.errors import RegistryError

logger = logging.getLogger(__name__)

SETTLE_SECONDS = 1.5
"""So long after its first line an incident's cause is searched: others print theirs in the meantime."""
AGAIN_SECONDS = 20.0
"""Asked again after this, where nobody could be named and more was printed since."""
MOST_ASKED = 3
_INCIDENT = "incident "


@dataclass(slots=True)
class _Search:
    task: "asyncio.Task[Diagnosis | None]"
    began: float
    followed: int = 0
    """What the incident had gathered by then."""
    asked: int = 1
    is_told: bool = False

    @property
    def found(self) -> Diagnosis | None:
        """None: nothing yet, or the search failed."""
        return self.task.result() if self.task.done() and not self.task.cancelled() else None

    @property
    def is_open_question(self) -> bool:
        """Told, and nobody could be named."""
        found = self.found
        return self.is_told and (found is None or (found.culprit_rank is None and found.culprit_node is None))


class Causes:
    """Searches for causes, kept by what they are asked for: a run that stands, or an incident."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._searches: dict[str, _Search] = {}
        self.troubles: dict[str, str] = {}
        """Run → why its cause could not be searched."""

    def ask(self, run: Run, pace: Sequence[float], now: float, *, knows_numbers: bool = False) -> None:
        """Begin to ask why a run stands, if that was not begun; `knows_numbers` as `look` takes it."""
        if run.name not in self._searches:
            self._begin(run.name, run, pace, now, knows_numbers=knows_numbers)

    def is_asking(self, run: str) -> bool:
        """Whether the nodes have not answered yet."""
        return run in self._searches and not self._searches[run].task.done()

    def answer(self, run: str) -> Diagnosis | None:
        """Why a run stands; None: nothing was found."""
        return self._searches[run].found if run in self._searches else None

    def forget(self, name: str) -> None:
        """It is over."""
        search = self._searches.pop(name, None)
        if search is not None:
            search.task.cancel()

    def explain_incidents(self, run: Run, tracker: Tracker, pace: Sequence[float], now: float) -> list[Finding]:
        """What is news about the causes of a run's open incidents."""
        said: list[Finding] = []
        for incident in tracker.open_of(run.name):
            for about in ("", *asked_beside(incident)):
                name = _name(incident, about)
                if self._is_due(name, incident, now, about):
                    self._begin(name, run, pace, now, _gathered(incident), knows_numbers=bool(about))
                search = self._searches.get(name)
                if search is not None and search.task.done() and not search.is_told:
                    search.is_told = True
                    said.append(_explanation(run, incident, search, now, about))
        return said

    def tidy(self, tracker: Tracker) -> None:
        """Forget the searches for incidents that are over."""
        for name in [name for name in self._searches if name.startswith(_INCIDENT)]:
            incident = tracker.get(name.removeprefix(_INCIDENT).partition("/")[0])
            if incident is None or not incident.is_open:
                self.forget(name)

    async def settle(self) -> None:
        """Wait until all nodes that are being asked have answered or had their time."""
        await asyncio.gather(*(search.task for search in self._searches.values()), return_exceptions=True)

    def _begin(
        self, name: str, run: Run, pace: Sequence[float], now: float, followed: int = 0, *, knows_numbers: bool = False
    ) -> None:
        before = self._searches.get(name)
        task = asyncio.create_task(self._search(run, tuple(pace), knows_numbers=knows_numbers))
        self._searches[name] = _Search(task, now, followed, before.asked + 1 if before is not None else 1)

    def _is_due(self, name: str, incident: Incident, now: float, about: str) -> bool:
        """Whether to ask: what broke once, and a question that stayed open again when more was printed since."""
        if about:
            return name not in self._searches and now - incident.last_finding_at >= SETTLE_SECONDS
        search = self._searches.get(name)
        if search is None:
            is_old_enough = now - incident.opened_at >= SETTLE_SECONDS
            # A stall was asked for when it was seen; what the watchdog prints later may name whom nobody could.
            is_unnamed = incident.trouble == STALL and incident.head.origin.rank is None and not incident.is_explained
            return is_old_enough and (asks_for_a_cause(incident) or (is_unnamed and bool(incident.consequences)))
        has_more = _gathered(incident) > search.followed and now - search.began >= AGAIN_SECONDS
        return search.is_open_question and has_more and search.asked < MOST_ASKED

    async def _search(self, run: Run, pace: tuple[float, ...], *, knows_numbers: bool) -> Diagnosis | None:
        try:
            picture, _, _ = await look(self._desk, run, pace, explains=True, knows_numbers=knows_numbers)
        except RegistryError as away:
            logger.warning("The nodes of %r cannot be asked why it stopped: %s", run.name, away)
            return None
        except Exception as failure:  # an incident is told without its cause rather than not at all
            logger.exception("The cause of the stop of %r cannot be searched", run.name)
            self.troubles[run.name] = f"the search for a cause: {type(failure).__name__}: {failure}"
            return None
        self.troubles.pop(run.name, None)
        return picture.diagnosis


def details_of(why: Diagnosis, *, is_said: bool = False) -> dict[str, str]:
    """What a finding's message tells of its cause; `is_said`: its first line tells already what it was."""
    with speaking(ENGLISH):  # kept as it is written here, and said in the reader's language
        first = cause(why, is_known=is_said).plain
        told = [first[:1].upper() + first[1:], *(reason.plain for reason in reasons(why))]
    details = {"more": "\n".join(line for line in told if line), "next": "\n".join(steps(why))}
    return details | {"unseen": unseen(missing(why)), "cause": str(why.category)}


def origin_of(run: Run, why: Diagnosis | None, node: str | None = None) -> Origin:
    """Whom it names, where that is more than a guess; of a crash it is the cause that may be one, not the rank."""
    if why is None or (why.confidence == "low" and why.category in WAITS):
        return Origin(run.name, node)
    return Origin(run.name, why.culprit_node or node, why.culprit_rank, why.culprit_local_rank)


def _explanation(run: Run, incident: Incident, search: _Search, now: float, about: str) -> Finding:
    """What the search found, for the tracker; without details it only says that the search is over."""
    why = search.found
    details = {"incident": incident.id, "asked": str(search.asked)} | ({ABOUT: about} if about else {})
    text = "the nodes were asked for the cause"
    evidence: tuple[Evidence, ...] = ()
    if why is not None and why.category is not Category.NONE:
        is_said = (about or incident.trouble) == why.category
        details |= {**details_of(why, is_said=is_said), **why.details, "category": str(why.category)}
        text = _said(why)
        evidence = (why.evidence,) if why.evidence is not None else ()
    return Finding(
        kind=EXPLANATION,
        severity=Severity.WARNING,
        origin=origin_of(run, why, incident.head.origin.node),
        text=text,
        evidence=evidence,
        step=why.first_bad_step if why is not None else None,
        seen_at=now,
        rule=f"{why.signature or why.category}, confidence {why.confidence}" if why is not None else "",
        details=details,
        attempt=incident.attempt,
    )


def _said(why: Diagnosis) -> str:
    """What happened, in words that may stand in a title: a raw line of a log is evidence, not a title."""
    if why.signature in ROWS:
        return words_for(why.signature, why.category, why.details)
    return why.because[0] if why.because else CAUSES[why.category]


def _name(incident: Incident, about: str) -> str:
    return f"{_INCIDENT}{incident.id}/{about}" if about else f"{_INCIDENT}{incident.id}"


def _gathered(incident: Incident) -> int:
    return sum(incident.consequences.values()) + len(incident.subjects)
