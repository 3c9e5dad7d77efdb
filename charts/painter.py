"""Drawing off the event loop: warm worker processes that are replaced when they crash or get stuck.

Threads would not do: the interpreter's lock makes drawing in them as slow as on the loop, and a crash or an endless
drawing would take the bot along. The workers are fresh interpreters, never forks of a process that runs threads.
"""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from charts import CHARTS
from charts.worker import FAILURE, HEADER, LARGEST, READY, TEMPORARY, call_of
from diagnosis.errors import Mistake

DEADLINE_SECONDS = 20.0
START_SECONDS = 60.0
"""The first start on a slow disk reads matplotlib and every font of the machine."""
TRIES = 2

_BOOT = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from charts.worker import main; main()"
_ENVIRONMENT = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""What a worker inherits; tokens are none of its business."""


class ChartFailed(Exception):
    """A picture could not be drawn; the text says why, for people."""


class _WorkerLost(Exception):
    """The worker crashed or did not answer in time."""


class Painter:
    """Draws charts in warm processes: `await painter.draw(draw_loss, series, look)`."""

    def __init__(
        self, *, workers: int = 2, deadline_seconds: float = DEADLINE_SECONDS, cache: Path | None = None
    ) -> None:
        """Nothing is started yet.

        Args:
            workers: How many drawings may run at once; the second worker starts when it is first needed.
            deadline_seconds: How long one drawing may take before its worker is replaced.
            cache: A writable folder for matplotlib's font list; None: a temporary one, removed by `close`.
        """
        self._deadline = deadline_seconds
        self._slots = asyncio.Semaphore(workers)
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()
        self._cache = cache
        self._temporary: weakref.finalize[[str, bool], Painter] | None = None
        self._is_closed = False

    async def __aenter__(self) -> Self:
        """Start the first worker."""
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        await self.close()

    async def start(self) -> None:
        """Have one warm worker; raises ChartFailed when none can be started."""
        try:
            self._idle.append(await self._worker())
        except _WorkerLost as lost:
            raise ChartFailed(f"Charts cannot be drawn here: {lost}.") from lost

    async def draw(self, chart: Callable[..., bytes], *args: Any, **kwargs: Any) -> bytes:
        """What `chart(*args, **kwargs)` returns, drawn in a worker.

        Raises:
            Mistake: The arguments name something that does not exist.
            ChartFailed: It could not be drawn, in words.
        """
        call = await asyncio.to_thread(_pack, chart, args, kwargs, self._deadline)
        async with self._slots:
            for tries in range(1, TRIES + 1):
                try:
                    return await self._ask(call)
                except _WorkerLost as lost:
                    if tries == TRIES or self._is_closed:
                        raise ChartFailed(f"The chart could not be drawn: {lost}.") from lost
        raise AssertionError("unreachable: every try returns or raises")

    async def _ask(self, call: bytes) -> bytes:
        worker = self._idle.pop() if self._idle else await self._worker()
        try:
            kind, body = await worker.ask(call, self._deadline)
        except BaseException:
            # Also when the caller went away: the answer still to come must not be taken for the next one's.
            self._all.discard(worker)
            await worker.kill()
            raise
        if self._is_closed:
            await worker.kill()
        else:
            self._idle.append(worker)
        if kind == FAILURE:
            raise ChartFailed(f"The chart could not be drawn: {body.decode(errors='replace')}.")
        return body

    async def _worker(self) -> "_Worker":
        if self._is_closed:
            raise _WorkerLost("the painter is closed")
        folder = await asyncio.to_thread(self._folder)
        worker = await _Worker.start(folder, is_temporary=self._temporary is not None)
        self._all.add(worker)
        return worker

    def _folder(self) -> str:
        if self._cache is not None:
            with contextlib.suppress(OSError):
                self._cache.mkdir(parents=True, exist_ok=True)
                if os.access(self._cache, os.W_OK):
                    return str(self._cache)
        if self._temporary is None:
            folder = tempfile.mkdtemp(prefix="runwatch-charts-")
            self._cache = Path(folder)
            self._temporary = weakref.finalize(self, shutil.rmtree, folder, True)
        return str(self._cache)

    async def close(self) -> None:
        """End every worker and remove what was temporary."""
        self._is_closed = True
        workers, self._all, self._idle = self._all, set(), []
        await asyncio.gather(*(worker.close() for worker in workers))
        if self._temporary is not None:
            await asyncio.to_thread(self._temporary)


def _pack(chart: Callable[..., bytes], args: tuple[Any, ...], kwargs: dict[str, Any], seconds: float) -> bytes:
    """The call for the worker; a chart's first half happens here, so that a million points need not travel."""
    try:
        halves = next((known for known in CHARTS if known.draw is chart), None)
        if halves is None:
            return call_of(chart, args, kwargs, seconds)
        return call_of(halves.paint, (halves.sketch(*args, **kwargs),), {}, seconds)
    except Mistake:
        raise
    except Exception as error:
        raise ChartFailed(f"The chart could not be drawn: {type(error).__name__}: {error}.") from error


class _Worker:
    """One drawing process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._calls, self._pictures = process.stdin, process.stdout

    @classmethod
    async def start(cls, cache: str, *, is_temporary: bool) -> Self:
        """A warm worker."""
        environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
        # One thread is enough for what it computes, and numpy's pool would only cost memory.
        environment |= {"MPLCONFIGDIR": cache, "MPLBACKEND": "agg", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        if is_temporary:
            environment[TEMPORARY] = "1"
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-c",
                _BOOT,
                json.dumps([entry or str(Path.cwd()) for entry in sys.path]),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env=environment,
            )
        except OSError as error:
            raise _WorkerLost(f"the drawing process did not start ({error})") from error
        worker = cls(process)
        try:
            kind, _ = await worker._receive(START_SECONDS)
            assert kind == READY
        except BaseException:
            await worker.kill()
            raise
        return worker

    async def ask(self, call: bytes, seconds: float) -> tuple[bytes, bytes]:
        """The worker's answer to a call."""
        try:
            self._calls.write(call)
            async with asyncio.timeout(seconds):
                await self._calls.drain()
        except TimeoutError:
            raise _WorkerLost(f"it took longer than {seconds:g} s") from None
        except OSError:
            raise _WorkerLost(await self._how_it_ended()) from None
        return await self._receive(seconds)

    async def _receive(self, seconds: float) -> tuple[bytes, bytes]:
        try:
            async with asyncio.timeout(seconds):
                kind, length = HEADER.unpack(await self._pictures.readexactly(HEADER.size))
                if length > LARGEST:
                    raise _WorkerLost("the drawing process answered nonsense")
                return kind, await self._pictures.readexactly(length)
        except TimeoutError:
            raise _WorkerLost(f"it took longer than {seconds:g} s") from None
        except (asyncio.IncompleteReadError, OSError):
            raise _WorkerLost(await self._how_it_ended()) from None

    async def _how_it_ended(self) -> str:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1):
                await self._process.wait()
        status = self._process.returncode
        if status is None:
            return "the drawing process closed its pipe"
        if status < 0:
            return f"the drawing process was killed ({signal.Signals(-status).name})"
        return f"the drawing process ended with status {status}"

    async def close(self) -> None:
        """End it: the end of its input tells it to go."""
        self._calls.close()
        try:
            async with asyncio.timeout(2):
                await self._process.wait()
        except TimeoutError:
            await self.kill()

    async def kill(self) -> None:
        """End it at once."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        self._calls.close()
        await self._process.wait()
