"""Many pictures on one sheet, to look at all of them at once."""

import io
from collections.abc import Sequence

from PIL import Image

GAP = 8
GREY = (128, 128, 128)
MOST_PIXELS = 64_000_000


def contact_sheet(pictures: Sequence[bytes], *, columns: int = 5, tile_width: int = 400) -> bytes:
    """One PNG with all the pictures, each scaled to the same width, row by row.

    Raises:
        ValueError: There are none, or the sheet would be too large to look at.
    """
    if not pictures:
        raise ValueError("a contact sheet needs at least one picture")
    columns = min(columns, len(pictures))
    sizes = [_size(picture, tile_width) for picture in pictures]
    rows = [range(start, min(start + columns, len(sizes))) for start in range(0, len(sizes), columns)]
    heights = [max(sizes[index][1] for index in row) for row in rows]
    width, height = columns * (tile_width + GAP) + GAP, sum(heights) + GAP * (len(rows) + 1)
    if width * height > MOST_PIXELS:
        raise ValueError(f"{len(pictures)} pictures of {tile_width} pixels are too many for one sheet")
    sheet = Image.new("RGB", (width, height), GREY)
    y = GAP
    for row, tallest in zip(rows, heights, strict=True):
        for place, index in enumerate(row):
            sheet.paste(_tile(pictures[index], sizes[index]), (GAP + place * (tile_width + GAP), y))
        y += tallest + GAP
    out = io.BytesIO()
    sheet.save(out, "PNG")
    return out.getvalue()


def _size(picture: bytes, width: int) -> tuple[int, int]:
    with Image.open(io.BytesIO(picture)) as image:
        return width, max(round(image.height * width / image.width), 1)


def _tile(picture: bytes, size: tuple[int, int]) -> Image.Image:
    with Image.open(io.BytesIO(picture)) as image:
        return image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
