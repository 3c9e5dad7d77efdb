import asyncio
import io
import os
import signal
import stat
import sys
import time
from pathlib import Path

import pytest
import pytest_asyncio
from PIL import Image

from charts import Look, draw_gpus, draw_incident, draw_loss
from charts.loss import UnknownMetric
from charts.painter import ChartFailed, Painter
from charts.table import to_csv
from diagnosis.series import RunSeries
from tests.charts import odd_drawings
from tests.charts.samples import healthy

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def fonts(tmp_path_factory):
    """One list of fonts for all workers here: making it anew takes longer than most tests."""
    return tmp_path_factory.mktemp("fonts")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def painter(fonts):
    async with Painter(workers=1, cache=fonts) as painter:
        yield painter


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def pid_of(painter: Painter) -> int:
    return int(await painter.draw(odd_drawings.own_pid))


async def test_every_chart_is_drawn_elsewhere(painter):
    """The same bytes as drawn here, from another process."""
    series = healthy()

    assert await painter.draw(draw_loss, series, Look.DARK) == draw_loss(series, Look.DARK)
    assert (await painter.draw(draw_incident, series, Look.LIGHT, bad_step=900)).startswith(b"\x89PNG")
    assert (await painter.draw(draw_gpus, [], Look.LIGHT)).startswith(b"\x89PNG")
    assert (await painter.draw(to_csv, series)).startswith(b"attempt,step")
    assert await pid_of(painter) != os.getpid()


async def test_a_worker_whose_painter_is_gone_before_it_is_ready_ends_quietly(fonts):
    """A bot killed right after its start leaves no traceback in the log."""
    environment = os.environ | {"MPLCONFIGDIR": str(fonts), "MPLBACKEND": "agg"}
    command = (sys.executable, "-c", "from charts.worker import main; main()")
    nobody, pictures = os.pipe()
    os.close(nobody)
    none, errors = asyncio.subprocess.DEVNULL, asyncio.subprocess.PIPE
    worker = await asyncio.create_subprocess_exec(*command, stdin=none, stdout=pictures, stderr=errors, env=environment)
    os.close(pictures)

    _, said = await worker.communicate()

    assert b"Traceback" not in said


async def test_a_killed_worker_is_replaced_before_anyone_notices(painter):
    """The next chart comes all the same."""
    first = await pid_of(painter)
    os.kill(first, signal.SIGKILL)

    with Image.open(io.BytesIO(await painter.draw(draw_loss, healthy(), Look.LIGHT))) as image:
        assert image.format == "PNG"
    assert await pid_of(painter) != first


async def test_a_drawing_that_kills_its_worker_is_tried_once_more(painter, tmp_path):
    """The second worker may do better; it is the last."""
    assert await painter.draw(odd_drawings.dies_the_first_time, str(tmp_path / "tries")) == b"drawn"


async def test_a_drawing_that_always_kills_its_worker_fails_in_words(painter, tmp_path):
    """Two tries, then the reason; the painter goes on."""
    tries = tmp_path / "tries"

    with pytest.raises(ChartFailed, match=r"could not be drawn: the drawing process was killed \(SIGKILL\)"):
        await painter.draw(odd_drawings.dies, str(tries))

    assert tries.read_text() == "xx"
    assert (await painter.draw(draw_loss, healthy(), Look.LIGHT)).startswith(b"\x89PNG")


async def test_a_stuck_drawing_is_given_up(fonts):
    """After the deadline its process is ended, and the next chart has a new one."""
    async with Painter(workers=1, cache=fonts, deadline_seconds=2) as painter:
        first = await pid_of(painter)

        with pytest.raises(ChartFailed, match="it took longer than 2 s"):
            await painter.draw(odd_drawings.hangs)

        assert not is_alive(first)
        assert await pid_of(painter) != first


async def test_a_drawing_that_raises_is_not_tried_again(painter, tmp_path):
    """Our own bug would only raise again; the worker stays."""
    first = await pid_of(painter)

    with pytest.raises(ChartFailed, match="ValueError: no such colour"):
        await painter.draw(odd_drawings.raises)

    assert await pid_of(painter) == first


async def test_a_wrong_argument_is_the_askers_mistake(painter):
    """It comes back as what it is, with the names that are right."""
    with pytest.raises(UnknownMetric, match="there are loss, grad_norm, lr"):
        await painter.draw(draw_loss, healthy(), Look.LIGHT, metric="accuracy")


