"""A gaze laid over a picture: what is looked at is seen, and white hides the rest."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mirada.catalogue import Language, say
from mirada.views import figure_beside as legend
from mirada.views import figure_layout as layout
from mirada.views import figure_parts as parts
from mirada.views import figure_text as text
from mirada.views.figure_beside import KEY, LINE, VEIL, Place
from mirada.views.figure_parts import CORAL, WHITE
from mirada.views.figure_text import EDGE, INK

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from torch import Tensor

WIDE, TALLEST, NARROWEST = 430.0, 430.0, 300.0  # points: the picture, and the least sheet
ROOMY, THINNEST = 12.0, 0.5  # points of a patch in which a line can be read, and of a line
FINE = 600  # pixels of a side: in a smaller picture, patches would not end where they do
MOST_PIXELS = 4_000_000
MOST_BESIDE = 16


def overlay(
    image: "Tensor",
    weights: "Tensor",
    *,
    beside: Mapping[str, float] | None = None,
    query: str | Place | None = None,
    language: Language = "en",
) -> "Figure":
    """The picture, each patch behind a white veil that is the thinner the more it is looked at.

    The patch that is looked at most is seen as it is; where nothing is looked at, the veil lets 6 % through.
    A frame of coral is round the patch that looks, a blue one round the one that is looked at most. Tokens
    that are no patches, such as [CLS], are written below with their weights as bars, never over the picture.

    Args:
        image: (channels, height, width) from 0 to 1: 1 channel is grey, 3 are red, green and blue.
        weights: of the patches, (rows, columns), from 0 to 1; one that is NaN is hatched, as masked.
        beside: the weight of each token that is no patch, by its name; 16 at most.
        query: who looks: a patch (row, column), or one of the names in `beside`.
        language: "en" or "es".

    Raises:
        ValueError: another shape, more than 4,000,000 pixels, numbers outside of 0 to 1, a query that is not
            there, more names, or an unknown language.
        ImportError: matplotlib is missing.
    """
    text.check_language(language)
    beside = dict(beside or {})
    pixels = _pixels(image)
    table, masked = _weights(weights)
    rows, columns = table.shape
    _check(beside, query, (rows, columns))
    height, width, _ = pixels.shape
    top = float(table.max(where=~masked, initial=0.0))
    first = None if masked.all() or not top else divmod(int(table.argmax()), columns)
    with text.drawing(beside):
        wide = min(WIDE, TALLEST * width / height)
        tall = wide * height / width
        entries = legend.entries(query, first, table, language)
        lines = max(2, len(entries) + bool(masked.any()), len(beside) + bool(beside))
        sheet = 4 + max(wide, WIDE if beside else NARROWEST)
        made, ax = layout.canvas(sheet, tall + 18 + LINE * lines + 8)
        limits = ax.get_xlim(), ax.get_ylim()
        place = {"extent": (2, wide + 2, tall + 2, 2), "interpolation": "none", "aspect": "auto"}
        ax.imshow(_veiled(pixels, table, masked, top), **place)
        ax.set(xlim=limits[0], ylim=limits[1])
        side = wide / columns, tall / rows
        _hatch(ax, masked, side)
        if top and min(side) >= ROOMY:
            _lines(ax, table / top, side)
        _frame(ax, (0, 0), (wide, tall), EDGE, 0.6, "edge")
        for at, colour, name in ((first, KEY, "most"), (query, CORAL, "query")):
            if isinstance(at, tuple) and (name == "query" or at != query):
                _frame(ax, at, side, WHITE, 4.0, "halo")
                _frame(ax, at, side, colour, 2.2, name)
        below = tall + 18
        legend.scale(ax, below, top, language)
        for line, (colour, entry) in enumerate(entries):
            legend.entry(ax, below + LINE * line, entry, edgecolor=colour, facecolor="none", linewidth=1.8)
        if masked.any():
            said = say("page.figure_masked", language)
            legend.entry(ax, below + LINE * len(entries), said, **parts.MASKED, linewidth=0.6)
        if beside:
            together = float(table.sum(where=~masked))
            legend.bars(ax, sheet - 2, below, beside, (together, rows * columns), query, language)
        return made.told(legend.alternative(table, masked, beside, query, language))


def _pixels(image: "Tensor") -> "np.ndarray":
    """(height, width, 3), fine enough for patches to end where they do."""
    import numpy as np

    pixels = np.asarray(image.detach().cpu().double())
    if pixels.ndim != 3 or pixels.shape[0] not in (1, 3) or not pixels.size:
        raise ValueError(f"image has shape {tuple(pixels.shape)}; expected (1 or 3 channels, height, width)")
    if (count := pixels[0].size) > MOST_PIXELS:
        raise ValueError(f"image has {count:,} pixels; expected at most {MOST_PIXELS:,}: make it smaller")
    if not (pixels.min() >= 0 and pixels.max() <= 1):
        raise ValueError(
            "image holds numbers outside of 0 to 1: divide whole ones by 255, and undo what the model's "
            "processor did to them"
        )
    fold = -(-FINE // min(pixels.shape[1:]))
    fold = max(1, min(fold, int((MOST_PIXELS / count) ** 0.5)))
    in_colour = np.broadcast_to(pixels.transpose(1, 2, 0), (*pixels.shape[1:], 3))
    return in_colour.repeat(fold, 0).repeat(fold, 1)


def _weights(weights: "Tensor") -> tuple["np.ndarray", "np.ndarray"]:
    """As float64 with 0 where masked, and where they are masked: (rows, columns) each."""
    import numpy as np

    table = np.asarray(weights.detach().cpu().double())
    if table.ndim != 2 or not table.size:
        raise ValueError(f"weights has shape {tuple(table.shape)}; expected (rows, columns) of patches")
    masked = np.isnan(table)
    table = np.where(masked, 0.0, table)
    if table.min() < 0 or table.max() > 1 + 1e-6:
        raise ValueError(f"weights run from {table.min():g} to {table.max():g}; expected 0 to 1")
    return table, masked


def _check(beside: Mapping[str, float], query: str | Place | None, grid: Place) -> None:
    if len(beside) > MOST_BESIDE:
        raise ValueError(f"beside has {len(beside)} tokens; expected at most {MOST_BESIDE}")
    if any(not 0 <= weight <= 1 + 1e-6 for weight in beside.values()):
        raise ValueError(f"beside has weights {list(beside.values())}; expected 0 to 1")
    if isinstance(query, str) and query not in beside:
        raise ValueError(f"query is {query!r}; expected one of {', '.join(beside) or 'no names'}, or a patch")
    if isinstance(query, tuple) and not (0 <= query[0] < grid[0] and 0 <= query[1] < grid[1]):
        raise ValueError(f"query is {query}; expected a (row, column) of {grid[0]} × {grid[1]} patches")


def _veiled(pixels: "np.ndarray", table: "np.ndarray", masked: "np.ndarray", top: float) -> "np.ndarray":
    """One image, so that no reader of PDF draws a seam between two veils."""
    import numpy as np

    veil = VEIL * (1 - table / (top or 1.0))
    veil[masked] = VEIL
    rows, columns = (
        np.arange(count) * of // count for count, of in zip(pixels.shape, table.shape, strict=False)
    )
    veil = veil[rows][:, columns, None]
    return ((1 - veil) * pixels + veil).clip(0, 1)


def _hatch(ax: "Axes", masked: "np.ndarray", side: tuple[float, float]) -> None:
    from matplotlib.patches import Rectangle

    for row, column in zip(*masked.nonzero(), strict=True):
        corner = 2 + column * side[0], 2 + row * side[1]
        ax.add_patch(
            Rectangle(corner, *side, **{**parts.MASKED, "facecolor": "none"}, linewidth=0, gid="masked")
        )


def _lines(ax: "Axes", shares: "np.ndarray", side: tuple[float, float]) -> None:
    """At the foot of each patch a line, as long as its share: in a white sky, veiled and clear are alike."""
    long = shares * (side[0] - 5)
    rows, columns = (long >= THINNEST).nonzero()
    left, foot = 2 + columns * side[0] + 2.5, 2 + (rows + 1) * side[1] - 3.2
    right = left + long[rows, columns]
    ax.hlines(foot, left - 0.6, right + 0.6, color=WHITE, linewidth=2.6)
    ax.hlines(foot, left, right, color=INK, linewidth=1.4, gid="shares")


def _frame(
    ax: "Axes", at: Place, side: tuple[float, float], colour: str, linewidth: float, name: str
) -> None:
    from matplotlib.patches import Rectangle

    corner = 2 + at[1] * side[0], 2 + at[0] * side[1]
    style = {"facecolor": "none", "edgecolor": colour, "linewidth": linewidth, "joinstyle": "miter"}
    ax.add_patch(Rectangle(corner, *side, **style, gid=name, zorder=4))
