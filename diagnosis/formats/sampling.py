"""Makes samples of what dialects have read: whose step it is, which step of the run, and which attempt."""

from collections.abc import Iterable

from diagnosis.formats import drafts, echoes
from diagnosis.formats.bars import Bar
from diagnosis.formats.dialects import GENERAL
from diagnosis.formats.echoes import KEPT_CALLBACKS, Call
from diagnosis.formats.hygiene import MAX_EVIDENCE
from diagnosis.formats.implied_steps import Waiting
from diagnosis.formats.line import Line
from diagnosis.formats.line_format import Found, Values
from diagnosis.formats.memory import Memory
from diagnosis.formats.record import Step
from diagnosis.formats.steps import Steps
from diagnosis.formats.stream import Stream
from diagnosis.observations import Origin, StepKind, StepSample

BAR = "progress bar"
PAIRED = "deepspeed pipeline"
_PAIRED_WITH = "megatron"


class Sampler:
    """Turns values into samples, in the order in which their steps become known."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._counters: dict[tuple[int, str], Steps] = {}

    def take(self, line: Line, values: Values, name: str, found: Found) -> None:
        """A step that stands on one line."""
        if found.settle is not None and not found.settle(values):
            return
        memory = self._memory
        stream = memory.streams.get(id(line.stream)) or memory.stream_of(line.stream)
        stream.remember(line.printed, line.number)
        if stream.bars.pending is not None:
            self.release_bars(stream)
        if stream.paired is not None:
            self._release_pair(stream, values if name == _PAIRED_WITH else None)
        is_implied = found.kind == "implied" and "step" not in values
        if stream.echoed is not None:
            self._release_echo(stream, line, values if is_implied else None)
        if is_implied and echoes.is_echo(line.text):
            if stream.told is None or not echoes.tells_again(stream.told, values):
                stream.echoed = Step(values, line, name, found.kind)
        elif is_implied:
            stream.told = echoes.told_by(values)
            call = echoes.called_back(stream.called_back, values) if stream.called_back else None
            if call is None:
                self._imply(stream, line, values, name)
            else:
                told_already = {"loss", "epoch"} if call.is_point else set()
                news = {key: value for key, value in values.items() if key not in told_already}
                self._emit(line, {**news, "step": float(call.step)}, name, "printed")
        elif name == PAIRED:
            stream.paired = Step(values, line, name)
        else:
            self._emit(line, values, name, "printed" if found.kind == "implied" else found.kind)
            if name == GENERAL.name:
                told = memory.out[-1]
                if isinstance(told, StepSample) and told.step is not None and told.loss is not None:
                    stream.called_back.append(Call(told.step, told.loss, is_point=True))

    def call_back(self, stream: Stream, values: Values) -> bool:
        """A line that tells step and loss of a dict: one that waits for its step, the newest one again, or the next."""
        loss, step = values["loss"], values["step"]
        for place, waiting in enumerate(stream.implied.waiting):
            if echoes.is_same_loss(loss, waiting.values.get("loss")):
                told = stream.implied.tell(place, int(step))
                self._emit(told.line, {**told.values, "step": step}, told.name, "printed")
                return True
        if stream.told is not None and echoes.is_same_loss(loss, stream.told.get("loss")):
            return True
        stream.called_back.append(Call(int(step), loss, is_point=False))  # its dict may be held back in a buffer
        return len(stream.called_back) < KEPT_CALLBACKS

    def take_all(self, steps: Iterable[Step]) -> None:
        """Steps that records have completed."""
        for step in steps:
            if step.settle is not None and not step.settle(step.values):
                continue
            self._memory.place(step.line)
            if step.kind == "implied" and "step" not in step.values:
                self._imply(self._memory.stream_of(step.line.stream), step.line, step.values, step.name)
            else:
                self._emit(step.line, step.values, step.name, step.kind)

    def take_bars(self, stream: Stream, bars: Iterable[Bar]) -> None:
        """Bars that will not be redrawn for the same count any more."""
        for bar in bars:
            self.keep_up(stream)
            if "loss" not in bar.values:
                if stream.bars.saw_zero:
                    stream.implied.begin()
                self._emit_implied(stream.implied.redraw(bar.n, bar.total, bar.seconds))
            if bar.is_news:
                self._emit(bar.line, bar.values, BAR, "printed")

    def release_bars(self, stream: Stream) -> None:
        """Another line follows the bar."""
        self.take_bars(stream, stream.bars.release())

    def flush(self, stream: Stream) -> None:
        """Nothing more comes in this stream for now."""
        done: list[Step] = []
        stream.flush_records(done)
        self.take_all(done)
        self.release_bars(stream)
        self._release_pair(stream, None)
        self._release_echo(stream, None, None)
        self._emit_implied(stream.implied.flush())

    def flush_all(self) -> None:
        """Nothing more comes at all for now."""
        for stream in list(self._memory.streams.values()):
            self.flush(stream)

    def flush_late(self, now: float, seconds: float) -> None:
        """Give out what has waited so long for a bar that was never drawn, while other lines came."""
        for stream in self._memory.streams.values():
            implied = stream.implied
            since = implied.waits_since if implied.waits_since is not None else now
            if implied.waiting and implied.bar is None and abs(now - since) >= seconds:
                self._emit_implied(implied.flush())

    def forget(self) -> None:
        """Let go of all streams and counters: there are more than any job has ranks."""
        self.flush_all()
        self._memory.streams.clear()
        self._memory.dialects.clear()
        self._counters.clear()

    def counter_of(self, origin: Origin, name: str) -> Steps | None:
        """The counter that goes on with the next line of an origin in a dialect; None: there is none yet."""
        counter = self._counters.get((id(origin), name))
        return counter if counter is not None and counter.attempt == self._memory.attempt else None

    def _imply(self, stream: Stream, line: Line, values: Values, name: str) -> None:
        self.keep_up(stream)
        if stream.bars.trains_again(values.get("epoch")):
            self._begin_again(stream, line)
        self._emit_implied(stream.implied.take(Waiting(values, line, name, None), self._memory.seen_at))

    def keep_up(self, stream: Stream) -> None:
        """Let a stream begin anew with the source's new attempt."""
        if stream.attempt != self._memory.attempt:
            stream.restart(self._memory.attempt)

    def _begin_again(self, stream: Stream, line: Line) -> None:
        """The trainer has summed up and prints a loss: it trains again, and the bar since then was no evaluation's."""
        bar = stream.bars.since_end
        self._memory.attempt += 1
        self._memory.mark_attempt(line, "the trainer trains again")
        self.keep_up(stream)
        if bar is not None:
            stream.bars.expect(bar.total)
            stream.implied.begin()
            self._emit_implied(stream.implied.redraw(bar.n, bar.total, bar.seconds))

    def _emit_implied(self, steps: Iterable[tuple[Waiting, int, StepKind]]) -> None:
        for waiting, number, kind in steps:
            waiting.values["step"] = float(number)
            self._emit(waiting.line, waiting.values, waiting.name, kind)

    def _release_pair(self, stream: Stream, repeated: Values | None) -> None:
        """Megatron's own line tells the same step with more digits; without it the pipeline's line counts."""
        paired, stream.paired = stream.paired, None
        if paired is not None and (repeated is None or repeated.get("step") != paired.values.get("step")):
            self._emit(paired.line, paired.values, paired.name, paired.kind)

    def _release_echo(self, stream: Stream, line: Line | None, repeated: Values | None) -> None:
        """The trainer's own dict tells the same step with more and takes the logger's time; alone the echo counts."""
        echoed, stream.echoed = stream.echoed, None
        if echoed is None:
            return
        if line is None or repeated is None or not echoes.tells_again(echoed.values, repeated):
            self._imply(stream, echoed.line, echoed.values, echoed.name)
        elif line.time is None:
            line.time = echoed.line.time

    def _emit(self, line: Line, values: Values, name: str, kind: StepKind) -> None:
        memory = self._memory
        origin = line.origin
        steps = self._counters.get((id(origin), name))
        if steps is None:
            steps = self._counters[id(origin), name] = self._new_counter(origin, name)
        if steps.attempt != memory.attempt:
            steps.restart(memory.attempt)
        number = steps.whole(values)
        if number is None and kind == "ordinal":
            number = steps.place()
        if number is not None and kind == "samples" and "loss" not in values and steps.is_block(number):
            return
        if number is not None and not steps.goes_on(number):
            why = f"the step went back from {steps.highest:,} to {number:,}"
            memory.attempt += 1
            steps.go_back(memory.attempt, number)
            memory.mark_attempt(line, why)
        loss = values.pop("loss", None)
        if loss is not None:
            steps.losses += 1
        if "skipped_total" in values:
            values["skipped_steps"] = steps.skipped_since(values.pop("skipped_total"))
        memory.has_sampled = True
        memory.out.append(
            drafts.step_sample(
                origin,
                number,
                kind if number is not None else "none",
                loss,
                line.evidence(memory.file)
                if line.before
                else drafts.evidence(memory.file, line.number, line.printed[:MAX_EVIDENCE], line.offset),
                values.pop("grad_norm", None),
                values.pop("lr", None),
                values.pop("unix_time", line.time),
                memory.seen_at,
                values,
            )
        )

    def _new_counter(self, origin: Origin, name: str) -> Steps:
        self._memory.note_origin(origin)
        self._memory.dialects.setdefault(name, []).append(steps := Steps(origin, self._memory.attempt))
        return steps
