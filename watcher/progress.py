"""How far the ranks of a run got, as this node sees it, and the run's newest numbers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from diagnosis.observations import (
    AttemptMark,
    Evidence,
    GpuSample,
    Heartbeat,
    HostSample,
    Observation,
    Origin,
    Phase,
    PhaseMark,
    RankProgress,
    StepSample,
)
from watcher.masking import masked_evidence, masked_facts

_FACTS = {
    "total_steps": "total_steps",
    "step_seconds": "step_seconds",
    "tokens_per_second": "tokens_per_second",
    "batch_size": "batch_size",
    "loss_scale": "loss_scale",
}
"""Extra fields of a step line that say something of the whole run."""

Key = tuple[str | None, int | None, int | None]


@dataclass(slots=True)
class _Rank:
    origin: Origin
    attempt: int
    step: int | None = None
    progressed_at: float | None = None
    heard_at: float | None = None
    phase: Phase = Phase.INITIALISING
    evidence: Evidence | None = None
    is_fresh: bool = False
    """False: known only from before a restart; whoever wrote it then knows better when it was."""
    has_changed: bool = False

    def said(self) -> RankProgress:
        evidence = masked_evidence(self.evidence) if self.evidence is not None else None
        return RankProgress(self.origin, self.step, self.progressed_at, self.heard_at, self.phase, evidence)


class Progress:
    """Progress of each rank, and the facts of the run."""

    def __init__(self) -> None:
        self.facts: dict[str, Any] = {}
        """What `runs.see` is told."""
        self._ranks: dict[Key, _Rank] = {}
        self._by_number: dict[int | None, list[_Rank]] = {}

    @property
    def world_size(self) -> int | None:
        """How many ranks there are, where a banner told it."""
        told = str(self.facts.get("environment", {}).get("world_size", ""))
        return int(told) if told.isdecimal() and len(told) < 8 else None

    def observe(self, seen: Observation, attempt: int, at: float, *, is_news: bool) -> None:
        """Take one observation; `at` is when it was written, on the registry's clock as far as that is known."""
        if isinstance(seen, GpuSample | HostSample | Heartbeat):
            return
        rank = self._rank(seen.origin, attempt)
        rank.has_changed = True
        if is_news:
            rank.heard_at, rank.is_fresh = at, True
        if isinstance(seen, StepSample):
            self._take_step(rank, seen, attempt, at, is_news=is_news)
        elif isinstance(seen, PhaseMark):
            rank.phase = seen.phase if seen.begins else Phase.TRAINING
            rank.evidence = seen.evidence
            if seen.phase is Phase.SAVING:
                self._take_checkpoint(seen)
        elif isinstance(seen, AttemptMark):
            rank.phase = Phase.INITIALISING
            if seen.environment:
                self.facts["environment"] = {**self.facts.get("environment", {}), **masked_facts(seen.environment)}
        rank.attempt = attempt

    def heard(self, ranks: Iterable[int | None], at: float) -> None:
        """A line of some kind came from these ranks."""
        for number in ranks:
            for rank in self._by_number.get(number, ()):
                if rank.heard_at is None or at > rank.heard_at:
                    rank.heard_at, rank.is_fresh, rank.has_changed = at, True, True

    def move(self, seconds: float) -> None:
        """All that was noted was so much later: the clock was not known yet."""
        if not seconds:
            return
        for rank in self._ranks.values():
            rank.progressed_at = None if rank.progressed_at is None else rank.progressed_at + seconds
            rank.heard_at = None if rank.heard_at is None else rank.heard_at + seconds
            rank.has_changed = True
        if "last_progress" in self.facts:
            self.facts["last_progress"] += seconds

    def changed(self) -> list[RankProgress]:
        """What is new since the last call."""
        found = [rank for rank in self._ranks.values() if rank.has_changed and rank.is_fresh]
        for rank in found:
            rank.has_changed = False
        return [rank.said() for rank in found]

    def changed_again(self, progress: Iterable[RankProgress]) -> None:
        """It could not be told: tell it next time."""
        for one in progress:
            self._ranks[_key(one.origin)].has_changed = True

    def all(self) -> list[RankProgress]:
        """Every rank of which anything is known."""
        return [rank.said() for rank in self._ranks.values()]

    def vouch(self, known: Iterable[RankProgress]) -> None:
        """Let what is known only from before a restart stand where the registry knows nothing at all."""
        there = {_key(one.origin) for one in known}
        for key, rank in self._ranks.items():
            if key not in there:
                rank.is_fresh = True

    def _rank(self, origin: Origin, attempt: int) -> _Rank:
        key = _key(origin)
        rank = self._ranks.get(key)
        if rank is None:
            rank = self._ranks[key] = _Rank(origin, attempt)
            self._by_number.setdefault(origin.rank, []).append(rank)
        return rank

    def _take_step(self, rank: _Rank, seen: StepSample, attempt: int, at: float, *, is_news: bool) -> None:
        before = rank.step if rank.attempt == attempt else None
        is_training = "eval_loss" not in seen.fields
        if is_training and seen.step is not None and (before is None or seen.step > before):
            rank.step, rank.evidence, rank.phase = seen.step, seen.evidence, Phase.TRAINING
            rank.progressed_at = at if is_news else seen.time
        self._take_facts(seen, at, is_news=is_news, is_training=is_training)

    def _take_checkpoint(self, seen: PhaseMark) -> None:
        step = seen.step if seen.step is not None else self.facts.get("last_step")
        if step is not None:
            self.facts["checkpoint"] = step

    def _take_facts(self, seen: StepSample, at: float, *, is_news: bool, is_training: bool) -> None:
        facts = self.facts
        if seen.loss is not None:
            facts["last_loss"] = seen.loss
        if seen.grad_norm is not None:
            facts["last_grad_norm"] = seen.grad_norm
        if seen.lr is not None:
            facts["last_lr"] = seen.lr
        if is_training and seen.step is not None:
            facts["last_step"] = seen.step
            facts.setdefault("first_step", seen.step)
            if is_news:
                facts["last_progress"] = at
        if seen.fields:
            facts.update(_extra(seen.fields))


def _extra(fields: Mapping[str, float]) -> dict[str, float | int]:
    found: dict[str, float | int] = {fact: fields[name] for name, fact in _FACTS.items() if name in fields}
    if "total_steps" in found:
        found["total_steps"] = int(found["total_steps"])
    return found


def _key(origin: Origin) -> Key:
    return (origin.node, origin.rank, origin.local_rank)
