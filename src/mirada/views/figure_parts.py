"""What a figure is made of: the scale of ink, the table, its hatching, the legend."""

from functools import cache
from typing import TYPE_CHECKING, Any

from mirada.catalogue import Language, say
from mirada.views.figure_text import EDGE, INK, INK2, number, plain

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.transforms import Transform

    Swatch = tuple[Artist, str]

# A figure stands on the white of the sheet it is printed on: weight 0 is that white, weight 1 is ink.
WHITE, RULE = "#FFFFFF", "#DCD5C7"
CORAL = "#DB5138"  # who looks
MASKED: dict[str, Any] = {"facecolor": "#F5F0E6", "edgecolor": EDGE, "hatch": "/////"}
NOBODY: dict[str, Any] = {
    "linestyle": "",
    "marker": "x",
    "markersize": 4.5,
    "markeredgewidth": 1.2,
    "color": CORAL,
}
SQUARES = 4_096  # a table of so many cells is drawn as squares, a larger one as an image


@cache
def ink_scale() -> "Colormap":
    """White to ink, straight through OKLab: half the weight is half-way in lightness."""
    import numpy as np
    from matplotlib.colors import ListedColormap, to_rgb

    lms = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    )
    ends = np.array([to_rgb(WHITE), to_rgb(INK)])
    linear = np.where(ends <= 0.04045, ends / 12.92, ((ends + 0.055) / 1.055) ** 2.4)
    # OKLab is linear in these cube roots, so to mix them is to mix in OKLab.
    roots = np.cbrt(linear @ lms.T)
    steps = np.linspace(0, 1, 256)[:, None]
    mixed = np.clip(((1 - steps) * roots[0] + steps * roots[1]) ** 3 @ np.linalg.inv(lms).T, 0, 1)
    colours = np.where(mixed <= 0.0031308, 12.92 * mixed, 1.055 * mixed ** (1 / 2.4) - 0.055)
    return ListedColormap(colours.tolist(), name="mirada ink").with_extremes(bad=MASKED["facecolor"])


def paint(
    ax: "Axes", table: "np.ndarray", masked: "np.ndarray", most: float = 1.0, squares: bool = True
) -> Any:
    """The table (rows, columns) in ink, from 0 to `most`, row 0 at the top, with what is masked hatched.

    Cell (i, j) is the square round (j, i). Few cells are squares, since readers of PDF blur small images;
    more are one image, which is kept cell by cell ("none": nothing is resampled for SVG and PDF).
    """
    import numpy as np

    rows, columns = table.shape
    cells = np.ma.masked_array(table, masked)
    scale = {"cmap": ink_scale(), "vmin": 0.0, "vmax": most}
    if squares and table.size <= SQUARES:
        edges = np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5
        image = ax.pcolormesh(*edges, cells, edgecolors=RULE, linewidth=0.3, **scale)
    else:
        image = ax.imshow(cells, interpolation="none", aspect="auto", **scale)
    hatch(ax, masked)
    ax.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5))
    return image


def hatch(ax: "Axes", masked: "np.ndarray", **style: Any) -> None:
    """Hatches the cells that are True, as one area."""
    import numpy as np
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    turns = np.diff(np.pad(masked, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    row, start = np.nonzero(turns == 1)
    stop = np.nonzero(turns == -1)[1]
    if not len(row):
        return
    left, right, top, bottom = start - 0.5, stop - 0.5, row - 0.5, row + 0.5
    corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
    vertices = np.stack([np.stack(corner, -1) for corner in corners], 1).reshape(-1, 2)
    codes = np.tile([Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY], len(row))
    style = {**MASKED, "facecolor": "none", "linewidth": 0, "alpha": 0.7, **style}
    patch = PathPatch(Path(vertices, codes.astype(np.uint8)), **style)
    patch.set_gid("masked")
    # The outlines of a mask without order would be the larger part of a vector file.
    patch.set_rasterized(len(row) > 10_000)
    ax.add_patch(patch)


def mark_nobody(ax: "Axes", masked: "np.ndarray", at: float = 6, **style: Any) -> bool:
    """A cross, so many points beside each row that may look at nobody. True if there is one."""
    import numpy as np
    from matplotlib.transforms import blended_transform_factory

    (rows,) = np.nonzero(masked.all(1))
    if len(rows):
        beside = points_from(ax, (1, 0))
        where = blended_transform_factory(beside, ax.transData)
        marks = ax.plot([at] * len(rows), rows, transform=where, clip_on=False, **{**NOBODY, **style})
        marks[0].set_gid("nobody")
    return len(rows) > 0


def points_from(ax: "Axes", corner: tuple[float, float] = (0, 0)) -> "Transform":
    """Points, counted from a corner of `ax`: for what keeps its size whatever is drawn."""
    from matplotlib.transforms import Affine2D, ScaledTranslation

    figure = ax.get_figure(root=True)
    assert figure is not None
    return Affine2D().scale(1 / 72) + figure.dpi_scale_trans + ScaledTranslation(*corner, ax.transAxes)  # pyright: ignore[reportArgumentType]


def swatches(language: Language, masked: bool, nobody: bool = False) -> list["Swatch"]:
    """What a legend says besides its scale."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    found: list[Swatch] = []
    if masked:
        found.append((Patch(**MASKED, linewidth=0.6), say("page.figure_masked", language)))
    if nobody:
        found.append((Line2D([], [], **NOBODY), say("page.figure_nobody", language)))
    return found


def legend(
    ax: "Axes", image: Any, label: str, language: Language, others: list["Swatch"], top: float = -12
) -> None:
    """Under `ax`, in sizes that do not depend on it: the scale, then what else is drawn."""
    from matplotlib.colorbar import Colorbar

    points = points_from(ax)
    most = image.get_clim()[1]
    inner = ax.inset_axes((0, top - 8, 96, 8), transform=points)
    bar = Colorbar(inner, image, orientation="horizontal")
    bar.outline.set(linewidth=0.6, edgecolor=EDGE)  # pyright: ignore[reportCallIssue]
    ticks = [0, most / 2, most]
    inner.xaxis.set_ticks(ticks, [number(tick, language) for tick in ticks], fontsize=7.5, **plain())
    inner.tick_params(length=2, width=0.6, pad=2)
    inner.set_xlabel(label, fontsize=8, labelpad=2, loc="left", color=INK2, **plain())
    if others:
        where = {"loc": "upper left", "bbox_to_anchor": (108, top + 1), "bbox_transform": points}
        key(inner, others, **where)


def key(ax: "Axes", entries: list["Swatch"], **style: Any) -> Any:
    """A legend whose texts are drawn as they are."""
    handles, labels = zip(*entries, strict=True)
    style = {
        "frameon": False,
        "fontsize": 8,
        "borderpad": 0,
        "borderaxespad": 0,
        "handlelength": 1.5,
        **style,
    }
    # matplotlib takes a label that begins with _ for none: the texts come later.
    made = ax.legend(handles, ["."] * len(labels), handletextpad=0.6, labelspacing=0.5, **style)
    for text, said in zip(made.get_texts(), labels, strict=True):
        text.set(text=said, color=INK2, **plain())
    return made
