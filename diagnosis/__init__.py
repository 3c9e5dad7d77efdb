"""What is seen, and what it means. Pure: no input or output, no clock, the standard library (`formats/bulk`: numpy).

`observations` are what watchers say, `findings` what detectors conclude; everything else turns the
one into the other. The same code runs in the watcher, in the monitor, in `inspect` and in `replay`.
"""
