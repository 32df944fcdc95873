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
from mirada.watching.walk import all_see, blocks, scores_into, span

__all__ = ["Received", "RowSummary", "Tiles", "received", "regions", "summarise", "tiles"]

PIECE = 1024  # keys
ROWS = 512  # of a block, at most: so many and no fewer, or the product takes longer on two threads
STRETCH = 42_000_000  # bytes of scores that are kept at a time, until the largest of their rows are known
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
    """Whom each row looks at most, how widely, and how far. Takes some 70 MB, and what it returns.

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
        most = min(ROWS, max(1, count))
        walk = _Walk(head, most)
        for block in blocks(chosen, most):
            at = slice(block.start - chosen.start, block.stop - chosen.start)
            found, columns, numbers[:, at] = walk.summarise(block, top, first)
            keys[at, : columns.shape[1]] = columns
            weights[at, : found.shape[1]] = found
    return RowSummary(keys, weights, *numbers)


class _Walk:
    """Summarises one block of rows after the other, in the same space."""

    def __init__(self, head: Head, rows: int):
        self.head = head
        like = {"dtype": head.dtype, "device": head.query.device}
        pieces = max(1, STRETCH // (rows * PIECE * head.dtype.itemsize))
        self.stretch = min(head.keys, pieces * PIECE)  # keys whose scores are kept at a time
        self.largest = Largest(rows, self.stretch, PIECE, **like)
        self.powers, self.spare = torch.empty((2, rows, self.largest.width), **like)
        self.order = torch.arange(max(rows, self.largest.width), **like)

    def summarise(self, block: slice, top: int, first: int) -> tuple[Tensor, Tensor, Tensor]:
        """The largest weights (rows, top or fewer), their keys, and the numbers of RowSummary (4, rows)."""
        head, count, place = self.head, block.stop - block.start, block.start + first
        query = head.query[block].to(head.dtype) * head.scale
        found, sums = [], []
        for stretch in blocks(head.reach(block), self.stretch):
            pieces = list(blocks(stretch, self.largest.width))
            for number, keys in enumerate(pieces):
                scores = self.largest.place(number, count, keys.stop - keys.start)
                scores_into(scores, head, query, block, keys)
                self.largest.climb(number, count, scores.shape[1])
                peak = self.largest.peaks(number, count)
                sums.append(self._sums(scores, peak, all_see(head, block, keys), place, keys.start))
            scores, columns = self.largest.find(len(pieces), count, top)
            found.append((scores, columns + stretch.start))
        peak, whole, numbers = _join(torch.stack(sums), head.sink)
        scores, columns = _merged(found, top)
        weights = (scores - peak[:, None]).exp() / whole[:, None]
        masked = scores == -math.inf
        return weights.masked_fill(masked, 0), columns.masked_fill(masked, -1), numbers

    def _sums(self, scores: Tensor, peak: Tensor, whole: bool, place: int, start: int) -> Tensor:
        """(4, rows): the peak, Σ power, Σ power · (score − peak) and `_path`. A power is e^(score − peak)."""
        powers, spare = (space[: scores.shape[0], : scores.shape[1]] for space in (self.powers, self.spare))
        torch.sub(scores, _finite(peak)[:, None], out=spare)
        if not whole:  # −inf − −inf is NaN, and so is 0 · −inf: masked keys go to the floor.
            spare.clamp_(min=FLOOR)
        spare.mul_(1 / math.log(2))  # exp2 takes half as long as exp
        torch.exp2(spare, out=powers)
        total, tilt = powers.sum(1), spare.mul_(powers).sum(1) * math.log(2)
        return torch.stack((peak, total, tilt, _path(powers, total, self.order, place, start)))


def _merged(found: list[tuple[Tensor, Tensor]], count: int) -> tuple[Tensor, Tensor]:
    """Of the largest of each stretch, the largest of all, again descending and of equals the lower first."""
    if len(found) == 1:
        return found[0]
    scores, columns = (torch.cat(parts, 1) for parts in zip(*found, strict=True))
    scores, order = scores.sort(dim=1, descending=True, stable=True)
    return scores[:, :count], columns.gather(1, order[:, :count])


def _path(powers: Tensor, total: Tensor, order: Tensor, place: int, start: int) -> Tensor:
    """(rows,): Σ power · |place of the row − key|, with the first row at `place`, the first key at `start`.

    Keys before all the rows, and keys after them, need one product with a vector, from the nearest row.
    `order` is 0, 1, 2 …
    """
    rows, size = powers.shape
    rise, keys = order[:rows], order[:size]
    last = place + rows - 1
    if start + size <= place:
        return torch.addmv(total * rise, powers, place - start - keys)
    if start > last:
        return torch.addmv(total * (rows - 1 - rise), powers, keys + (start - last))
    before, after = max(place - start, 0), min(last + 1 - start, size)
    apart = (place - start + rise[:, None] - keys[before:after]).abs_()
    path = apart.mul_(powers[:, before:after]).sum(1)
    for side in (slice(0, before), slice(after, size)):
        if side.start < side.stop:
            part = powers[:, side]
            path += _path(part, part.sum(1), order, place, start + side.start)
    return path


def _join(sums: Tensor, sink: float | None) -> tuple[Tensor, Tensor, Tensor]:
    """Of (pieces, 4, rows), as `_sums` makes them: peak, Σ e^(score − peak), numbers (4, rows)."""
    peaks, total, tilt, path = sums.unbind(1)
    peak = peaks.amax(0)
    if sink is not None:
        peak = peak.clamp(min=sink)
    shift = (_finite(peaks) - _finite(peak)).clamp(min=FLOOR)
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
