"""A picture as a sentence: its patches, numbered in the order in which they are read."""

import operator
from typing import TYPE_CHECKING

from mirada.catalogue import Language, say
from mirada.views import figure_layout as layout
from mirada.views import figure_text as text
from mirada.views.figure_parts import CORAL, WHITE
from mirada.views.figure_text import EDGE, INK, INK2

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from torch import Tensor

MOST = 400  # patches: of more, no number could be read
WIDE, TALLEST = 430.0, 430.0  # points
STRIP = 20.0


def patches(image: "Tensor", size: int, chosen: int | None = None, *, language: Language = "en") -> "Figure":
    """The picture cut into squares, numbered from 0, line by line; below it, the numbers of one of them.

    Args:
        image: (channels, height, width) from 0 to 1: 1 channel is grey, 3 are red, green and blue.
        size: pixels along the side of a patch; it divides height and width.
        chosen: the patch whose vector is drawn, channel after channel, each line by line.
        language: "en" or "es".

    Raises:
        ValueError: another shape, numbers outside of 0 to 1, a size that does not divide, more than 400
            patches, or an unknown language.
        IndexError: a patch that is not there.
        ImportError: matplotlib is missing.
    """
    text.check_language(language)
    pixels = _checked(image, size)
    channels, height, width = pixels.shape
    rows, columns = height // size, width // size
    if chosen is not None and not 0 <= operator.index(chosen) < rows * columns:
        raise IndexError(f"there is no patch {chosen}; expected 0 to {rows * columns - 1}")
    with text.drawing([]):
        wide = min(WIDE, TALLEST * width / height)
        tall = wide * height / width
        foot = 0.0 if chosen is None else 62.0
        made, ax = layout.canvas(wide + 4, tall + 4 + foot)
        seen = pixels.transpose(1, 2, 0) if channels == 3 else pixels[0].repeat(3).reshape(height, width, 3)
        ax.imshow(seen, extent=(2, wide + 2, tall + 2, 2), interpolation="none", aspect="auto")
        ax.set(xlim=(0, wide + 4), ylim=(tall + 4 + foot, 0))
        _number(ax, rows, columns, wide / columns, chosen)
        said = {"count": rows * columns, "rows": rows, "columns": columns, "size": size}
        told = say("page.figure_alt_patches", language, **said)
        if chosen is not None:
            row, column = divmod(chosen, columns)
            cut = pixels[:, row * size : (row + 1) * size, column * size : (column + 1) * size].reshape(-1)
            place = {"patch": chosen, "row": row, "column": column, "count": len(cut)}
            title = say("page.figure_patch", language, **place)
            numbers = " ".join(text.fixed(float(x), language) for x in cut[:5])
            _vector(ax, cut, channels, (tall + 14, wide), title, f"{numbers} …", language)
            told += " " + title + f": {numbers} …"
        return made.told(told)


def _checked(image: "Tensor", size: int) -> "np.ndarray":
    import numpy as np

    pixels = np.asarray(image.detach().cpu().double())
    if pixels.ndim != 3 or pixels.shape[0] not in (1, 3) or not pixels.size:
        raise ValueError(f"image has shape {tuple(pixels.shape)}; expected (1 or 3 channels, height, width)")
    if not (pixels.min() >= 0 and pixels.max() <= 1):
        raise ValueError("image holds numbers outside of 0 to 1: divide whole ones by 255")
    _, height, width = pixels.shape
    if size < 1 or height % size or width % size:
        raise ValueError(f"size is {size}; expected a divisor of both {height} and {width}")
    if (count := height * width // size**2) > MOST:
        raise ValueError(f"size is {size}, which makes {count} patches; expected at most {MOST}")
    return pixels


def _number(ax: "Axes", rows: int, columns: int, side: float, chosen: int | None) -> None:
    from matplotlib.patches import Rectangle

    ends = 2, 2 + side * columns, 2 + side * rows
    ax.hlines([2 + side * i for i in range(rows + 1)], ends[0], ends[1], color=WHITE, linewidth=0.9)
    ax.vlines([2 + side * j for j in range(columns + 1)], ends[0], ends[2], color=WHITE, linewidth=0.9)
    size = min(8.0, max(text.SMALLEST - 1, side * 0.22))
    chip = {"boxstyle": "square,pad=0.18", "facecolor": WHITE, "edgecolor": "none", "alpha": 0.86}
    for place in range(rows * columns):
        row, column = divmod(place, columns)
        corner = 2 + side * column + 0.22 * size + 1.2, 2 + side * row + 0.22 * size + 1.2
        style = {"ha": "left", "va": "top", "fontsize": size, "color": INK, "bbox": chip}
        ax.text(*corner, str(place), **style, **text.plain())
        if place == chosen:
            frame = {"facecolor": "none", "edgecolor": CORAL, "linewidth": 2.4, "gid": "chosen"}
            ax.add_patch(Rectangle((2 + side * column, 2 + side * row), side, side, zorder=4, **frame))


def _vector(
    ax: "Axes",
    cut: "np.ndarray",
    channels: int,
    place: tuple[float, float],
    title: str,
    numbers: str,
    language: Language,
) -> None:
    """Its numbers side by side: a bar code, dark is 0 and light is 1, as in the picture."""
    from matplotlib.patches import Rectangle

    top, wide = place
    ax.text(2, top, title, va="top", color=INK, **text.plain())
    ax.text(wide + 2, top, numbers, va="top", ha="right", color=INK2, fontsize=8.5, **text.plain())
    top += 17
    limits = ax.get_xlim(), ax.get_ylim()
    extent = 2, wide + 2, top + STRIP, top
    style = {"cmap": "gray", "vmin": 0, "vmax": 1, "interpolation": "none", "aspect": "auto"}
    ax.imshow(cut[None], extent=extent, **style)
    ax.set(xlim=limits[0], ylim=limits[1])
    frame = {"facecolor": "none", "edgecolor": EDGE, "linewidth": 0.6}
    ax.add_patch(Rectangle((2, top), wide, STRIP, **frame))
    if channels == 3:
        for k, named in enumerate(("page.figure_red", "page.figure_green", "page.figure_blue")):
            x = 2 + wide * k / 3
            ax.plot([x + wide / 3] * 2, [top, top + STRIP + 5], color=CORAL, linewidth=1.2 * (k < 2))
            style = {"ha": "center", "va": "top", "color": INK2, "fontsize": 8.5}
            ax.text(x + wide / 6, top + STRIP + 7, say(named, language), **style, **text.plain())
