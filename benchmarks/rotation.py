"""What each way of rotating loses: real logrotate, a real writer that never reopens its file, 5,000 lines a second."""

import gzip
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

RATE, ROTATIONS, PAUSE_SECONDS = 5_000, 100, 0.3
MODES = {
    "copytruncate": "copytruncate",
    "rename": "create 0600",
    "rename, compress at once": "create 0600\n compress",
    "rename, compress later": "create 0600\n compress\n delaycompress",
}
WRITER = """
import sys, time
from pathlib import Path
began, number, stop = time.monotonic(), 0, Path(sys.argv[2])
while not stop.exists():
    while number < (time.monotonic() - began) * int(sys.argv[1]):
        sys.stdout.write(f"step={number:09d} loss=2.5 lr=0.0001 grad_norm=1.0\\n")
        number += 1
    sys.stdout.flush()
    time.sleep(0.002)
Path(sys.argv[3]).write_text(str(number))
"""


@dataclass(frozen=True, slots=True)
class Lost:
    """What became of the lines of one writer."""

    written: int
    lost: int
    zeros: int
    """NUL bytes on the disk."""
    rotations: int


def rotate(folder: Path, mode: str, *, appends: bool, rotations: int = ROTATIONS, rate: int = RATE) -> Lost:
    """Write and rotate; then count the lines over live, rotated and compressed files."""
    log, conf = folder / "train.log", folder / "logrotate.conf"
    log.touch()
    conf.write_text(f"{log} {{\n rotate 1000\n size 1\n missingok\n notifempty\n {MODES[mode]}\n}}\n")
    conf.chmod(0o600)
    stop = folder / "stop"
    with log.open("ab" if appends else "wb") as file:
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(rate), str(stop), str(folder / "count")], stdout=file
        )
    try:
        for _ in range(rotations):
            time.sleep(PAUSE_SECONDS)
            subprocess.run(["logrotate", "-f", "-s", str(folder / "state"), str(conf)], check=True, capture_output=True)
        time.sleep(PAUSE_SECONDS)
    finally:
        stop.touch()
        writer.wait(60)
    data = b"".join(
        gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for path in folder.glob("train.log*")
    )
    steps = {
        int(line[5:14]) for line in data.replace(b"\0", b"").splitlines() if line[:5] == b"step=" and len(line) > 40
    }
    written = int((folder / "count").read_text())
    return Lost(written, written - len(steps), data.count(0), rotations)


def main() -> None:
    """Print one row for each way."""
    if shutil.which("logrotate") is None:
        print("logrotate is not installed")
        return
    for appends in (True, False):
        for mode in MODES:
            folder = Path(tempfile.mkdtemp(prefix="runwatch-rotation-"))
            try:
                found = rotate(folder, mode, appends=appends)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            print(
                f"{mode:<26} writer `{'>>' if appends else '>'}`: {found.rotations} rotations, {found.written:,} lines "
                f"written, {found.lost:,} of them lost, {found.zeros / 1e6:,.1f} MB of zeros",
                flush=True,
            )


if __name__ == "__main__":
    main()
