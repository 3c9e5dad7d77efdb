"""The fast way through big logs, offline only: many step lines at once, as columns.

`BulkReader` gives what `LogReader` gives, with long runs of step lines as a `StepBlock`; `judging` gives those
blocks to everything that judges. This package alone in `diagnosis` uses numpy; no watcher imports it.
"""
