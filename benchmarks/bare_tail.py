"""The least that following logs can cost in Python: look four times a second, read what is new, count lines."""

import os
import sys
import time

POLL_SECONDS = 0.25
CHUNK_BYTES = 128 << 10


def main() -> None:
    """Follow the named files until killed."""
    descriptors = [os.open(path, os.O_RDONLY) for path in sys.argv[1:]]
    lines = 0
    while True:
        for descriptor in descriptors:
            while data := os.read(descriptor, CHUNK_BYTES):
                lines += data.count(b"\n")
        time.sleep(POLL_SECONDS)


if __name__ == "__main__":
    main()
