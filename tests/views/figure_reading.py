"""Scenes to draw, and what can be read off a figure."""

import xml.etree.ElementTree as ET

import numpy as np
import torch
from matplotlib.text import Text

from mirada.views import figures
from mirada.views.scene import Scene

CAUSAL = {"kind": "causal"}
MASKS = {
    "none": [],
    "causal": [CAUSAL],
    "window": [{"kind": "window", "size": 2}],
    "padding": [{"kind": "padding", "length": 4, "side": "left"}],
    "blocked": [{"kind": "blocked", "table": [[(3 * i + j) % 5 == 0 for j in range(7)] for i in range(5)]}],
    "both": [CAUSAL, {"kind": "bias", "table": [[i - j / 3 for j in range(7)] for i in range(5)]}],
}


def made(rows=5, columns=7, masks=(), **changes):
    """A scene of random vectors; rows and columns are counts, or the names."""
    rows = [f"r{i}" for i in range(rows)] if isinstance(rows, int) else rows
    columns = [f"c{j}" for j in range(columns)] if isinstance(columns, int) else columns
    return Scene(
        rows, columns, torch.randn(len(rows), 3) * 2, torch.randn(len(columns), 3), masks=masks, **changes
    )


def said(artist):
    """Every text in it that is drawn."""
    return [text.get_text() for text in artist.findobj(Text) if text.get_text()]


def table(ax):
    """What is drawn as a table: a masked array (rows, columns), and the colour limits."""
    (image,) = [*ax.images, *(c for c in ax.collections if hasattr(c, "get_coordinates"))]
    return image.get_array(), image.get_clim()


def hatched(ax, rows, columns):
    """Which cells the hatching covers."""
    patches = [patch for patch in ax.patches if patch.get_gid() == "masked"]
    cells = [(j, i) for i in range(rows) for j in range(columns)]
    found = np.zeros(len(cells), dtype=bool)
    for patch in patches:
        assert patch.get_hatch()
        # Each run of cells is a rectangle of five points.
        for box in patch.get_path().vertices.reshape(-1, 5, 2):
            (left, top), (right, bottom) = box.min(0), box.max(0)
            found |= [left < x < right and top < y < bottom for x, y in cells]
    return found.reshape(rows, columns)


def pixels(figure):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3] / 255


def colour_of(figure, ax, row, column):
    """The colour in the middle of a cell."""
    picture = pixels(figure)
    x, y = ax.transData.transform((column, row))
    return picture[picture.shape[0] - 1 - int(y), int(x)]


def texts_in(svg):
    return ["".join(node.itertext()) for node in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def saved(figure, tmp_path, ending):
    figures.save(figure, tmp_path / f"x{ending}")
    return (tmp_path / f"x{ending}").read_bytes()
