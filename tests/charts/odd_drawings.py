"""Drawings that misbehave, for the painter's worker to run."""

import os
import signal
import sys
import time
from pathlib import Path

from diagnosis.series import RunSeries


def own_pid() -> bytes:
    return str(os.getpid()).encode()


def slow_pid() -> bytes:
    time.sleep(0.3)
    return own_pid()


def slow(answer: bytes) -> bytes:
    time.sleep(0.5)
    return answer


def hangs() -> bytes:
    time.sleep(1000)
    return b""


def raises() -> bytes:
    raise ValueError("no such colour")


def dies(tries: str) -> bytes:
    with Path(tries).open("a") as file:
        file.write("x")
    os.kill(os.getpid(), signal.SIGKILL)
    return b""


def dies_the_first_time(tries: str) -> bytes:
    return b"drawn" if Path(tries).exists() else dies(tries)


def chatters() -> bytes:
    sys.stdout.write("libraries print such things\n")
    os.write(1, b"and write them past Python\n")
    sys.stdout.flush()
    return b"drawn"


def echo(series: RunSeries) -> bytes:
    return series.run.encode()


def environment(name: str) -> bytes:
    return os.environ.get(name, "").encode()
