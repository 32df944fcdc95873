"""The picture of sinusoidal positions: a bar code for each of them."""

import math
from typing import TYPE_CHECKING

from mirada.catalogue import Language, say
from mirada.views import figure_layout as layout
from mirada.views import figure_text as text
from mirada.views.figure_parts import ink_scale, key, points_from
from mirada.views.figure_text import EDGE, INK2

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mirada.views.figure_parts import Swatch

MOST_POSITIONS, MOST_NUMBERS = 512, 512
SIDE = 300.0  # points, of the longer side


def sinusoids(length: int, d_model: int, *, language: Language = "en") -> "Figure":
    """The vectors of `sinusoidal_positions(length, d_model)`, a row a position: white is −1, ink is 1.

    Above, how many positions it takes until a column repeats itself.

    Args:
        length: positions, 2 to 512.
        d_model: numbers of each vector, 2 to 512.
        language: "en" or "es".

    Raises:
        ValueError: other sizes, or an unknown language.
        ImportError: matplotlib is missing.
    """
    text.check_language(language)
    for name, size, most in (("length", length, MOST_POSITIONS), ("d_model", d_model, MOST_NUMBERS)):
        if not 2 <= size <= most:
            raise ValueError(f"{name} is {size}; expected 2 to {most}")
    from mirada.layers.positions import sinusoidal_positions

    with text.drawing([]):
        from matplotlib.patches import Patch

        table = sinusoidal_positions(length, d_model, device="cpu").double().numpy()
        cell = SIDE / max(length, d_model)
        width, height = max(d_model * cell, SIDE * 0.6), max(length * cell, SIDE * 0.3)
        left, above, foot = 44.0, 46.0, 52.0
        whole = left + width + 22, above + height + foot
        made = layout.figure(*whole, max(length / height, d_model / width), engine=None)
        box = left / whole[0], foot / whole[1], width / whole[0], height / whole[1]
        ax = made.add_axes(box)
        ax.imshow(table, cmap=ink_scale(), vmin=-1, vmax=1, interpolation="none", aspect="auto")
        _name(ax, length, d_model, language)
        entries: list[Swatch] = [
            (
                Patch(facecolor=ink_scale()((x + 1) / 2), edgecolor=EDGE, linewidth=0.5),
                text.fixed(x, language, 0),
            )
            for x in (-1, 0, 1)
        ]
        style = {"loc": "upper left", "bbox_to_anchor": (0, -34), "bbox_transform": points_from(ax)}
        key(ax, entries, ncols=3, columnspacing=1.4, **style | {"handlelength": 1.0})
        first, longest = (_rounded(period(j, d_model), language) for j in (0, d_model - 1))
        said = {"last": length - 1, "width": d_model, "first": first, "longest": longest}
        return made.told(say("page.figure_alt_sinusoids", language, **said))


def period(column: int, d_model: int) -> float:
    """After how many positions a column repeats itself."""
    return 2 * math.pi * 10000 ** (column // 2 * 2 / d_model)


def _name(ax: "Axes", length: int, d_model: int, language: Language) -> None:
    """Positions beside it, numbers of the vector below, periods above."""
    style = {"fontsize": 8, **text.plain()}
    rows = _some(length, 6)
    ax.yaxis.set_ticks(rows, [str(i) for i in rows], **style)
    columns = _some(d_model, 5)
    ax.xaxis.set_ticks(columns, [str(j) for j in columns], **style)
    ax.tick_params(length=2, width=0.6, pad=2)
    ax.set_ylabel(say("page.figure_position_axis", language), labelpad=5, color=INK2, **text.plain())
    ax.set_xlabel(say("page.figure_sinusoids", language), labelpad=3, color=INK2, **text.plain())
    over = ax.secondary_xaxis("top")
    over.set_ticks(columns, [_rounded(period(j, d_model), language) for j in columns], **style)
    over.tick_params(length=2, width=0.6, pad=2, color=EDGE)
    over.set_xlabel(say("page.figure_sinusoids_period", language), labelpad=4, color=INK2, **text.plain())


def _some(count: int, most: int) -> list[int]:
    """Places from 0 on, an even number apart, since columns come in pairs."""
    step = next(k for k in (1, 2, 4, 8, 10, 16, 20, 32, 50, 64, 100, 128, 200) if count / k <= most)
    return list(range(0, count, step))


def _rounded(x: float, language: Language) -> str:
    return text.fixed(x, language, 1) if x < 10 else f"{round(x):,}".replace(",", "\u202f")
