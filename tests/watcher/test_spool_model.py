"""The spool's promise under any order of work, damage and restarts."""

import math
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from registry import wire
from tests.counts import examples
from tests.registry.values import finding
from tests.watcher.test_spool import reopened
from watcher import spool as spool_module
from watcher.records import Record, packed
from watcher.spool import Spool


class SpoolModel(RuleBasedStateMachine):
    """Any order of accepting, settling, bookmarking, damage and restarts keeps the promise."""

    @initialize()
    def begin(self):
        self.home = Path(os.environ["RUNWATCH_TEST_SPOOL"])
        shutil.rmtree(self.home, ignore_errors=True)
        self.spool = Spool(self.home)
        self.pending: dict[int, int] = {}
        self.used: dict[str, dict[int, int]] = {}
        self.offset = 0

    @rule(count=st.integers(1, 4))
    def accept(self, count):
        findings = [finding(self.offset + n) for n in range(count)]
        numbers = self.spool.accept_all(findings)
        used = self.used.setdefault(self.spool.epoch, {})
        for number in numbers:
            assert number not in used
            used[number] = self.pending[number] = self.offset
            self.offset += 1

    @rule(share=st.floats(0, 1))
    def settle(self, share):
        upto = math.floor(self.spool.last_number * share)
        self.spool.drop_delivered(upto)
        self.pending = {number: offset for number, offset in self.pending.items() if number > self.spool.delivered}

    @rule()
    def bookmark(self):
        self.spool.bookmarked()

    @rule()
    def restart(self):
        self.spool = reopened(self.spool)

    @precondition(lambda self: self.pending)
    @rule()
    def accept_again(self):
        number, offset = next(reversed(self.pending.items()))
        if self.spool.knows(finding(offset)):
            assert self.spool.accept(finding(offset)) == number

    @rule(garbage=st.binary(min_size=1, max_size=40))
    def tear(self, garbage):
        """A record that was begun and never finished."""
        self.spool.close()
        newest = max(self.home.glob("*.seg"))
        with newest.open("ab") as file:
            file.write(packed(Record(1, "key", garbage))[: len(garbage)])
        self.spool = Spool(self.home)

    @invariant()
    def holds_what_it_accepted(self):
        if hasattr(self, "spool"):
            held = {record.number: wire.decode(record.body).evidence[0].offset for record in self.spool.pending()}
            assert held == self.pending

    def teardown(self):
        if hasattr(self, "spool"):
            self.spool.close()


@pytest.mark.hypothesis
def test_the_spool_keeps_its_promise_in_any_order(tmp_path, monkeypatch):
    """Model test: see SpoolModel."""
    monkeypatch.setenv("RUNWATCH_TEST_SPOOL", str(tmp_path / "spool"))
    monkeypatch.setattr(spool_module, "SEGMENT_BYTES", 1500)
    run_state_machine_as_test(SpoolModel, settings=settings(max_examples=examples(30), stateful_step_count=20))
