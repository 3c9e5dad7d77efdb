"""A watcher that takes lines by the hundred says, to the last word, what it would say line by line."""

from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from diagnosis.formats.reader import LogReader
from diagnosis.formats.stretch import Stretch
from tests.counts import examples
from watcher import run_watch
from watcher.identity import FileId, Place
from watcher.pieces import Chunk
from watcher.run_watch import RunWatch
from watcher.settings import WatchedRun, WatcherSettings
from watcher.tail import Batch

BEGAN = 1_800_000_000.0


def plain(step, loss, rate, trouble):
    """A script of one's own."""
    norm = 40.0 if trouble == "norm" else loss / 2
    return f"step={step} loss={loss:.4f} lr={rate:.6g} grad_norm={norm:.3f} epoch={step // 90}\n"


def megatron(step, loss, rate, trouble):
    """Megatron-LM with a clock, a loss scale and counters."""
    scale = 32768.0 if trouble == "scale" else 65536.0
    return (
        f" [2024-05-13 {step // 3600 % 24:02d}:{step // 60 % 60:02d}:{step % 60:02d}] iteration {step:8d}/   99999 | "
        f"consumed samples: {step * 8:12d} | elapsed time per iteration (ms): {900 + loss:.1f} | learning rate: "
        f"{rate:.6E} | global batch size:     8 | lm loss: {loss:.6E} | loss scale: {scale} | grad norm: "
        f"{loss / 2:.3f} | number of skipped iterations:   0 | "
        f"number of nan iterations:   {int(trouble == 'norm')} |\n"
    )


def titan(step, loss, rate, trouble):
    """Torchtitan of one rank, with its tag; no learning rate."""
    del rate, trouble
    return (
        f"[rank0]:[titan] 2024-05-13 11:{step // 60 % 60:02d}:{step % 60:02d},{step % 1000:03d} - root - INFO - step: "
        f"{step:2d}  loss: {loss:7.4f}  memory: 47.21GiB(49.69%)  tps: {7000 + step:,}  mfu: 35.1%\n"
    )


def trainer(step, loss, rate, trouble):
    """A Trainer's bar and its dict."""
    drawn = redraw(step, trouble)
    return f"{drawn}\r{' ' * 60}\r{numbers(step, loss, rate, trouble)}\n{drawn}"


def seldom(step, loss, rate, trouble):
    """The same, with a dict for every third redraw."""
    return redraw(step, trouble) if step % 3 else trainer(step, loss, rate, trouble)


def alone(step, loss, rate, trouble):
    """A Trainer whose bar goes to another file."""
    return f"{numbers(step, loss, rate, trouble)}\n"


def redraw(step, trouble):
    """The bar; a save makes one step slow."""
    pace = "31.01s/it" if trouble == "noise" else " 1.01s/it"
    return f"\r  1%|▏         | {step}/99999 [{step // 60:02d}:{step % 60:02d}<99:59, {pace}]"


def numbers(step, loss, rate, trouble):
    """The dict."""
    norm = 40.0 if trouble == "norm" else loss / 2
    return str({"loss": round(loss, 4), "grad_norm": norm, "learning_rate": rate, "epoch": round(step / 900, 2)})


def rate_at(step, turn):
    """A warm-up and a decay."""
    return 1e-6 * step if step < turn else 1e-6 * turn * (1 - (step - turn) / 5000)


NOISE = (
    "saving checkpoint at iteration {step} to /data/ckpt\n",
    "Traceback (most recent call last):\n",
    "RuntimeError: CUDA error: an illegal memory access was encountered\n",
    "step=1 loss=9.0 lr=0.001 grad_norm=1.0 epoch=0\n",
    "evaluating\n",
    "logging_steps=1,\n",
    "\n",
)
TROUBLES = ("nan", "spike", "norm", "scale", "shift", "zero", "noise", "restart", "leap", "")
WRITERS = (plain, megatron, titan, trainer, trainer, seldom, alone, alone)


