"""What the rows of a head do, at any length: exact, and without their table.

The table is walked in blocks of rows, and a block in pieces of keys small enough for the processor's cache.
What is summed over a piece is relative to the largest score in it, so nothing overflows; the pieces of a row
are joined at its end.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from mirada.watching.head import Head
from mirada.watching.largest import Largest
from mirada.watching.overview import Received, Tiles, received, regions, tiles
from mirada.watching.walk import blocks, scores_into, span

__all__ = ["Received", "RowSummary", "Tiles", "received", "regions", "summarise", "tiles"]

PIECE = 2048  # keys
ROWS = 128  # of a block, at most: with more the product gets no faster
BLOCK = 52_000_000  # bytes of scores that are kept at a time, until the largest of their rows are known
SMALL = 8.0  # as far from 0 as scores may be summed as they are: float32 then keeps six places
FLOOR = -1000.0  # a score this far below the largest has weight 0 in every dtype; −inf would make NaN of 0


@dataclass(frozen=True)
class RowSummary:
    """What each of some rows does. float32, but for the keys."""

    top_keys: (
        Tensor  # (rows, top) int64, by descending weight, of equal ones the lower first; −1: no such key
    )
    top_weights: Tensor  # (rows, top); 0 where there is no such key
    log_sum_exp: Tensor  # (rows,) of the scores, and the sink; −inf for a row that may look at nobody
    entropy: Tensor  # (rows,) −Σ w log w over the keys, in nats
    row_sums: Tensor  # (rows,) 1; less with a sink; 0 for a row that may look at nobody
    distance: Tensor  # (rows,) the mean of |its place − the key's|, weighted by w; 0 if it looks at nobody


def summarise(
    head: Head, top: int = 16, rows: slice | None = None, *, first: int | None = None
) -> RowSummary:
    """Whom each row looks at most, how widely, and how far. Takes about 100 MB for 100,000 keys.

    A masked key is never among the largest; one that may be seen can be, even with a weight of 0.0.

    Args:
        top: how many keys to name for each row.
        rows: which rows; all of them unless said.
        first: the place of row 0 among the keys, for `distance`: keys − rows unless said.

    Raises:
        ValueError: top is less than 1, or rows has a step.
    """
    if isinstance(top, bool) or not isinstance(top, int) or top < 1:
        raise ValueError(f"top is {top!r}; expected how many keys to name: an integer of at least 1")
    chosen = span(rows, head.rows)
    count, device = chosen.stop - chosen.start, head.query.device
    first = head.keys - head.rows if first is None else first
    keys = torch.full((count, top), -1, device=device)
    weights = torch.zeros(count, top, device=device)
    numbers = torch.zeros(4, count, device=device)
    if not head.keys:
        numbers[0] = -math.inf if head.sink is None else head.sink
        return RowSummary(keys, weights, *numbers)
    with torch.no_grad(), torch.autocast(device.type, enabled=False):
        at_once = BLOCK // (head.keys * head.dtype.itemsize)
        walk = _Walk(head, max(1, min(ROWS, at_once, count)))
        for block in blocks(chosen, walk.rows):
            at = slice(block.start - chosen.start, block.stop - chosen.start)
            found, columns, numbers[:, at] = walk.summarise(block, top, first)
            keys[at, : columns.shape[1]] = columns
            weights[at, : found.shape[1]] = found
    return RowSummary(keys, weights, *numbers)


class _Walk:
    """Summarises one block of rows after the other, in the same space."""

    def __init__(self, head: Head, rows: int):
        self.head, self.rows = head, rows
        self.largest = Largest(rows, head.keys, PIECE, head.dtype, head.query.device)
        shape = (2, rows, self.largest.width)
        self.powers, self.spare = torch.empty(shape, dtype=head.dtype, device=head.query.device)

    def summarise(self, block: slice, top: int, first: int) -> tuple[Tensor, Tensor, Tensor]:
        """The largest weights (rows, top or fewer), their keys, and the numbers of RowSummary (4, rows)."""
        head, count = self.head, block.stop - block.start
        query = head.query[block].to(head.dtype) * head.scale
        reach = head.reach(block)
        peaks, sums = [], []
        for number, keys in enumerate(blocks(reach, self.largest.width)):
            size = keys.stop - keys.start
            scores = scores_into(self.largest.place(number, count, size), head, query, block, keys)
            peaks.append(self.largest.climb(number, count, size)[:, 0])
            sums.append(self._sums(scores, peaks[-1][:, None], block.start + first, keys.start))
        scores, columns = self.largest.find(len(peaks), count, top)
        peak, whole, numbers = _join(torch.stack(peaks), torch.stack(sums), head.sink)
        weights = (scores - peak[:, None]).exp() / whole[:, None]
        masked = scores == -math.inf
        return weights.masked_fill(masked, 0), (columns + reach.start).masked_fill(masked, -1), numbers

    def _sums(self, scores: Tensor, peak: Tensor, place: int, start: int) -> Tensor:
        """(3, rows), of the powers e^(score − peak): Σ power, Σ power · (score − peak), and `_path`."""
        powers, spare = (space[: scores.shape[0], : scores.shape[1]] for space in (self.powers, self.spare))
        if self.head.mask is not None:
            # −inf − −inf is NaN, and so is 0 · −inf: masked keys go to the floor.
            torch.sub(scores, _finite(peak), out=spare).clamp_(min=FLOOR)
            total = torch.exp(spare, out=powers).sum(1)
            return torch.stack((total, dot(spare, powers), _path(powers, total, place, start)))
        # Softmax makes one pass of what would be four. The largest power is 1: that tells its unit.
        torch.softmax(scores, 1, out=powers)
        unit = powers.amax(1).reciprocal_()
        path = _path(powers, 1.0, place, start).mul_(unit)
        low, high = peak.aminmax()
        if low >= -SMALL and high <= SMALL:
            tilt = dot(powers, scores).sub_(peak[:, 0])
        else:
            tilt = dot(powers, torch.sub(scores, peak, out=spare))
        return torch.stack((unit, tilt.mul_(unit), path))


dot = torch.linalg.vecdot  # of two rows, in one pass


def _path(powers: Tensor, total: Tensor | float, place: int, start: int) -> Tensor:
    """(rows,): Σ power · |place of the row − key|, with the first row at `place`, the first key at `start`.

    Keys before all the rows, and keys after them, need one product with a vector, from the nearest row.
    """
    rows, size = powers.shape
    order = torch.arange(max(rows, size), dtype=powers.dtype, device=powers.device)
    before, after = (min(max(edge - start, 0), size) for edge in (place, place + rows))
    parts = []
    if before:
        part, sums = powers[:, :before], total if before == size else powers[:, :before].sum(1)
        parts.append((part @ (place - start - order[:before])).add_(order[:rows] * sums))
    if before < after:
        apart = (place - start + order[:rows, None] - order[before:after]).abs_()
        parts.append(apart.mul_(powers[:, before:after]).sum(1))
    if after < size:
        part, sums = powers[:, after:], total if after == 0 else powers[:, after:].sum(1)
        last = place + rows - 1 - start
        parts.append((part @ (order[after:size] - last)).add_((rows - 1 - order[:rows]) * sums))
    return sum(parts[1:], parts[0])


def _join(peaks: Tensor, sums: Tensor, sink: float | None) -> tuple[Tensor, Tensor, Tensor]:
    """Of peaks (pieces, rows) and sums (pieces, 3, rows): peak, Σ e^(score − peak), numbers (4, rows)."""
    peak = peaks.amax(0)
    if sink is not None:
        peak = peak.clamp(min=sink)
    shift = (_finite(peaks) - _finite(peak)).clamp(min=FLOOR)
    total, tilt, path = sums.unbind(1)
    total, tilt, path = ((x * shift.exp()).sum(0) for x in (total, tilt + shift * total, path))
    whole = total if sink is None else total + (sink - peak).exp()
    log_whole, seen = whole.log(), total > 0
    numbers = (
        _finite(peak) + log_whole,
        torch.where(seen, (total * log_whole - tilt) / whole, 0).clamp(min=0),
        torch.where(seen, total / whole, 0),
        torch.where(seen, path / total, 0),
    )
    return peak, whole, torch.stack(numbers)


def _finite(scores: Tensor) -> Tensor:
    return scores.clamp(min=torch.finfo(scores.dtype).min)
