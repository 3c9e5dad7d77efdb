"""How many planted secrets leave a node, how many healthy lines are masked, and how fast a log is masked (A29, A30)."""

import random
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from benchmarks.planting import KINDS, healthy, planted
from diagnosis.redaction import MaskingStream, mask

SECRETS, LINES = 200_000, 1_000_000


def leaks(count: int, seed: int = 1) -> Counter[str]:
    """Kinds of the secrets that could be read after masking, whole or as a stream cut inside the secret."""
    found: Counter[str] = Counter()
    chance = random.Random(seed + 1)
    for one in planted(count, seed):
        data, at = one.text.encode(), one.at
        border = at + chance.randint(0, len(one.secret))
        second = min(len(data), border + chance.randint(1, 40))
        stream = MaskingStream()
        out = (
            stream.feed(data[:border]) + stream.feed(data[border:second]) + stream.feed(data[second:]) + stream.close()
        )
        if one.is_in(out.decode()) or one.is_in(mask(one.text).text):
            found[one.kind] += 1
    return found


def wrongly_masked(lines: Iterable[str]) -> list[str]:
    """Healthy lines that did not stay as they are."""
    return [line for line in lines if mask(line).text != line]


def main() -> None:
    """Print the figures; logs to look at may be named after the benchmark's own arguments."""
    began = time.monotonic()
    found = leaks(SECRETS)
    print(f"{SECRETS:,} planted secrets of {len(KINDS)} kinds, each cut by chunk borders: {found.total()} leaks")
    for kind, count in found.most_common():
        print(f"  {kind}: {count}")
    wrong = wrongly_masked(healthy(LINES, 2))
    print(f"{LINES:,} healthy lines: {len(wrong)} masked")
    for line in wrong[:10]:
        print(f"  {line}")
    print(f"({time.monotonic() - began:.0f} s)")
    data = "\n".join(healthy(100_000, 3)).encode()
    began = time.thread_time()
    stream = MaskingStream()
    for start in range(0, len(data), 1 << 18):
        stream.feed(data[start : start + (1 << 18)])
    stream.close()
    print(f"masking speed: {len(data) / (time.thread_time() - began) / 1e6:.1f} MB of log a second of one core")


def of_folder(folder: Path) -> None:
    """How many lines of real logs are masked: each is looked at by eye."""
    lines = masked = 0
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        for line in path.read_bytes().decode("utf-8", "replace").splitlines():
            lines += 1
            said = mask(line)
            if said.count:
                masked += 1
                print(f"  {path.name}: {said.text[:160]}")
    print(f"{folder}: {lines:,} lines, {masked} masked")


if __name__ == "__main__":
    if sys.argv[1:]:
        of_folder(Path(sys.argv[1]))
    else:
        main()
