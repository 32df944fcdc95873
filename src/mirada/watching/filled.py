"""How much of a static cache was written when a call looked at it."""

import torch

from mirada.watching.call import Call


def filled(call: Call) -> int:
    """How many keys there are for the last row: a static cache has places that nothing was written to yet.

    Its rows look to their own place, each one further than the one before, or else all to the end. Where
    the last rows do neither, what the mask hides at the end is padding, and was written.
    """
    rows, keys = call.shape[2:]
    if call.mask is None or rows >= keys:
        return keys
    ends = [end_of(call, row) for row in (0, max(rows - 2, 0), rows - 1)]
    is_own = rows == 1 or ends[2] == ends[1] + 1 or ends[2] == ends[0]
    return ends[2] if is_own and ends[2] else keys


def is_growing(call: Call) -> bool:
    """Whether its last rows say so: each looks one key further than the one before.

    Where all rows look to one end, what is behind it may be padding, of an encoder, and was written.
    """
    rows, keys = call.shape[2:]
    if call.mask is None or not 1 < rows < keys:
        return False
    return end_of(call, rows - 1) == end_of(call, rows - 2) + 1


def end_of(call: Call, row: int) -> int:
    """Behind the last key at which this row may look, in any sample and head; 0 if there is none."""
    assert call.mask is not None
    table = call.mask.table(call.shape, slice(row, row + 1), slice(0, call.shape[3]), call.key.device)
    seen = table if table.dtype == torch.bool else table > -torch.inf
    seen = seen.expand(*seen.shape[:-1], call.shape[3]).flatten(0, -2).any(0)
    return int(seen.nonzero().amax()) + 1 if seen.any() else 0
