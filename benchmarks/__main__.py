"""`make bench`: every measurement, or the named ones: `make bench BENCH="latency commands"`."""

import importlib
import sys
import time

BENCHMARKS = (
    "charts",
    "latency",
    "busy",
    "commands",
    "footprint",
    "interference",
    "parse",
    "live",
    "line_cost",
    "redaction",
    "patterns",
    "registry_memory",
    "crowd",
    "alarms",
    "evidence",
    "rotation",
    "fuzz",
)
"""One file each, with main()."""


def main() -> int:
    """Run what was asked for."""
    asked = sys.argv[1:] or list(BENCHMARKS)
    unknown = [name for name in asked if name not in BENCHMARKS]
    if unknown:
        print(f"There is no benchmark {unknown[0]}; there are {', '.join(BENCHMARKS)}.", file=sys.stderr)
        return 2
    for name in asked:
        print(f"\n## {name}\n", flush=True)
        began = time.monotonic()
        importlib.import_module(f"benchmarks.{name}").main()
        print(f"\n({name}: {time.monotonic() - began:.0f} s)", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
