"""Side-by-side measurements behind docs/performance.md."""
