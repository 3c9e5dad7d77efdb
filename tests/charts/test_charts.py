import inspect
import os
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import charts
from tests.charts.samples import healthy


def drawing_functions():
    """Every public `draw_…` defined in a module of the folder."""
    for module in pkgutil.iter_modules(charts.__path__, "charts."):
        for name, function in inspect.getmembers(import_module(module.name), inspect.isfunction):
            if name.startswith("draw_") and function.__module__ == module.name:
                yield function


def test_every_chart_is_listed():
    """A chart that CHARTS forgets would send a million points to the drawing process."""
    assert set(drawing_functions()) == {chart.draw for chart in charts.CHARTS}


def test_both_halves_take_what_the_chart_takes():
    """`sketch` has the arguments of `draw`, so that the painter may call it in its place."""
    for chart in charts.CHARTS:
        wanted, given = inspect.signature(chart.draw), inspect.signature(chart.sketch)
        assert wanted.parameters == given.parameters


def test_importing_charts_loads_no_drawing_library():
    """The bot starts quickly: matplotlib, PIL and pandas wait for the first picture."""
    code = (
        "import sys; import charts, charts.painter, charts.table, charts.zoom;"
        "print([name for name in ('matplotlib', 'PIL', 'pandas') if name in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_pyplot_is_never_loaded():
    """Its hidden global figures are wrong from several threads, without an exception."""
    code = (
        "import sys; from charts import Look, draw_loss; from diagnosis.series import RunSeries;"
        "draw_loss(RunSeries('run42'), Look.LIGHT); print('matplotlib.pyplot' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"


def test_a_matplotlibrc_changes_nothing(tmp_path):
    """Charts look the same in a folder where somebody keeps their own style, and standard error stays empty."""
    (tmp_path / "matplotlibrc").write_text("text.usetex: True\nlines.linestyle: --\nlines.marker: o\n")
    code = (
        "import sys; from charts import Look, draw_loss; from tests.charts.samples import healthy;"
        "sys.stdout.buffer.write(draw_loss(healthy(), Look.DARK))"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(charts.__file__).parents[1]), "HOME": "/nonexistent"}
    environment.pop("MPLCONFIGDIR", None)

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=tmp_path, env=environment, check=True)

    assert done.stdout == charts.draw_loss(healthy(), charts.Look.DARK)
    assert done.stderr == b""
