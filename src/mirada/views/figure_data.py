"""What a figure asks of a scene, as arrays: whom its mask hides, and some of its rows alone."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mirada.views.scene import Scene

if TYPE_CHECKING:
    import numpy as np

MOST_CELLS = 4_000_000


def check_size(scene: Scene) -> None:
    rows, columns = len(scene.rows), len(scene.columns)
    if rows * columns > MOST_CELLS:
        raise ValueError(
            f"the table of this scene is {rows:,} × {columns:,}, {rows * columns:,} cells; expected at most "
            f"{MOST_CELLS:,}: average the weights in tiles and draw mirada.figures.tile_map, or some of the "
            "rows with mirada.figures.rows"
        )


def tables(scene: Scene) -> tuple["np.ndarray", "np.ndarray"]:
    """Weights, and where the mask forbids them: two tables of (rows, columns)."""
    return scene.weights().numpy(), _masked(scene, range(len(scene.rows)))


def _masked(scene: Scene, rows: Sequence[int]) -> "np.ndarray":
    import numpy as np

    table = _allowance(scene, rows)
    return np.zeros((len(rows), len(scene.columns)), dtype=bool) if table is None else table == -math.inf


def _allowance(scene: Scene, rows: Sequence[int]) -> "np.ndarray | None":
    """What the mask adds to the scores of some rows, −inf where it forbids; None without a mask."""
    import torch

    mask = scene.mask()
    if mask is None:
        return None
    shape = (1, 1, len(scene.rows), len(scene.columns))
    pieces = []
    for row in rows:
        piece = mask.table(shape, slice(row, row + 1), slice(0, shape[-1]), torch.device("cpu"))
        piece = torch.where(piece, 0.0, -math.inf) if piece.dtype == torch.bool else piece
        pieces.append(piece.double().expand(1, 1, 1, shape[-1])[0, 0])
    return torch.cat(pieces).numpy()


def only(scene: Scene, rows: Sequence[int]) -> Scene:
    """The same scene with these rows alone, and its mask as tables for them: no larger table is built."""
    import numpy as np

    masks = []
    table = _allowance(scene, rows)
    if table is not None:
        hidden = table == -math.inf
        masks = [
            {"kind": "blocked", "table": hidden.tolist()},
            {"kind": "bias", "table": np.where(hidden, 0, table).tolist()},
        ]
    return replace(
        scene,
        rows=tuple(scene.rows[row] for row in rows),
        query=tuple(scene.query[row] for row in rows),
        masks=masks,  # pyright: ignore[reportArgumentType]
    )


def tiles(mean: Any) -> tuple["np.ndarray", "np.ndarray"]:
    """Means as float64, and where there is none (NaN). ValueError for what no map can be made of."""
    import numpy as np

    given = mean.detach().cpu().double() if hasattr(mean, "detach") else mean
    table = np.asarray(given, dtype=np.float64)
    if table.ndim != 2 or not table.size:
        raise ValueError(f"mean has shape {table.shape}; expected (row tiles, column tiles), at least one")
    if table.size > MOST_CELLS:
        raise ValueError(f"mean has {table.size:,} tiles; expected at most {MOST_CELLS:,}: take larger tiles")
    if ((table < 0) | np.isinf(table)).any():
        raise ValueError(
            "mean holds a number below 0 or infinite; expected weights, and NaN where there are none"
        )
    return table, np.isnan(table)


def weights(table: Any) -> tuple["np.ndarray", "np.ndarray"]:
    """Weights as float64, and where there is none (NaN). ValueError for one that is not from 0 to 1."""
    found, masked = tiles(table)
    if found.max(where=~masked, initial=0.0) > 1 + 1e-6:
        raise ValueError(
            f"maps holds {found.max(where=~masked, initial=0.0):g}; expected weights from 0 to 1"
        )
    return found, masked
