import io

import pytest
from PIL import Image

from charts import Look, draw_loss
from charts.contact_sheet import GAP, contact_sheet
from diagnosis.series import RunSeries


def test_every_picture_is_on_the_sheet():
    """Row by row, each as wide as the others."""
    picture = draw_loss(RunSeries("run42"), Look.DARK)

    with Image.open(io.BytesIO(contact_sheet([picture] * 5, columns=3, tile_width=100))) as sheet:
        assert sheet.size == (3 * 100 + 4 * GAP, 2 * 80 + 3 * GAP)
        assert sheet.getpixel((GAP + 5, GAP + 5)) == sheet.getpixel((2 * GAP + 105, 2 * GAP + 85))
        assert sheet.getpixel((3 * GAP + 205, 2 * GAP + 85)) == (128, 128, 128)


def test_a_sheet_has_limits():
    """None at all, or more than anyone can look at, is refused."""
    with pytest.raises(ValueError, match="at least one"):
        contact_sheet([])
    with pytest.raises(ValueError, match="too many"):
        contact_sheet([draw_loss(RunSeries("run42"), Look.DARK)] * 50, tile_width=5000)
