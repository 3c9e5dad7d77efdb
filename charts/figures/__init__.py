"""Sketches in, pictures out: the only folder that imports matplotlib."""

import logging

# Where it keeps its font list is no news to somebody who asked for a chart.
logging.getLogger("matplotlib").setLevel(logging.ERROR)
