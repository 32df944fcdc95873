"""A table of weights in words, for those who cannot see it."""

from typing import TYPE_CHECKING

from mirada.catalogue import Language, say
from mirada.views import figure_text as text
from mirada.views.scene import Scene

if TYPE_CHECKING:
    import numpy as np

FULL, ALL = 6, 16  # columns that are all told; rows, of each of which at least the largest weight is


def table(
    scene: Scene, weights: "np.ndarray", masked: "np.ndarray", language: Language, placed: bool = False
) -> str:
    """Of a small table each weight, of a larger one whom each row looks at most, of a large one its size.

    placed: each token is named with its position, and only whom it looks at most is told.
    """
    rows, columns = weights.shape
    if rows > ALL:
        return say("page.figure_alt_large", language, rows=rows, columns=columns)
    brief = placed or columns > FULL
    lines = [_row(scene, weights, masked, i, brief, placed, language) for i in range(rows)]
    return say("page.figure_alt_table", language, lines="; ".join(lines))


def _row(
    scene: Scene,
    weights: "np.ndarray",
    masked: "np.ndarray",
    row: int,
    brief: bool,
    placed: bool,
    language: Language,
) -> str:
    """One row in words."""

    def named(name: str, place: int) -> str:
        return say("page.figure_alt_place", language, name=name, place=place) if placed else name

    who = named(scene.rows[row], row)
    seen = [j for j in range(len(scene.columns)) if not masked[row, j]]
    if not seen:
        return say("page.figure_alt_nobody", language, name=who)
    told = sorted(seen, key=lambda j: -weights[row, j])[:1] if brief else seen
    shares = [f"{named(scene.columns[j], j)}: {text.fixed(float(weights[row, j]), language)}" for j in told]
    line = say(
        "page.figure_alt_most" if brief else "page.figure_alt_row",
        language,
        name=who,
        shares=", ".join(shares),
    )
    hidden = [scene.columns[j] for j in range(len(scene.columns)) if masked[row, j]]
    if hidden and not brief:
        line += " " + say("page.figure_alt_hidden", language, names=", ".join(hidden))
    return line