@st.composite
def runs(draw):
    """What two ranks print, in the pieces in which a watcher reads it."""
    write = draw(st.sampled_from(WRITERS))
    turn, apart = draw(st.sampled_from((30, 300, 9999))), draw(st.sampled_from((0.0, 0.0, 0.7)))
    texts = ["", ""]
    step, level, factor = 1, 0.0, 1.0
    for trouble, count, noise in draw(
        st.lists(
            st.tuples(st.sampled_from(TROUBLES), st.integers(1, 160), st.sampled_from(NOISE)), min_size=1, max_size=7
        )
    ):
        step = 1 if trouble == "restart" else step
        level += 3.0 * (trouble == "shift")
        factor *= 7.0 if trouble == "leap" else 1.0
        odd = draw(st.integers(0, count - 1))
        for place in range(count):
            is_odd = place == odd
            for rank in (0, 1):
                loss = 2 + level + 5 / (step + 1) + (step * 7919 % 101) / 500 + rank * apart
                loss += 6 * (is_odd and trouble == "spike")
                loss = float("nan") if is_odd and trouble == "nan" else 0.0 if is_odd and trouble == "zero" else loss
                told = trouble if is_odd or (trouble == "scale" and place > odd) else ""
                texts[rank] += write(step, loss, factor * rate_at(step, turn), told)
                if is_odd and trouble == "noise":
                    texts[rank] += noise.format(step=step)
            step += 1
    sizes = draw(st.lists(st.sampled_from((300, 4_000, 30_000)), min_size=1, max_size=5))
    return [text.encode() for text in texts], sizes


class Told:
    """A publisher that keeps what it is given."""

    holds_bookmark = False

    def __init__(self):
        self.said = []

    def accept(self, said):
        """Keep it."""
        self.said.append(said)


async def watched(texts, sizes, folder):
    """Everything that somebody may see of a watch over these files."""
    run = WatchedRun("run42", (f"{folder}/*.log",))
    told = Told()
    watch = RunWatch(run, WatcherSettings(runs=(run,), state_dir=folder, node="node17"), told, "node17/run42")
    watch.clock = SimpleNamespace(ahead_seconds=0.0, written=lambda _piece, now: now, kept=lambda: None)
    places, turn = [0] * len(texts), 0
    while any(place < len(text) for place, text in zip(places, texts, strict=True)):
        run_watch.time.time = lambda: BEGAN + turn / 4  # noqa: B023 - one clock for both readings
        for rank, text in enumerate(texts):
            at, places[rank] = places[rank], places[rank] + sizes[turn % len(sizes)]
            data, now = text[at : places[rank]], BEGAN + turn / 4
            if data:
                place = Place(FileId(1, rank), at + len(data), None)
                await watch._take(Batch((Chunk(f"{folder}/{rank}.log", rank, at, data, place, now, 1),)))
        turn += 1
    await watch.close()
    watch._worker.close()
    files = [f"{folder}/{rank}.log" for rank in range(len(texts))]
    has_curve = watch.curve.path.exists()
    assert has_curve or not watch.reporting._waiting
    return {
        "said": [repr(one) for one in told.said],
        "marks": [repr(one) for one in watch.reporting._marks],
        "points": [repr(one) for one in watch.reporting._waiting],
        "curve": watch.curve.path.read_text() if has_curve else "",
        "ranks": [repr(one) for one in watch.reporting.progress.all()],
        "facts": repr(watch.reporting.progress.facts),
        "state": (watch.state, watch.attempt, repr(watch.attempts())),
        "kept": [repr(one) for file in files for one in watch.chronicles.of(file).observations()],
        "changes": repr(watch.changes.around(watch.changes.step, attempt=watch.judge.attempt, is_now=True)),
    }


@pytest.fixture
def clock(monkeypatch):
    """A clock that the watch reads, and that the test sets."""
    monkeypatch.setattr(run_watch, "time", SimpleNamespace(**vars(run_watch.time)))


@given(run=runs())
@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
async def test_stretches_are_watched_as_single_lines_are(run, clock, monkeypatch, tmp_path_factory):
    """Findings, marks, points, progress, and what is kept for a diagnosis: all of it is the same."""
    del clock
    texts, sizes = run
    folder = tmp_path_factory.mktemp("stretches")

    fast = await watched(texts, sizes, folder)
    for path in folder.iterdir():
        path.rename(folder.with_name(f"{folder.name}-{path.name}"))
    with monkeypatch.context() as patch:
        patch.setattr(LogReader, "feed_stretches", lambda reader, data, received=None: reader.feed(data, received))
        patch.setattr(LogReader, "feed", one_by_one)
        slow = await watched(texts, sizes, folder)

    assert fast == slow


def one_by_one(reader, data, received=None):
    """What a reader says with each line by itself."""
    reader._stretcher.take = lambda lines, place: None
    reader._weaver.take = lambda raws, first, number, offsets: None
    seen = FEED_STRETCHES(reader, data, received)
    assert not any(isinstance(one, Stretch) for one in seen)
    return seen


FEED_STRETCHES = LogReader.feed_stretches
