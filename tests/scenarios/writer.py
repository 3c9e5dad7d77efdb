"""A stand-in for training jobs, as a process of its own: it appends lines to log files at the times of a script.

Usage: python -m tests.scenarios.writer FOLDER < SCRIPT
"""

import json
import os
import sys
import time
from pathlib import Path


def main(folder: Path) -> None:
    """Write until the script ends."""
    files: dict[str, int] = {}
    began = time.monotonic()
    for row in sys.stdin:
        line = json.loads(row)
        time.sleep(max(0.0, began + line["at"] - time.monotonic()))
        if line["file"] not in files:
            path = folder / line["file"]
            files[line["file"]] = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        os.write(files[line["file"]], f"{line['text']}\n".encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
