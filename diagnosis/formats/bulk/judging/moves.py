"""Moves `Changes` past points at which nothing changed."""
# ruff: noqa: SLF001 - a twin moves what it remembers

import numpy as np
from numpy.typing import NDArray

from diagnosis.changes import LENGTH_JUMP, LR_JUMP, Changes
from diagnosis.formats.bulk.decimal import Floats
from diagnosis.formats.bulk.judging.run import Run, first_of


class ChangesTwin:
    """Moves `Changes` past points with the same settings and a calm schedule."""

    def __init__(self, changes: Changes) -> None:
        self._of = changes

    def calm(self, run: Run) -> int:
        """How many points change nothing."""
        of, origin = self._of, run.block.origin
        if of._attempts.number != of._attempt or of._lead is None or (run.loss is not None and not of._lead_has_loss):
            return 0
        if of._lead is not origin and of._lead != origin:
            return len(run)
        if of._first_skip is not None or of._follows or of._unplaced or of.checkpoints.is_saving:
            return 0
        bad = np.zeros(len(run), np.bool_)
        for name in ("loss_scale", "batch_size", "epoch"):
            bad |= self._moved(run, name)
        bad |= self._longer(run)
        if run.lr is not None:
            bad |= self._turns(run.lr)
        return first_of(bad)

    def take(self, run: Run, count: int) -> None:
        """Move past them."""
        of = self._of
        if of._lead is not run.block.origin and of._lead != run.block.origin:
            return
        of._step = int(run.steps[count - 1])
        if run.times is not None:
            of._time = float(run.times[count - 1])
        if run.loss is not None or run.norm is not None:
            of._ring.extend(run.newest(count, of._ring.maxlen))
        length = run.field("sequence_length")
        if length is not None:
            of._last["sequence_length"] = max(float(length[:count].max()), of._last["sequence_length"])
        if run.lr is not None and of._lr is not None:
            rates = np.concatenate(([of._lr], run.lr[:count]))
            grown = np.sign(np.diff(rates))
            moved = np.flatnonzero(grown)
            if len(moved):
                of._direction = int(grown[moved[-1]])
            of._lr = float(rates[-1])

    def _moved(self, run: Run, name: str) -> NDArray[np.bool_]:
        """Points at which a setting is another one than before; all, where none is known yet."""
        column = run.field(name)
        if column is None:
            return np.zeros(len(run), np.bool_)
        known = self._of._last.get(name)
        if known is None:
            return np.ones(len(run), np.bool_)
        told: Floats = np.floor(column) if name == "epoch" else column
        moved: NDArray[np.bool_] = told != known
        return moved

    def _longer(self, run: Run) -> NDArray[np.bool_]:
        length, known = run.field("sequence_length"), self._of._last.get("sequence_length")
        if length is None:
            return np.zeros(len(run), np.bool_)
        if known is None:
            return np.ones(len(run), np.bool_)
        highest = np.maximum.accumulate(np.concatenate(([known], length)))[:-1]
        longer: NDArray[np.bool_] = ~(length < LENGTH_JUMP * highest)
        return longer

    def _turns(self, lr: Floats) -> NDArray[np.bool_]:
        """Points at which the learning rate leaps, or begins to rise or to fall."""
        of = self._of
        if of._lr is None:
            first: NDArray[np.bool_] = np.arange(len(lr)) == 0
            return first
        rates = np.concatenate(([of._lr], lr))
        before, now = rates[:-1], rates[1:]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = now / before
        moved = now != before
        odd = moved & ~((before > 0.0) & (now > 0.0) & (ratio > 1.0 / LR_JUMP) & (ratio < LR_JUMP))
        ways = np.sign(now - before)
        told = np.flatnonzero(moved)
        turned = np.zeros(len(lr), np.bool_)
        if len(told):
            earlier = np.concatenate(([of._direction], ways[told][:-1]))
            turned[told] = (earlier * ways[told]) < 0
        bad: NDArray[np.bool_] = odd | turned | ~np.isfinite(now)
        return bad
