"""The picture of a few rows: bars or steps from 0 to 1, and below them the lanes of what is masked."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mirada.views.figure_parts import CORAL, MASKED, hatch, points_from
from mirada.views.figure_text import INK

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

BARS = 72  # at most; more are steps
LANE = 6.5  # points
SAND = "#C9BA9E"  # grey print tells it from coral, and both from ink
STYLES = [(colour, second) for second in (False, True) for colour in (CORAL, INK, SAND)]


def draw_rows(ax: "Axes", weights: "np.ndarray", masked: "np.ndarray") -> list["Artist"]:
    """One colour a row, (rows, columns); no bar or step where it is masked. What a legend shows for each."""
    import numpy as np
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    count, columns = weights.shape
    handles: list[Artist] = []
    for k, (colour, second) in enumerate(STYLES[:count]):
        if weights.size <= BARS:
            width = min(0.8 / count, 0.5)
            seen = np.flatnonzero(~masked[k])
            # The edge shows that a weight is there, however small.
            fill: dict[str, Any] = {"facecolor": "white" if second else colour, "edgecolor": colour}
            ax.bar(
                seen + (k - (count - 1) / 2) * width, weights[k, seen], width * 0.86, linewidth=0.8, **fill
            )
            handles.append(Patch(linewidth=0.8, **fill))
        else:
            values = np.where(masked[k], np.nan, weights[k])
            line = {"linestyle": (0, (2.5, 1)) if second else "-", "linewidth": 1.1}
            edges = np.arange(columns + 1) - 0.5
            ax.stairs(values, edges, baseline=None, color=colour, **line)
            handles.append(Line2D([], [], color=colour, **line))
    return handles


def draw_lanes(ax: "Axes", masked: "np.ndarray") -> float:
    """Under the base line a lane a row, hatched where masked. How many points they take."""
    from matplotlib.transforms import Affine2D, blended_transform_factory

    if not masked.any():
        return 0
    down = Affine2D().scale(1, -LANE).translate(0, -LANE / 2 - 2)
    where = blended_transform_factory(ax.transData, down + points_from(ax))
    style = {"facecolor": MASKED["facecolor"], "linewidth": 0.4, "alpha": 1, "clip_on": False}
    hatch(ax, masked, transform=where, **style)
    if len(masked) > 1:  # which lane is whose
        beside = blended_transform_factory(points_from(ax, (1, 0)), down + points_from(ax))
        for k, (colour, second) in enumerate(STYLES[: len(masked)]):
            face = "white" if second else colour
            mark: dict[str, Any] = {"marker": "s", "markersize": 3.5, "color": colour}
            ax.plot([6], [k], markerfacecolor=face, transform=beside, clip_on=False, **mark)
    return LANE * len(masked) + 2


def label_rows(places: Sequence[int], names: Sequence[str], alone: Sequence[bool], said: str) -> list[str]:
    """What the legend calls each row: its position and its token, and that it may look at nobody."""
    return [
        f"{place}  {name}" + (f" ({said})" if nobody else "")
        for place, name, nobody in zip(places, names, alone, strict=True)
    ]
