"""Pictures of a scene for a paper: `mirada.figures`, with matplotlib (extra `figures`).

White is weight 0 and ink is weight 1. Rows look (the y axis), columns are looked at. Each function returns a
`Figure` fine enough for every cell to be seen; pyplot knows nothing of it, and no setting of matplotlib's is
changed. `save` writes it: SVG and PDF with text as text, and the same bytes each time.

Tokens are drawn as they are, never read as mathematics. Letters that DejaVu lacks come from what fonts the
computer has, and are a box where no font has them (in SVG they stay themselves).
"""

import math
import operator
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mirada.catalogue import Language, say
from mirada.views import figure_data as data
from mirada.views import figure_grid as grid
from mirada.views import figure_layout as layout
from mirada.views import figure_parts as parts
from mirada.views import figure_rows as few
from mirada.views import figure_text as text
from mirada.views import figure_told as told
from mirada.views.figure_bars import temperatures as temperatures
from mirada.views.figure_block import block as block
from mirada.views.figure_cells import numbers as numbers
from mirada.views.figure_cells import places as places
from mirada.views.figure_overlay import overlay as overlay
from mirada.views.figure_patches import patches as patches
from mirada.views.figure_waves import sinusoids as sinusoids
from mirada.views.scene import Scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from torch import Tensor

MOST_HEADS = 144
ENDINGS = (".svg", ".pdf", ".png")


def map(scene: Scene, *, ax: "Axes | None" = None, title: str = "", language: Language = "en") -> "Figure":
    """The table of weights, (rows, columns), as a picture: each row looks, each column is looked at.

    What the mask hides is hatched, a row that may look at nobody has a cross, and the legend says so. Tokens
    stand at their rows and columns while they can be read; else some do, with their positions from 0 on.

    Args:
        ax: where to draw it; without it, a new figure.
        title: written above.
        language: "en" or "es", for what is not in the scene.

    Raises:
        ValueError: more than 4,000,000 cells, or an unknown language.
        ImportError: matplotlib is missing.
    """
    text.check_language(language)
    data.check_size(scene)
    with text.drawing([*scene.rows, *scene.columns, *scene.axes, title]):
        count = len(scene.rows), len(scene.columns)
        width, height = layout.extent(*count)
        ours = ax is None
        if ax is None:
            left = text.width_of(scene.rows) * text.LARGEST + 30
            above = text.width_of(scene.columns) * text.LARGEST + (50 if title else 30)
            dots = max(count[0] / height, count[1] / width)
            ax = layout.figure(max(width, 235) + left, height + above + 44, dots).add_subplot()
        else:
            width, height = layout.room(ax, height / width)
        weights, masked = data.tables(scene)
        image = parts.paint(ax, weights, masked, squares=min(width / count[1], height / count[0]) >= 5)
        ax.set_box_aspect(height / width)
        layout.columns_on_top(ax)
        pitch = width / count[1]
        style = {} if text.width_of(scene.columns) * text.LARGEST < pitch else layout.slanted(pitch, "left")
        thinned = (
            text.label_ticks(ax.yaxis, scene.rows, height / count[0]),
            text.label_ticks(ax.xaxis, scene.columns, pitch, **style),
        )
        layout.name_axes(ax, scene.axes, thinned, language)
        if title:
            ax.set_title(text.written(title), pad=10, **text.plain())
        others = parts.swatches(language, bool(masked.any()), parts.mark_nobody(ax, masked))
        parts.legend(ax, image, say("page.figure_weight", language), language, others)
        if ours:
            layout.settle(ax, told.table(scene, weights, masked, language))
    return layout.figure_of(ax)


def heads(
    scenes: Sequence[Scene],
    *,
    titles: Sequence[str] | None = None,
    columns: int | None = None,
    language: Language = "en",
) -> "Figure":
    """A grid of 1 to 144 small maps, each (rows, columns) of its own, all in one scale from 0 to 1.

    Args:
        titles: one a scene; without them, their places from 0 on.
        columns: how many stand side by side.
        language: "en" or "es".

    Raises:
        ValueError: no scene or more than 144, more than 4,000,000 cells in one, another number of titles,
            less than one column, or an unknown language.
        ImportError: matplotlib is missing.
    """
    text.check_language(language)
    if not 1 <= len(scenes) <= MOST_HEADS:
        raise ValueError(f"scenes has {len(scenes)} of them; expected 1 to {MOST_HEADS}: draw them in parts")
    titles = [str(i) for i in range(len(scenes))] if titles is None else titles
    if len(titles) != len(scenes):
        raise ValueError(f"titles has {len(titles)} of them; expected {len(scenes)}, one a scene")
    if columns is not None and columns < 1:
        raise ValueError(f"columns is {columns}; expected how many stand side by side, at least 1")
    for scene in scenes:
        data.check_size(scene)
    stated = scenes[0].axes if len({scene.axes for scene in scenes}) == 1 else ("", "")
    across = min(columns or max(4, math.ceil(math.sqrt(len(scenes)))), len(scenes))
    sizes = [(len(scene.rows), len(scene.columns)) for scene in scenes]
    return grid.draw((data.tables(scene) for scene in scenes), sizes, titles, across, stated, language)


