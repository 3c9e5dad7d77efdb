"""The drawing process: calls come in on its standard input, pictures go out on its standard output, one at a time.

A frame is one byte (what it is), eight bytes of length, and the body. It ends when its input ends.
"""

import contextlib
import gc
import os
import pickle
import shutil
import signal
import struct
import sys
import warnings
from collections.abc import Callable
from typing import Any, BinaryIO

HEADER = struct.Struct(">cQ")
CALL, READY, PICTURE, FAILURE = b"C", b"R", b"P", b"F"
LARGEST = 1 << 30
TEMPORARY = "RUNWATCH_CHARTS_TEMPORARY"
"""Set when matplotlib's folder goes with the last worker."""


def call_of(function: Callable[..., bytes], args: tuple[Any, ...], kwargs: dict[str, Any], seconds: float) -> bytes:
    """A call as one frame."""
    body = pickle.dumps((function, args, kwargs, seconds), protocol=pickle.HIGHEST_PROTOCOL)
    return HEADER.pack(CALL, len(body)) + body


def main() -> None:
    """Draw until the painter is gone."""
    # Ctrl-C reaches the whole group; the painter decides when its worker ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    calls = sys.stdin.buffer
    # Whatever a library prints must not end up between two frames.
    pictures = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    _warm_up()
    with contextlib.suppress(BrokenPipeError):
        _send(pictures, READY, b"")
        while (call := _receive(calls)) is not None:
            _send(pictures, *_answer(call))
            gc.collect()
    if os.environ.get(TEMPORARY):
        # A painter that was killed cannot tidy up; for one that closed there is nothing left to remove.
        shutil.rmtree(os.environ["MPLCONFIGDIR"], ignore_errors=True)


def _warm_up() -> None:
    """Load fonts and code before the first call needs them, and keep the garbage collector out of drawing."""
    from charts.drawing import paint  # noqa: PLC0415 - the parent imports this module too, for the frames
    from charts.look import Look  # noqa: PLC0415
    from charts.loss import sketch_loss  # noqa: PLC0415
    from diagnosis.series import RunSeries  # noqa: PLC0415

    sample = RunSeries("warm-up")
    for metric in (sample.loss, sample.grad_norm, sample.lr):
        metric.extend((float(step), 1.0 + step, 1e9 + step) for step in range(3))
    paint(sketch_loss(sample, Look.LIGHT))
    gc.collect()
    gc.freeze()
    gc.disable()


def _receive(calls: BinaryIO) -> bytes | None:
    head = calls.read(HEADER.size)
    if len(head) < HEADER.size:
        return None
    _, length = HEADER.unpack(head)
    body = calls.read(length)
    return body if len(body) == length else None


def _send(pictures: BinaryIO, kind: bytes, body: bytes) -> None:
    pictures.write(HEADER.pack(kind, len(body)))
    pictures.write(body)
    pictures.flush()


def _answer(call: bytes) -> tuple[bytes, bytes]:
    try:
        # The pipe's other end is the process that started this one.
        function, args, kwargs, seconds = pickle.loads(call)  # noqa: S301
        # If the painter dies while a drawing is stuck, nobody else would end this process.
        signal.alarm(int(seconds) + 5)
        picture = function(*args, **kwargs)
        signal.alarm(0)
    except Exception as error:
        signal.alarm(0)
        return FAILURE, f"{type(error).__name__}: {error}".encode(errors="replace")[:2000]
    return PICTURE, bytes(picture)


if __name__ == "__main__":
    main()
