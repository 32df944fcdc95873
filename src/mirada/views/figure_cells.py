"""Small tables that are read number by number: what is masked stays blank."""

from typing import TYPE_CHECKING

from mirada.catalogue import Language
from mirada.views import figure_data as data
from mirada.views import figure_layout as layout
from mirada.views import figure_text as text
from mirada.views import figure_told as told
from mirada.views.figure_parts import CORAL, RULE, ink_scale
from mirada.views.figure_text import EDGE, INK, INK2
from mirada.views.scene import Scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 16  # rows, and columns: of more, the numbers could not be read on a page
FLIP = 0.555  # from here on white on ink reads better than black
TINY = 0.005  # what two decimals would write as 0.00
CELL = (33.0, 25.0)  # points


def numbers(scene: Scene, *, language: Language = "en") -> "Figure":
    """The table of weights, (rows, columns), with its numbers; what the mask hides is left blank.

    Args:
        scene: at most 16 × 16.
        language: "en" or "es".

    Raises:
        ValueError: a larger scene, or an unknown language.
        ImportError: matplotlib is missing.
    """
    return _draw(scene, False, language)


def places(scene: Scene, *, language: Language = "en") -> "Figure":
    """The same table for tokens that repeat, as digits do: each with its position, which counts from 0.

    A frame marks whom each row looks at most.

    Args:
        scene: at most 16 × 16.
        language: "en" or "es".

    Raises:
        ValueError: a larger scene, or an unknown language.
        ImportError: matplotlib is missing.
    """
    return _draw(scene, True, language)


def _draw(scene: Scene, placed: bool, language: Language) -> "Figure":
    text.check_language(language)
    rows, columns = len(scene.rows), len(scene.columns)
    if max(rows, columns) > MOST:
        raise ValueError(
            f"this scene is {rows} × {columns}; expected at most {MOST} × {MOST}: draw mirada.figures.map"
        )
    with text.drawing([*scene.rows, *scene.columns, *scene.axes]):
        weights, masked = data.tables(scene)
        pitch = max(CELL[0], text.width_of(scene.columns) * text.LARGEST + 8)
        left = 34 + text.width_of(scene.rows) * text.LARGEST + 16 * placed
        above = 40.0 + 12 * placed
        made, ax = layout.canvas(left + max(pitch * columns, 110) + 6, above + CELL[1] * rows + 6)
        for i in range(rows):
            best = int(weights[i].argmax()) if placed and not masked[i].all() else -1
            for j in range(columns):
                if not masked[i, j]:
                    corner = left + pitch * j, above + CELL[1] * i
                    _cell(ax, corner, pitch, float(weights[i, j]), language, j == best)
        _label(ax, scene, placed, (left, above), pitch, language)
        return made.told(told.table(scene, weights, masked, language, placed))


def _cell(
    ax: "Axes", corner: tuple[float, float], width: float, weight: float, language: Language, best: bool
) -> None:
    from matplotlib.patches import Rectangle

    height = CELL[1]
    middle = corner[0] + width / 2, corner[1] + height / 2
    frame = {"facecolor": ink_scale()(weight), "edgecolor": RULE, "linewidth": 0.5}
    ax.add_patch(Rectangle(corner, width, height, gid="cell", **frame))
    if 0 < weight < TINY:  # there, though its number would say that it is not
        ax.plot(*middle, marker=".", markersize=2.5, color=INK2)
    else:
        colour = "black" if weight < FLIP else "white"
        style = {"ha": "center", "va": "center_baseline", "fontsize": 8.5, "color": colour}
        ax.text(*middle, text.fixed(weight, language), **style, **text.plain())
    if best:
        inset = corner[0] + 1.2, corner[1] + 1.2
        style = {"facecolor": "none", "edgecolor": CORAL, "linewidth": 1.6, "zorder": 3}
        ax.add_patch(Rectangle(inset, width - 2.4, height - 2.4, gid="most", **style))


def _label(
    ax: "Axes",
    scene: Scene,
    placed: bool,
    corner: tuple[float, float],
    pitch: float,
    language: Language,
) -> None:
    """What stands at each row and column, and what rows and columns are."""
    left, above = corner
    looks, looked_at = layout.names(scene.axes, language)
    small = {"fontsize": 7.5, "color": INK2, "va": "center_baseline"}
    for i, name in enumerate(scene.rows):
        y = above + CELL[1] * (i + 0.5)
        style = {"ha": "right", "va": "center_baseline", "color": INK}
        ax.text(left - 7, y, text.shortened(name), **style, **text.plain())
        if placed:
            ax.text(left - 13 - text.width_of(scene.rows) * text.LARGEST, y, str(i), ha="right", **small)
    for j, name in enumerate(scene.columns):
        x = left + pitch * (j + 0.5)
        style = {"ha": "center", "va": "center_baseline", "color": INK}
        ax.text(x, above - 9, text.shortened(name), **style, **text.plain())
        if placed:
            ax.text(x, above - 22, str(j), ha="center", **small)
    height = CELL[1] * len(scene.rows)
    style = {"ha": "center", "va": "center", "fontsize": 8.5, "color": EDGE}
    across = left + pitch * len(scene.columns) / 2
    ax.text(across, 12, looked_at, **style | {"color": INK2}, **text.plain())
    ax.text(10, above + height / 2, looks, rotation=90, **style | {"color": INK2}, **text.plain())