def strip(
    maps: "Tensor",
    *,
    titles: Sequence[str],
    names: Sequence[str] | None = None,
    axes: tuple[str, str] = ("", ""),
    language: Language = "en",
) -> "Figure":
    """How the maps of a model came about: one line a head, from left to right one map a moment.

    Args:
        maps: weights from 0 to 1, (moments, heads, rows, columns), 1 to 144 maps; NaN is hatched, as masked.
        titles: of each moment.
        names: of each head, written before its line; without them, none is.
        axes: what rows and columns are, as in a scene.
        language: "en" or "es".

    Raises:
        ValueError: another shape, more maps, a weight outside 0 to 1, titles or names that are not as many,
            or an unknown language.
        ImportError: matplotlib is missing.
    """
    text.check_language(language)
    if maps.dim() != 4 or not 1 <= maps.shape[0] * maps.shape[1] <= MOST_HEADS or not maps.numel():
        raise ValueError(
            f"maps has shape {tuple(maps.shape)}; expected (moments, heads, rows, columns), "
            f"1 to {MOST_HEADS} maps of at least one cell"
        )
    for what, given, count in (("titles", titles, len(maps)), ("names", names, maps.shape[1])):
        if given is not None and len(given) != count:
            raise ValueError(f"{what} has {len(given)} of them; expected {count}")
    lines = [table for head in maps.transpose(0, 1) for table in head]
    drawn = (data.weights(table) for table in lines)
    named = [*titles, *[""] * (len(lines) - len(titles))]
    sizes = [(maps.shape[2], maps.shape[3])] * len(lines)
    return grid.draw(drawn, sizes, named, len(maps), axes, language, names)


def rows(
    scene: Scene, rows: Sequence[int] | int, *, ax: "Axes | None" = None, language: Language = "en"
) -> "Figure":
    """How much one to six rows look at each column, from 0 to 1: bars, or steps where there are many.

    Under the base line each row has a lane, hatched where the mask hides a column.

    Args:
        rows: their positions; negative ones count from the end.
        ax: where to draw it; without it, a new figure.
        language: "en" or "es".

    Raises:
        ValueError: no row or more than six, or an unknown language.
        IndexError: a row that is not there.
        ImportError: matplotlib is missing.
    """
    text.check_language(language)
    chosen = [operator.index(row) for row in ([rows] if isinstance(rows, int) else rows)]
    if not 1 <= len(chosen) <= len(few.STYLES):
        raise ValueError(
            f"rows has {len(chosen)} of them; expected 1 to {len(few.STYLES)}, as many as can be told apart: "
            "for more, draw mirada.figures.map"
        )
    count = len(scene.rows)
    for row in chosen:
        if not -count <= row < count:
            raise IndexError(f"there is no row {row}; the scene has {count}, from 0 to {count - 1}")
    chosen = [row % count for row in chosen]
    part = data.only(scene, chosen)
    weights, masked = data.tables(part)
    with text.drawing([*part.rows, *part.columns, *scene.axes]):
        columns = len(part.columns)
        width = max(170.0, min(layout.WIDEST, columns * (10 + 8.0 * len(chosen))))
        ours = ax is None
        if ax is None:
            below = text.width_of(part.columns) * text.LARGEST + few.LANE * len(chosen)
            above = 12 * math.ceil((len(chosen) + 1) / 2)
            ax = layout.figure(width + 44, 165 + above + below, columns / width).add_subplot()
        else:
            width = layout.room(ax, None)[0]
        handles = few.draw_rows(ax, weights, masked)
        ax.set(xlim=(-0.6, columns - 0.4), ylim=(0, 1))
        ax.spines[["top", "right"]].set_visible(False)
        pitch = width / columns
        style = {} if text.width_of(part.columns) * text.LARGEST < pitch else layout.slanted(pitch, "right")
        thinned = text.label_ticks(ax.xaxis, part.columns, pitch, **style)
        ax.xaxis.set_tick_params(pad=3 + few.draw_lanes(ax, masked))
        ax.yaxis.set_ticks([0, 0.5, 1], [text.number(y, language) for y in (0, 0.5, 1)], **text.plain())
        layout.name_axes(ax, scene.axes, (False, thinned), language)
        looks = ax.get_ylabel()
        ax.set_ylabel(say("page.figure_weight", language), **text.plain())
        names = few.label_rows(
            chosen,
            [text.shortened(name) for name in part.rows],
            [bool(row.all()) for row in masked],
            say("page.figure_nobody", language),
        )
        entries = [*zip(handles, names, strict=True), *parts.swatches(language, bool(masked.any()))]
        key = parts.key(ax, entries, loc="lower left", bbox_to_anchor=(0, 1.04), ncols=2, title=looks)
        key.set_alignment("left")
        key.get_title().set(fontsize=8, **text.plain())
        if ours:
            layout.settle(ax, told.table(part, weights, masked, language))
    return layout.figure_of(ax)


