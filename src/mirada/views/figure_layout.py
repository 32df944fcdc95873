"""How large a figure is, where its axes stand, and what they are called."""

import math
from typing import TYPE_CHECKING, Any

from mirada.catalogue import Language, say
from mirada.views import figure_text as text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mirada.views.figure_shown import Picture

WIDEST = 470.0  # points: the text of a page
CELL = 30.0  # points, at most
FINE, FINEST = 200, 1200  # dots an inch


def extent(rows: int, columns: int) -> tuple[float, float]:
    """Width and height in points of a table: square cells, unless it would be a mere line."""
    cell = min(CELL, WIDEST / max(rows, columns))
    least = [max(count * cell, min(count * 14.0, WIDEST / 4)) for count in (columns, rows)]
    return least[0], least[1]


def figure(width: float, height: float, cells: float, engine: str | None = "constrained") -> "Picture":
    """A figure of so many points, fine enough for so many cells a point."""
    from mirada.views.figure_shown import Picture

    dots = min(max(FINE, math.ceil(72 * cells)), FINEST)
    inches = width / 72, height / 72
    return Picture(inches, dpi=dots, layout=engine, facecolor="white")  # pyright: ignore[reportArgumentType]


def canvas(width: float, height: float) -> tuple["Picture", "Axes"]:
    """A drawing of so many points, with an origin at its upper left corner and y that grows downwards."""
    made = figure(width, height, 0, engine=None)
    ax = made.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
    ax.set_axis_off()
    return made, ax


def settle(ax: "Axes", alternative: str) -> None:
    """Lays a figure of ours out once: each drawing would move it a little, and no two files were the same."""
    made = figure_of(ax)
    made.set_label(text.written(alternative))
    engine = made.get_layout_engine()
    if engine is not None:
        with text.quiet():
            engine.execute(made)
        made.set_layout_engine("none")


def room(ax: "Axes", ratio: float | None) -> tuple[float, float]:
    """Width and height in points of somebody else's axes, once its height is `ratio` times its width."""
    box, inches = ax.get_position(original=True), figure_of(ax).get_size_inches()
    width, height = box.width * inches[0] * 72, box.height * inches[1] * 72
    if ratio is None:
        return width, height
    width = min(width, height / ratio)
    return width, width * ratio


def figure_of(ax: "Axes") -> "Figure":
    found = ax.get_figure(root=True)
    assert found is not None
    return found


def slanted(pitch: float, side: str) -> dict[str, Any]:
    """For labels wider than their columns: on a slope, or upright where even that is too close."""
    return {"rotation": 60 if pitch >= 11 else 90, "rotation_mode": "anchor", "ha": side, "va": "center"}


def columns_on_top(ax: "Axes") -> None:
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")


def names(axes: tuple[str, str], language: Language) -> tuple[str, str]:
    """What rows and columns are: as the scene says, else who looks and who is looked at."""
    looks, looked_at = say("page.figure_looks", language), say("page.figure_looked_at", language)
    return text.written(axes[0]) or looks, text.written(axes[1]) or looked_at


def name_axes(ax: "Axes", axes: tuple[str, str], by_position: tuple[bool, bool], language: Language) -> None:
    """Writes what rows (y) and columns (x) are, and that they are counted where tokens are left out."""
    looks, looked_at = (
        say("page.figure_position", language, axis=name) if counted else name
        for name, counted in zip(names(axes, language), by_position, strict=True)
    )
    ax.set_ylabel(looks, labelpad=6, **text.plain())
    ax.set_xlabel(looked_at, labelpad=8, **text.plain())
