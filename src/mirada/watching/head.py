"""One head of one sample: whom its rows look at, in the terms of the formula."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from mirada.layers.masks import Mask


@dataclass(frozen=True)
class Head:
    """What is needed to compute any piece of a head's table, and nothing of what it has not.

    A row's weights are softmax(scores). Where there is a `sink`, the softmax has one more place, with the
    sink as its score, that belongs to no key: the row sums to less than 1.
    """

    query: Tensor  # (rows, d)
    key: Tensor  # (keys, d)
    scale: float  # q·k is multiplied by it
    mask: Mask | None = None
    shape: tuple[int, int, int, int] | None = None  # (batch, heads, rows, keys) that `mask` speaks of
    place: tuple[int, int] = (0, 0)  # which sample and head of these this one is
    softcap: float | None = None  # scores are bent to softcap · tanh(score / softcap) before the mask
    sink: float | None = None

    @property
    def rows(self) -> int:
        return self.query.shape[0]

    @property
    def keys(self) -> int:
        return self.key.shape[0]

    @property
    def dtype(self) -> torch.dtype:
        """In which it is computed: float32, or wider where the model is."""
        return torch.promote_types(self.query.dtype, torch.float32)

    def reach(self, rows: slice) -> slice:
        """The keys outside of which none of these rows may look, as far as that is known without a table."""
        return slice(0, self.keys) if self.mask is None else self.mask.columns(self._shape, rows)

    def allowance(self, rows: slice, columns: slice) -> Tensor | None:
        """What the mask adds to the scores, broadcastable to (rows, columns): 0, a bias, or −inf: masked.

        None where the mask has nothing to say.
        """
        if self.mask is None:
            return None
        table = self.mask.table(self._shape, rows, columns, self.query.device)
        for place in self.place[4 - table.dim() :]:
            table = table[place if len(table) > 1 else 0]
        if table.dtype == torch.bool:
            table = torch.where(table, 0.0, -math.inf)
        return table.to(self.dtype)

    def scores(self, rows: slice, columns: slice) -> Tensor:
        """(rows, columns): q·k · scale, bent, plus what the mask adds; −inf where masked."""
        scores = (self.query[rows].to(self.dtype) * self.scale) @ self.key[columns].to(self.dtype).mT
        if self.softcap is not None:
            scores = self.softcap * torch.tanh(scores / self.softcap)
        allowance = self.allowance(rows, columns)
        return scores if allowance is None else scores + allowance

    def weights(self, rows: slice) -> Tensor:
        """(rows, keys), float32. A row sums to 1, with a sink to less, and to 0 if it may look at nobody."""
        scores = self.scores(rows, slice(0, self.keys))
        total = self.log_sum_exp(scores)
        return torch.where(total == -math.inf, 0, (scores - total).exp()).float()

    def log_sum_exp(self, scores: Tensor) -> Tensor:
        """(rows, 1) of whole rows of scores; −inf for a row that may look at nobody."""
        total = torch.logsumexp(scores, -1, keepdim=True)
        if self.sink is None:
            return total
        return torch.logaddexp(total, total.new_tensor(self.sink))

    @property
    def _shape(self) -> tuple[int, int, int, int]:
        return self.shape or (1, 1, self.rows, self.keys)
