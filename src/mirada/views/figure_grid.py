"""Many small maps in one figure and one scale."""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from mirada.catalogue import Language, say
from mirada.views import figure_layout as layout
from mirada.views import figure_parts as parts
from mirada.views import figure_text as text

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure

    Table = tuple[np.ndarray, np.ndarray]  # weights, and where the mask forbids them: (rows, columns) each


def draw(
    tables: Iterable["Table"],
    sizes: Sequence[tuple[int, int]],
    titles: Sequence[str],
    across: int,
    axes: tuple[str, str],
    language: Language,
    names: Sequence[str] | None = None,
) -> "Figure":
    """`across` maps side by side, line under line.

    `sizes` are (rows, columns) of the tables; `titles` has one a table, of which those that are empty take no
    room where all of a line are; `names` one a line.
    """
    names = [""] * math.ceil(len(titles) / across) if names is None else names
    lines = [titles[i : i + across] for i in range(0, len(titles), across)]
    with text.drawing([*titles, *names, *axes]):
        left, above, gap, foot = 24.0 + 14.0 * any(names), 18.0, 7.0, 50.0
        side = min(layout.WIDEST / across - gap, 130)
        size = max(text.SMALLEST, min(text.LARGEST, side / 6))
        extents = [layout.extent(*size) for size in sizes]
        tall = side * min(1.0, max(height / width for width, height in extents))
        heights = [tall + gap + 1.25 * size * any(line) for line in lines]
        width, height = left + max(across * (side + gap), 235), above + sum(heights) + foot
        figure = layout.figure(width, height, max(map(max, sizes)) / side, engine=None)
        image, any_masked, any_nobody = None, False, False
        for place, ((weights, masked), title) in enumerate(zip(tables, titles, strict=True)):
            i, j = divmod(place, across)
            x, y = left + j * (side + gap), height - above - sum(heights[: i + 1]) + gap
            ax = figure.add_axes((x / width, y / height, side / width, tall / height))
            image = parts.paint(ax, weights, masked, squares=False)
            any_masked |= bool(masked.any())
            any_nobody |= parts.mark_nobody(ax, masked, at=4, markersize=2.5, markeredgewidth=0.7)
            ax.set(xticks=[], yticks=[], box_aspect=extents[place][1] / extents[place][0])
            ax.set_title(text.shortened(title), fontsize=size, pad=2.5, **text.plain())
            if j == 0 and names[i]:
                ax.set_ylabel(text.shortened(names[i]), fontsize=size, labelpad=3, **text.plain())
        looks, looked_at = layout.names(axes, language)
        middle = (left + (across * (side + gap) - gap) / 2) / width, (foot + height - above) / 2 / height
        figure.supylabel(looks, fontsize=text.LARGEST, x=4 / width, y=middle[1], **text.plain())
        figure.suptitle(looked_at, fontsize=text.LARGEST, x=middle[0], y=1 - 3 / height, **text.plain())
        ax = figure.add_axes((left / width, foot / height, 0.5, 0.01))
        ax.set_axis_off()
        others = parts.swatches(language, any_masked, any_nobody)
        parts.legend(ax, image, say("page.figure_weight", language), language, others, top=-2)
    named = ", ".join(title for title in [*titles, *names] if title)
    return figure.told(say("page.figure_alt_grid", language, count=len(titles), names=named))
