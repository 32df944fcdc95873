"""Which maps of a run tell how it went."""

import torch
from torch import Tensor


def telling(maps: Tensor, most: int) -> list[int]:
    """Which of maps (snapshots, …) to show: the first, the last, and some between.

    From each to the next about as much changes: evenly in time, most of them would be alike.
    """
    if len(maps) <= most:
        return list(range(len(maps)))
    change = maps.diff(dim=0).nan_to_num().flatten(1).norm(dim=1).cumsum(0)
    wanted = torch.linspace(0, float(change[-1]), most)[1:-1]
    between = (torch.searchsorted(change, wanted) + 1).clamp(max=len(maps) - 2)
    return [0, *between.unique().tolist(), len(maps) - 1]
