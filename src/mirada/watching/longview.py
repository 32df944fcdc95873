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

PIECE = 2048  # keys
ROWS = 128  # of a block, at most: with more the product gets no faster
BLOCK = 52_000_000  # bytes of scores that are kept at a time, until the largest of their rows are known
SMALL = 16.0  # as far from 0 as scores may be summed as they are: float32 then keeps six places
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
    """Summarises one block of rows after the other, in the same space.

    Of every piece it notes three sums of powers, each (rows,). Where every score counts, softmax makes one
    pass of what would be four, and the sums are of its weights: they are brought to the powers of
    e^(score − peak) for all pieces at once, since small steps cost more than what they do.
    """

    def __init__(self, head: Head, rows: int):
        self.head, self.rows = head, rows
        like = {"dtype": head.dtype, "device": head.query.device}
        self.largest = Largest(rows, head.keys, PIECE, head.dtype, head.query.device)
        width = self.largest.width
        self.powers, self.spare = torch.empty((2, rows, width), **like)
        self.sums = torch.empty((-(-head.keys // width), 3, rows), **like)
        self.order = torch.arange(width, **like)
        self.longest = head.key.to(head.dtype).norm(dim=1).amax()  # no score is larger than this · |query|

    def summarise(self, block: slice, top: int, first: int) -> tuple[Tensor, Tensor, Tensor]:
        """The largest weights (rows, top or fewer), their keys, and the numbers of RowSummary (4, rows)."""
        head, count, place = self.head, block.stop - block.start, block.start + first
        query = head.query[block].to(head.dtype) * head.scale
        near = bool(query.norm(dim=1).amax() * self.longest <= SMALL)
        reach = head.reach(block)
        sides = []  # of the pieces of which only weights were summed: 1 before the rows, −1 behind, 0 across
        for number, keys in enumerate(blocks(reach, self.largest.width)):
            size = keys.stop - keys.start
            scores = scores_into(self.largest.place(number, count, size), head, query, block, keys)
            self.largest.climb(number, count, size)
            sums = self.sums[number, :, :count]
            whole = all_see(head, block, keys)
            peak = None
            if not (whole and near):
                peak = self.largest.peaks(slice(number, number + 1), count)[0, :, None]
            if whole:
                sides.append(self._weights(scores, peak, sums, place, keys))
            else:
                assert peak is not None
                self._powers(scores, peak, sums, place, keys.start)
                sides.append(None)
        pieces = len(sides)
        peaks = self.largest.peaks(slice(0, pieces), count)
        sums = self._powers_of(self.sums[:pieces, :, :count], peaks, near, sides, place - reach.start)
        scores, columns = self.largest.find(pieces, count, top)
        peak, whole, numbers = _join(peaks, sums, head.sink)
        weights = (scores - peak[:, None]).exp() / whole[:, None]
        masked = scores == -math.inf
        return weights.masked_fill(masked, 0), (columns + reach.start).masked_fill(masked, -1), numbers

    def _weights(self, scores: Tensor, peak: Tensor | None, sums: Tensor, place: int, keys: slice) -> int:
        """Of a softmax over the piece: its largest weight, Σ w · score, and Σ w · key or `_path`."""
        powers, spare = (space[: scores.shape[0], : scores.shape[1]] for space in (self.powers, self.spare))
        torch.softmax(scores, 1, out=powers)
        torch.amax(powers, 1, out=sums[0])
        # Far from 0, a sum of scores has few digits left: there they are taken from their peak.
        tilted = scores if peak is None else torch.sub(scores, peak, out=spare)
        torch.linalg.vecdot(powers, tilted, out=sums[1])
        if keys.stop <= place or keys.start >= place + len(scores):
            torch.mv(powers, self.order[: scores.shape[1]], out=sums[2])
            return 1 if keys.stop <= place else -1
        sums[2] = _path(powers, 1.0, place, keys.start)
        return 0

    def _powers(self, scores: Tensor, peak: Tensor, sums: Tensor, place: int, start: int) -> None:
        """Where some are masked, Σ power, Σ power · (score − peak) and `_path` at once."""
        powers, spare = (space[: scores.shape[0], : scores.shape[1]] for space in (self.powers, self.spare))
        # −inf − −inf is NaN, and so is 0 · −inf: masked keys go to the floor.
        torch.sub(scores, _finite(peak), out=spare).clamp_(min=FLOOR)
        torch.sum(torch.exp(spare, out=powers), 1, out=sums[0])
        torch.linalg.vecdot(spare, powers, out=sums[1])
        sums[2] = _path(powers, sums[0], place, start)

    def _powers_of(
        self, sums: Tensor, peaks: Tensor, near: bool, sides: list[int | None], place: int
    ) -> Tensor:
        """(pieces, 3, rows): sums of weights made sums of powers, whose largest is 1: it tells the unit."""
        whole = torch.tensor([side is not None for side in sides], device=sums.device)[:, None]
        side = torch.tensor([side or 0 for side in sides], dtype=sums.dtype, device=sums.device)[:, None]
        first, tilt, path = sums.unbind(1)
        unit = torch.where(whole, 1 / first, 1)
        total = torch.where(whole, unit, first)
        tilt = torch.where(whole, tilt - peaks if near else tilt, tilt) * unit
        starts = torch.arange(len(sides), dtype=sums.dtype, device=sums.device)[:, None] * self.largest.width
        places = place + torch.arange(sums.shape[-1], dtype=sums.dtype, device=sums.device) - starts
        path = torch.where(side == 0, path, side * (places - path)) * unit
        return torch.stack((total, tilt, path), 1)


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
