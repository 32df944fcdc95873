"""A whole head at a glance, at any length: what each key receives, what regions look at, the map made small.

Each walks the table once, in blocks of rows, and keeps sums.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from mirada.watching.head import Head
from mirada.watching.walk import all_see, blocks, scores_into

ROWS = 64  # of a block, at most
BLOCK = 20_000_000  # bytes of weights at a time


class Received(NamedTuple):
    mean: Tensor  # (keys,) float32: how much each key receives, over the rows that may see it; 0 if none may
    rows: Tensor  # (keys,) int64: how many may


class Tiles(NamedTuple):
    """A table in tiles of one size, (tiles of rows, tiles of keys), float32; the last ones may be cut off."""

    mean: Tensor  # of all the weights in the tile, those of masked keys too: 0
    largest: Tensor


def received(head: Head) -> Received:
    """How much each key is looked at: at an attention sink by everybody, whatever they look for."""
    device = head.query.device
    total = torch.zeros(head.keys, dtype=head.dtype, device=device)
    rows = torch.zeros(head.keys, dtype=torch.int64, device=device)
    for block, keys, weights, seen in _weights(head, [slice(0, head.rows)]):
        total[keys] += weights.sum(0)
        rows[keys] += block.stop - block.start if seen is None else seen.sum(0)
    return Received((total / rows.clamp(min=1)).float(), rows)


def regions(head: Head, row_edges: Sequence[int], column_edges: Sequence[int]) -> Tensor:
    """(regions of rows, regions of keys): how much a row of the one looks at the other, in the mean.

    Args:
        row_edges: where the regions begin, and where the last one ends: [0, 3, 7] are rows 0 to 2 and 3 to 6.
        column_edges: the same of keys.

    Raises:
        ValueError: edges that do not ascend, fewer than two, or any beyond the rows or keys.
    """
    row_edges = _edges(row_edges, head.rows, "row_edges")
    column_edges = _edges(column_edges, head.keys, "column_edges")
    device = head.query.device
    looking, looked_at = (torch.tensor(edges, device=device) for edges in (row_edges, column_edges))
    found = torch.zeros(len(row_edges) - 1, len(column_edges) - 1, dtype=head.dtype, device=device)
    # Keys before the first region and after the last fall into two more, which are left out at the end.
    columns = torch.bucketize(torch.arange(head.keys, device=device), looked_at, right=True)
    for block, keys, weights, _ in _weights(head, [slice(row_edges[0], row_edges[-1])]):
        which = torch.bucketize(torch.arange(block.start, block.stop, device=device), looking, right=True) - 1
        met = slice(int(which[0]), int(which[-1]) + 1)
        belongs = torch.arange(met.start, met.stop, device=device)[:, None] == which
        sums = belongs.to(head.dtype) @ weights  # (regions met, keys)
        into = torch.zeros(len(sums), len(column_edges) + 1, dtype=head.dtype, device=device)
        found[met] += into.index_add_(1, columns[keys], sums)[:, 1:-1]
    return (found / looking.diff()[:, None]).float()


def tiles(head: Head, size: int = 512) -> Tiles:
    """The table made small: at most size × size tiles.

    Raises ValueError if size is less than 1.
    """
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise ValueError(
            f"size is {size!r}; expected how many tiles a side may have: an integer of at least 1"
        )
    height, width = (max(1, -(-length // size)) for length in (head.rows, head.keys))
    device = head.query.device
    shape = (-(-head.rows // height), -(-head.keys // width))
    total = torch.zeros(shape, dtype=head.dtype, device=device)
    largest = torch.zeros(shape, dtype=head.dtype, device=device)
    for block, keys, weights, _ in _weights(head, blocks(slice(0, head.rows), height)):
        row = block.start // height
        total[row] += _in_tiles(weights.sum(0), keys, shape[1], width).sum(1)
        largest[row] = torch.maximum(largest[row], _in_tiles(weights.amax(0), keys, shape[1], width).amax(1))
    cells = _extents(head.rows, height)[:, None] * _extents(head.keys, width)
    return Tiles((total / cells.to(device)).float(), largest.float())


def _weights(head: Head, parts: Iterable[slice]) -> Iterator[tuple[slice, slice, Tensor, Tensor | None]]:
    """Of each block of rows, none of which reaches over the end of a part: the rows; the keys within their
    reach; the weights between them; and who may be seen, None where all may. The weights are written over by
    the next block."""
    if not head.keys:
        return
    device = head.query.device
    with torch.no_grad(), torch.autocast(device.type, enabled=False):
        most = max(1, min(ROWS, head.rows, BLOCK // (head.keys * head.dtype.itemsize)))
        space = torch.empty(most * head.keys, dtype=head.dtype, device=device)
        for part in parts:
            for rows in blocks(part, most):
                keys = head.reach(rows)
                shape = (rows.stop - rows.start, keys.stop - keys.start)
                scores = space[: shape[0] * shape[1]].view(shape)
                query = head.query[rows].to(head.dtype) * head.scale
                scores_into(scores, head, query, rows, keys)
                seen = None if all_see(head, rows, keys) else scores > -math.inf
                peak = scores.amax(1, keepdim=True)
                peak = peak.clamp(min=torch.finfo(head.dtype).min if head.sink is None else head.sink)
                powers = scores.sub_(peak).exp_()
                total = powers.sum(1, keepdim=True)
                if head.sink is not None:
                    total += (head.sink - peak).exp()
                yield rows, keys, powers.div_(total.masked_fill(total == 0, 1)), seen


def _edges(edges: Sequence[int], count: int, name: str) -> list[int]:
    found = [int(edge) for edge in edges]
    ascending = all(a < b for a, b in pairwise(found))
    if len(found) < 2 or not ascending or found[0] < 0 or found[-1] > count:
        raise ValueError(f"{name} is {found}; expected at least two that ascend, from 0 to {count} at most")
    return found


def _in_tiles(line: Tensor, keys: slice, count: int, width: int) -> Tensor:
    """(count, width) of numbers that stand at these keys; 0 at all others."""
    return pad(line, (keys.start, count * width - keys.stop)).view(count, width)


def _extents(length: int, side: int) -> Tensor:
    """How long each tile is: `side`, but for the last."""
    return torch.tensor([block.stop - block.start for block in blocks(slice(0, length), side)])
