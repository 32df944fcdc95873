"""What stands below an overlay: its scale, its frames, the tokens that are no patches; and all in words."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mirada.catalogue import Language, say
from mirada.views import figure_text as text
from mirada.views.figure_parts import CORAL, WHITE
from mirada.views.figure_text import EDGE, INK, INK2
from mirada.views.terminal import percent

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes

Place = tuple[int, int]

CORAL_TEXT = "#B93A23"  # coral, written
KEY = "#176B8A"  # who is looked at
PAPER = "#EFEAE0"  # what a bar could still fill
VEIL = 0.94  # of white over what is not looked at: one still knows what is there
# Points: a line of the legend, its scale, a bar of weight 1, and a number after it.
LINE, SCALE, TRACK, NUMBER = 15.0, 92.0, 54.0, 32.0


def scale(ax: "Axes", top: float, most: float, language: Language) -> None:
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
    ax.text(2, top + 16, say("page.figure_weight_of_patch", language), ha="left", **style)


def entries(
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


def entry(ax: "Axes", middle: float, said: str, **style: Any) -> None:
    from matplotlib.patches import Rectangle

    left = SCALE + 24
    ax.add_patch(Rectangle((left, middle - 4), 8, 8, **style))
    ax.text(left + 14, middle, said, va="center_baseline", fontsize=8, color=INK2, **text.plain())


def bars(
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


def alternative(
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
