"""The largest few of each row of scores, found without sorting them: most are never looked at again."""

import math

import torch
from torch import Tensor

FAN = 8  # scores whose largest is kept; and of those 8 again the largest
ROWS_IN_DOUBT = 8  # rows searched at a time when scores are equal: a search takes some 20 bytes a key


class Largest:
    """A block of rows of scores, in pieces of keys, with the largest of every 8 and of every 64.

    The `count` largest of a row lie in those `count` groups whose own largest are the largest: so the search
    goes down from groups of 64 to groups of 8 to single scores, and looks at 8 × `count` of each. A group is
    made of scores that lie far from one another: so whole vectors are compared, and the result is contiguous.
    """

    def __init__(self, rows: int, keys: int, width: int, dtype: torch.dtype, device: torch.device):
        self.width = min(width, -(-keys // FAN**2) * FAN**2)  # of a piece
        pieces = -(-keys // self.width)
        self.levels = [
            torch.empty(pieces, rows, self.width // group, dtype=dtype, device=device)
            for group in (1, FAN, FAN**2)
        ]

    def place(self, piece: int, rows: int, keys: int) -> Tensor:
        """(rows, keys): where the scores of a piece are to be written."""
        return self.levels[0][piece, :rows, :keys]

    def climb(self, piece: int, rows: int, keys: int) -> None:
        """The largest of every 8, and of every 64, of a piece that has been written."""
        if keys < self.width:
            self.levels[0][piece, :rows, keys:] = -math.inf
        for below, above in zip(self.levels, self.levels[1:], strict=False):
            of_groups = below[piece, :rows].unflatten(1, (FAN, -1))
            torch.amax(of_groups, 1, out=above[piece, :rows])

    def peaks(self, piece: int, rows: int) -> Tensor:
        """(rows,): the largest of each row of a piece."""
        return self.levels[-1][piece, :rows].amax(1)

    def find(self, pieces: int, rows: int, count: int) -> tuple[Tensor, Tensor]:
        """The largest scores, descending, and their columns: (rows, count) each; of equals the lower first.

        A column counts from the first key of the first piece. There are fewer than `count` where there are
        fewer columns; where a score is −inf, the column means nothing.
        """
        roof = self.levels[-1][:pieces, :rows].transpose(0, 1).reshape(rows, -1)
        values, nodes, rival = _descending(roof, count)
        each = torch.arange(rows, device=roof.device)[:, None]
        for level in reversed(self.levels[:-1]):
            width = level.shape[-1]
            step = width // FAN  # the children of a group stand this far from one another
            piece, lane = nodes // step, nodes % step
            children = torch.arange(FAN, device=roof.device) * step
            firsts = (piece * level.shape[1] + each) * width + lane
            places = (firsts[..., None] + children).flatten()
            seen = level.view(-1).index_select(0, places).view(rows, -1)  # `take` is slower
            values, chosen, next_best = _descending(seen, count)
            rival = torch.maximum(rival, next_best)
            nodes = (piece * width + lane).gather(1, chosen // FAN) + chosen % FAN * step
        # Where scores are equal, within the largest or just beside them, the order has to be looked up.
        nexts = torch.cat((values[:, 1:], rival[:, None]), 1)
        doubtful = ((nexts == values) & (values > -math.inf)).any(1).nonzero()[:, 0]
        for some in doubtful.split(ROWS_IN_DOUBT) if len(doubtful) else ():
            scores = self.levels[0][:pieces, some].transpose(0, 1).reshape(len(some), -1)
            values[some], nodes[some] = _lower_first(scores, values[some, -1:], values.shape[1])
        return values, nodes


def _descending(values: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """The `count` largest of each row, where they stand, and the largest left out: −inf if none is."""
    more = min(count + 1, values.shape[1])
    largest, places = values.topk(more, 1)
    rival = largest[:, count] if more > count else values.new_full((len(values),), -math.inf)
    return largest[:, :count], places[:, :count], rival


def _lower_first(scores: Tensor, last: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The `count` largest of each row, by columns where they are equal; `last` (rows, 1) is the smallest."""
    above, level = scores > last, scores == last
    missing = count - above.sum(1, keepdim=True)
    chosen = above | (level & (level.cumsum(1, dtype=torch.int32) <= missing))
    columns = chosen.nonzero()[:, 1].view(-1, count)
    values, order = scores.gather(1, columns).sort(dim=1, descending=True, stable=True)
    return values, columns.gather(1, order)
