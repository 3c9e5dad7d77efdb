"""Says what a line tells besides steps: skips, phases, new attempts, telling lines, tracebacks."""

import re

from diagnosis import signatures
from diagnosis.formats import notices, overflow
from diagnosis.formats.line import Line
from diagnosis.formats.memory import Memory
from diagnosis.formats.numbers import parse_number
from diagnosis.formats.phases import step_beside
from diagnosis.formats.rules import BannerRule, FactRule, HintRule, PhaseRule, Rule, SkipRule
from diagnosis.formats.sampling import Sampler
from diagnosis.observations import Evidence, OptimizerSkip, Phase, PhaseMark, StepSample

_ENDED_AT = re.compile(r"['\"]epoch['\"]: ?['\"]?(\d+(?:\.\d+)?)")
_NO_EVIDENCE = Evidence("", None, "")


class Noticer:
    """Reads lines for what they say that is no step."""

    def __init__(self, memory: Memory, sampler: Sampler) -> None:
        self._memory = memory
        self._sampler = sampler

    def notice(self, line: Line) -> bool:
        """Say everything the line tells; True when something in it was understood."""
        text = line.text
        memory = self._memory
        if "Traceback (most recent call last)" in text:
            memory.tracebacks += 1
        if not notices.may_tell(text):
            return False
        is_known = notices.may_say(text) and self._apply_rules(line)
        # Most lines with a needle still tell nothing: time, rank and evidence are found only for one that does.
        if signatures.may_match(text) and signatures.match(text, line.origin, _NO_EVIDENCE):
            memory.place(line)
            memory.out.extend(
                signatures.match(text, line.origin, line.evidence(memory.file), line.time, memory.seen_at)
            )
            is_known = True
        return is_known

    def mark_phase(self, line: Line, phase: Phase, *, begins: bool = True, step: int | None = None) -> None:
        """Say that a phase begins or is over."""
        memory = self._memory
        memory.out.append(
            PhaseMark(
                line.origin,
                phase,
                begins,
                line.evidence(memory.file),
                step=step,
                time=line.time,
                seen_at=memory.seen_at,
            )
        )

    def _apply_rules(self, line: Line) -> bool:
        is_known = has_phase = False
        for rule, match in notices.told_by(line.text):
            if isinstance(rule, PhaseRule):
                if not has_phase:
                    self._say_phase(line, rule, match)
                has_phase = is_known = True
            elif isinstance(rule, FactRule):
                self._memory.note_fact(rule.name, match[1])
            elif isinstance(rule, HintRule):
                self._take_hint(line, rule.name, match[1])
            else:
                is_known = True
                self._say(line, rule)
        return is_known

    def _say(self, line: Line, rule: Rule) -> None:
        if isinstance(rule, SkipRule):
            self._say_skip(line)
        elif isinstance(rule, BannerRule) and self._memory.may_open_attempt:
            self._sampler.flush_all()  # what still waits is of the attempt before
            self._memory.open_attempt()
            self._memory.place(line)
            self._memory.mark_attempt(line, rule.why)

    def _take_hint(self, line: Line, name: str, number: str) -> None:
        value = int(number.replace(",", ""))
        stream = self._memory.stream_of(line.stream)
        self._sampler.keep_up(stream)
        if name == "total_steps":
            stream.bars.expect(value)
            stream.implied.total = value
        elif name == "logging_steps":
            stream.implied.tell_interval(value)
        elif name == "epochs":
            stream.implied.epochs = value

    def _say_skip(self, line: Line) -> None:
        memory = self._memory
        memory.place(line)
        memory.out.append(
            OptimizerSkip(
                line.origin,
                1,
                line.evidence(memory.file),
                loss_scale=overflow.scale_after(line.text),
                time=line.time,
                seen_at=memory.seen_at,
            )
        )

    def _say_phase(self, line: Line, rule: PhaseRule, match: re.Match[str]) -> None:
        memory = self._memory
        memory.place(line)
        said = match.groupdict()
        step = int(said["step"]) if said.get("step") else step_beside(line.text)
        eval_loss = parse_number(said["eval_loss"] or "") if said.get("eval_loss") else None
        if eval_loss is not None:
            memory.out.append(
                StepSample(
                    line.origin,
                    step,
                    "printed" if step is not None else "none",
                    None,
                    line.evidence(memory.file),
                    time=line.time,
                    seen_at=memory.seen_at,
                    fields={"eval_loss": eval_loss},
                )
            )
        if rule.phase is Phase.FINISHED:
            stream = memory.stream_of(line.stream)
            self._sampler.flush(stream)
            stream.bars.is_over = True
            if "train_runtime" in line.text:
                ended = _ENDED_AT.search(line.text)
                stream.bars.sum_up(float(ended[1]) if ended is not None else None)
        self.mark_phase(line, rule.phase, begins=rule.begins, step=step)
