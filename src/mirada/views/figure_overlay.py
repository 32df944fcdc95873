"""A gaze laid over a picture: what is looked at is seen, and white hides the rest."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mirada.catalogue import Language, say
from mirada.views import figure_layout as layout
from mirada.views import figure_parts as parts
from mirada.views import figure_text as text
from mirada.views.figure_parts import CORAL, WHITE
from mirada.views.figure_text import EDGE, INK, INK2
from mirada.views.terminal import percent

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from torch import Tensor

Place = tuple[int, int]

CORAL_TEXT = "#B93A23"  # the same, written
KEY = "#176B8A"  # who is looked at
PAPER = "#EFEAE0"  # what a bar could still fill
VEIL = 0.94  # of white over what is not looked at: one still knows what is there
# Points: the picture; the least sheet; a line of the legend, its scale, a bar of weight 1, a number after it.
WIDE, TALLEST, NARROWEST = 430.0, 430.0, 300.0
LINE, SCALE, TRACK, NUMBER = 15.0, 92.0, 54.0, 32.0
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
        entries = _entries(query, first, table, language)
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
        _scale(ax, below, top, language)
        for line, (colour, entry) in enumerate(entries):
            _entry(ax, below + LINE * line, entry, edgecolor=colour, facecolor="none", linewidth=1.8)
        if masked.any():
            said = say("page.figure_masked", language)
            _entry(ax, below + LINE * len(entries), said, **parts.MASKED, linewidth=0.6)
        if beside:
            together = float(table.sum(where=~masked))
            _bars(ax, sheet - 2, below, beside, (together, rows * columns), query, language)
        return made.told(_alternative(table, masked, beside, query, language))


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


def _scale(ax: "Axes", top: float, most: float, language: Language) -> None:
    """From the veil to what is seen clearly."""
    import numpy as np
    from matplotlib.patches import Rectangle

    limits = ax.get_xlim(), ax.get_ylim()
    ink = np.array([[[90, 82, 72]]]) / 255
    veil = VEIL * (1 - np.linspace(0, 1, 96))[None, :, None]
    place = {"extent": (2, 2 + SCALE, top + 4, top - 4), "interpolation": "none", "aspect": "auto"}
    ax.imshow((1 - veil) * ink + veil, **place)
    ax.set(xlim=limits[0], ylim=limits[1])
    ax.add_patch(Rectangle((2, top - 4), SCALE, 8, facecolor="none", edgecolor=EDGE, linewidth=0.6))
    ax.hlines(top + 2, 4, SCALE, color=WHITE, linewidth=2.6)
    ax.hlines(top + 2, 4.6, SCALE - 0.6, color=INK, linewidth=1.4)
    style: dict[str, Any] = {"va": "top", "fontsize": 7.5, "color": INK2, **text.plain()}
    ax.text(2, top + 6, "0", ha="left", **style)
    ax.text(2 + SCALE, top + 6, _share(most, language), ha="right", **style)
    ax.text(2, top + 16, say("page.figure_weight_of_patch", language), ha="left", **style | {"fontsize": 8})


def _entries(
    query: str | Place | None, first: Place | None, table: "np.ndarray", language: Language
) -> list[tuple[str, str]]:
    """What the frames mean: a colour and its sentence each."""
    columns = table.shape[1]
    found = []
    if query is not None and query == first:
        name, share = _name(query, columns, language), _share(float(table[first]), language)
        return [(CORAL, say("page.figure_gaze_itself", language, name=name, share=share))]
    if query is not None:
        name = _name(query, columns, language)
        found.append((CORAL, say("page.figure_gaze_query", language, name=name)))
    if first is not None:
        name, share = _name(first, columns, language), _share(float(table[first]), language)
        found.append((KEY, say("page.figure_gaze_most", language, name=name, share=share)))
    return found


def _name(at: str | Place, columns: int, language: Language) -> str:
    if isinstance(at, str):
        return text.shortened(at)
    return say("page.figure_patch_name", language, patch=at[0] * columns + at[1])


def _entry(ax: "Axes", middle: float, said: str, **style: Any) -> None:
    from matplotlib.patches import Rectangle

    left = SCALE + 24
    ax.add_patch(Rectangle((left, middle - 4), 8, 8, **style))
    ax.text(left + 14, middle, said, va="center_baseline", fontsize=8, color=INK2, **text.plain())


def _bars(
    ax: "Axes",
    right: float,
    top: float,
    beside: Mapping[str, float],
    patches: tuple[float, int],
    query: str | Place | None,
    language: Language,
) -> None:
    """Of each token that is no patch, and of all patches together, how much it is looked at."""
    from matplotlib.patches import Rectangle

    together = say("page.figure_gaze_patches", language, count=patches[1])
    style = {"va": "center_baseline", "fontsize": 8, **text.plain()}
    for line, (name, weight) in enumerate([*beside.items(), (together, patches[0])]):
        middle, left = top + LINE * line, right - NUMBER - TRACK
        colour = CORAL_TEXT if name == query else INK2
        ax.text(left - 6, middle, text.shortened(name), ha="right", color=colour, **style)
        ax.add_patch(Rectangle((left, middle - 3), TRACK, 6, facecolor=PAPER, linewidth=0))
        ax.add_patch(
            Rectangle((left, middle - 3), TRACK * weight, 6, facecolor=INK, linewidth=0, gid="weight")
        )
        ax.text(right, middle, _share(weight, language), ha="right", color=INK, **style)


def _share(weight: float, language: Language) -> str:
    """61 %, 6.1 %, and <0.1 % for one that is there but would round to none."""
    if 0 < weight < 0.0005:
        return "<" + percent(0.001, language, 1)
    return percent(weight, language, 1 if weight < 0.0995 else 0)


def _alternative(
    table: "np.ndarray",
    masked: "np.ndarray",
    beside: Mapping[str, float],
    query: str | Place | None,
    language: Language,
) -> str:
    """The three patches that are looked at most, and all that is no patch."""
    rows, columns = table.shape
    places = [divmod(int(at), columns) for at in (-table).argsort(axis=None, kind="stable")]
    told = [
        say(
            "page.figure_gaze_told",
            language,
            name=_name(at, columns, language),
            row=at[0],
            column=at[1],
            share=_share(float(table[at]), language),
        )
        for at in places[:3]
        if not masked[at]
    ]
    told += [f"{name}: {_share(weight, language)}" for name, weight in beside.items()]
    key = "page.figure_alt_overlay" if query is None else "page.figure_alt_overlay_of"
    name = "" if query is None else _name(query, columns, language)
    return say(key, language, rows=rows, columns=columns, name=name, lines="; ".join(told))
