"""One head of one sample: whom its rows look at, in the terms of the formula."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from mirada.layers.masks import Mask


def bend(scores: Tensor, softcap: float | None) -> Tensor:
    """softcap · tanh(score / softcap), as Gemma 2 keeps its scores small (https://arxiv.org/abs/2408.00118)."""
    return scores if softcap is None else softcap * torch.tanh(scores / softcap)


def shares(scores: Tensor, sink: Tensor | None) -> Tensor:
    """Softmax over the keys, in the dtype of the scores, 0 in a row that may look at nobody.

    A `sink`, broadcastable to (…, rows, 1), is the score of one more place that belongs to no key: the rows
    then sum to less than 1 (https://arxiv.org/abs/2309.17453).
    """
    if scores.shape[-1] == 0:
        return scores
    largest = scores.detach().amax(-1, keepdim=True)  # it only keeps the powers small
    if sink is not None:
        largest = largest.maximum(sink.detach().to(scores))
    largest = torch.where(largest == -math.inf, 0, largest)
    powers = (scores - largest).exp()
    total = powers.sum(-1, keepdim=True)
    if sink is not None:
        total = total + (sink.to(scores) - largest).exp()
    return powers / torch.where(total == 0, 1, total)


def weigh(scores: Tensor, sink: Tensor | None) -> Tensor:
    """`shares` as they are handed out: float32."""
    return shares(scores, sink).float()


@dataclass(frozen=True)
class Head:
    """What is needed to compute any piece of a head's table, and nothing of what it has not."""

    query: Tensor  # (rows, d)
    key: Tensor  # (keys, d)
    scale: float  # q·k is multiplied by it
    mask: Mask | None = None
    shape: tuple[int, int, int, int] | None = None  # (batch, heads, rows, keys) that `mask` speaks of
    place: tuple[int, int] = (0, 0)  # which sample and head of these this one is
    softcap: float | None = None  # the scores are bent before the mask
    sink: float | None = None  # the score of a place that belongs to no key

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
        scores = bend(scores, self.softcap)
        allowance = self.allowance(rows, columns)
        return scores if allowance is None else scores + allowance

    def weights(self, rows: slice) -> Tensor:
        """(rows, keys), float32. A row sums to 1, with a sink to less, and to 0 if it may look at nobody."""
        return weigh(self.scores(rows, slice(0, self.keys)), self._sink)

    @property
    def _sink(self) -> Tensor | None:
        return None if self.sink is None else torch.tensor(self.sink, device=self.query.device)

    @property
    def _shape(self) -> tuple[int, int, int, int]:
        return self.shape or (1, 1, self.rows, self.keys)