async def test_prints_do_not_end_up_in_the_picture(painter):
    """Whatever a library writes to standard output, the answer is the picture alone."""
    assert await painter.draw(odd_drawings.chatters) == b"drawn"
    assert await painter.draw(odd_drawings.chatters) == b"drawn"


async def test_a_caller_that_goes_away_leaves_no_foreign_answer(painter):
    """The chart nobody waits for any more is never given to the next who asks."""
    waiting = asyncio.create_task(painter.draw(odd_drawings.slow, b"old"))
    await asyncio.sleep(0.2)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    assert await painter.draw(odd_drawings.slow, b"new") == b"new"


async def test_the_loop_stays_free_while_charts_are_drawn(painter):
    """Acknowledgements go on: the loop runs its other tasks while a worker draws."""
    ticks = 0

    async def tick():
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    ticking = asyncio.create_task(tick())
    await painter.draw(odd_drawings.slow, b"drawn")
    ticking.cancel()

    assert ticks >= 10


async def test_many_at_once_share_the_workers(fonts):
    """Twenty charts, two processes, every answer its own."""
    async with Painter(workers=2, cache=fonts) as painter:
        names = [f"run{number}" for number in range(20)]

        answers = await asyncio.gather(*(painter.draw(odd_drawings.echo, RunSeries(name)) for name in names))
        pids = set(await asyncio.gather(*(painter.draw(odd_drawings.slow_pid) for _ in range(6))))

    assert answers == [name.encode() for name in names]
    assert len(pids) == 2


async def test_close_leaves_nothing_behind(monkeypatch, tmp_path):
    """No process and no file, and a closed painter says so."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    painter = Painter(workers=2)
    await painter.start()
    pids = await asyncio.gather(*(painter.draw(odd_drawings.slow_pid) for _ in range(2)))

    await painter.close()

    assert not any(is_alive(int(pid)) for pid in pids)
    assert not list(tmp_path.iterdir())
    with pytest.raises(ChartFailed, match="the painter is closed"):
        await painter.draw(odd_drawings.own_pid)


async def test_closing_ends_what_is_being_drawn(fonts):
    """A drawing in flight fails in words instead of holding the bot."""
    painter = Painter(workers=1, cache=fonts)
    await painter.start()
    waiting = asyncio.create_task(painter.draw(odd_drawings.hangs))
    await asyncio.sleep(0.3)

    await painter.close()

    with pytest.raises(ChartFailed):
        await waiting


async def test_a_home_that_cannot_be_written_does_not_matter(monkeypatch, tmp_path):
    """Containers often have a read-only home; fonts are listed in a temporary folder then."""
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(stat.S_IRUSR | stat.S_IXUSR)
    monkeypatch.setenv("HOME", str(home))

    async with Painter(workers=1, cache=home / "cache") as painter:
        picture = await painter.draw(draw_loss, healthy(), Look.LIGHT)
        used = (await painter.draw(odd_drawings.environment, "MPLCONFIGDIR")).decode()

    assert picture.startswith(b"\x89PNG")
    assert not used.startswith(str(home)) or os.geteuid() == 0


async def test_a_given_cache_is_kept(tmp_path):
    """The next start finds its fonts there."""
    async with Painter(workers=1, cache=tmp_path / "fonts"):
        pass

    assert any(Path(tmp_path / "fonts").glob("fontlist*"))


async def test_tokens_stay_with_the_bot(fonts, monkeypatch):
    """A process that draws has no use for secrets."""
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-secret")

    async with Painter(workers=1, cache=fonts) as painter:
        assert await painter.draw(odd_drawings.environment, "SLACK_BOT_TOKEN") == b""


async def test_a_worker_outlives_no_bot(tmp_path):
    """When the bot is killed, the end of its pipe ends the worker, which takes the temporary folder along."""
    code = (
        "import asyncio, os, sys; from charts.painter import Painter; from tests.charts import odd_drawings\n"
        "async def main():\n"
        "    painter = Painter(workers=1); print((await painter.draw(odd_drawings.own_pid)).decode(), flush=True)\n"
        "    os.kill(os.getpid(), 9)\n"
        "asyncio.run(main())"
    )
    process = await asyncio.create_subprocess_exec(
        os.sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE, env={**os.environ, "TMPDIR": str(tmp_path)}
    )
    worker = int(await process.stdout.readline())
    await process.wait()

    until = time.monotonic() + 60
    while is_alive(worker) and time.monotonic() < until:
        await asyncio.sleep(0.05)
    assert not is_alive(worker)
    assert not list(tmp_path.iterdir())