def tile_map(
    mean: "Tensor",
    *,
    row_span: int,
    column_span: int,
    axes: tuple[str, str] = ("", ""),
    ax: "Axes | None" = None,
    language: Language = "en",
) -> "Figure":
    """The map of a long text, (row tiles, column tiles): mean weights of tiles of row_span × column_span.

    Its scale goes from 0 to the largest of them, which the legend tells. A tile that is NaN is hatched.

    Args:
        mean: a tensor, or whatever NumPy takes for a table of numbers.
        axes: what rows and columns are, as in a scene.
        ax: where to draw it; without it, a new figure.
        language: "en" or "es".

    Raises:
        ValueError: not a table, more than 4,000,000 tiles, a weight below 0, a span below 1, or an unknown
            language.
        ImportError: matplotlib is missing.
    """
    text.check_language(language)
    for name, span in (("row_span", row_span), ("column_span", column_span)):
        if operator.index(span) < 1:
            raise ValueError(f"{name} is {span}; expected how many tokens a tile holds, at least 1")
    with text.drawing(axes):
        table, masked = data.tiles(mean)
        most = float(table.max(where=~masked, initial=0.0))
        count = table.shape
        width, height = layout.extent(count[0] * row_span, count[1] * column_span)
        ours = ax is None
        if ax is None:
            dots = max(count[0] / height, count[1] / width)
            ax = layout.figure(max(width, 235) + 70, height + 100, dots).add_subplot()
        image = parts.paint(ax, table, masked, most or 1.0, squares=False)
        ax.set_box_aspect(height / width)
        layout.columns_on_top(ax)
        text.count_ticks(ax.yaxis, count[0], row_span)
        text.count_ticks(ax.xaxis, count[1], column_span)
        layout.name_axes(ax, axes, (True, True), language)
        label = say(
            "page.figure_tile",
            language,
            rows=row_span,
            columns=column_span,
            most=text.number(most or 1.0, language),
        )
        others = parts.swatches(language, bool(masked.any()))
        parts.legend(ax, image, label, language, others)
        if ours:
            layout.settle(ax, label)
    return layout.figure_of(ax)


def alternative(figure: "Figure") -> str:
    """What a figure shows, in words, for those who cannot see it; empty where it was not drawn here.

    In a notebook a figure shows itself with it (the `alt` of its image); `save` writes it into the file.
    """
    return str(figure.get_label())


def save(figure: "Figure", path: str | Path) -> None:
    """Writes a figure as .svg, .pdf or .png, by the ending of `path`, replacing what is there.

    Text stays text (SVG: `svg.fonttype` none; PDF: TrueType), and the same figure gives the same bytes with
    the same matplotlib: no date is written, and the names inside an SVG come from a fixed salt ("mirada").
    The text alternative goes along: an SVG's title, a PDF's subject, a PNG's description.

    Raises:
        ValueError: another ending.
        OSError: the file cannot be written.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise ValueError(f"{str(path)!r} ends in {ending!r}; expected one of {', '.join(ENDINGS)}")
    undated, field = {
        ".svg": ({"Date": None}, "Title"),
        ".pdf": ({"CreationDate": None}, "Subject"),
        ".png": ({"Software": None}, "Description"),
    }[ending]
    words = alternative(figure)
    about = undated | ({field: words} if words else {})
    with text.writing():
        figure.savefig(path, format=ending[1:], metadata=about, bbox_inches="tight", pad_inches=0.05)
