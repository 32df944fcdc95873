"""The full table of a head, from which the long view's answers are read off in float64, to be compared."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

from mirada.watching.head import Head
from mirada.watching.longview import summarise


@dataclass
class Table:
    scores: Tensor  # (rows, keys), float64; −inf where masked
    weights: Tensor
    places: Tensor  # (rows, keys): |place of the row − place of the key|
    sink: float | None

    @classmethod
    def of(cls, head: Head, first: int | None = None) -> "Table":
        scores = head.scores(slice(0, head.rows), slice(0, head.keys)).double()
        first = head.keys - head.rows if first is None else first
        apart = (torch.arange(head.rows)[:, None] + first - torch.arange(head.keys)).abs()
        # Relative to the largest: at scores of -1e30, what exp makes of scores − log-sum-exp is 1 for each.
        peak = scores.amax(1, keepdim=True).clamp(min=-math.inf if head.sink is None else head.sink)
        powers = (scores - peak).exp().nan_to_num(0.0)
        total = powers.sum(1, keepdim=True) + (0.0 if head.sink is None else (head.sink - peak).exp())
        return cls(scores, torch.where(total > 0, powers / total, 0.0), apart, head.sink)

    def log_sum_exp(self) -> Tensor:
        total = torch.logsumexp(self.scores, 1)
        return total if self.sink is None else torch.logaddexp(total, total.new_tensor(self.sink))

    def entropy(self) -> Tensor:
        return -torch.special.xlogy(self.weights, self.weights).sum(1)

    def distance(self) -> Tensor:
        sums = self.weights.sum(1)
        return torch.where(sums > 0, (self.weights * self.places).sum(1) / sums, 0.0)

    def top(self, count: int) -> tuple[Tensor, Tensor]:
        """Keys and weights: the largest first, of equal scores the lower key, −1 where there is none."""
        scores, keys = (x[:, :count] for x in self.scores.sort(dim=1, descending=True, stable=True))
        weights, masked = self.weights.gather(1, keys), scores == -math.inf
        missing = (0, count - keys.shape[1])
        keys = pad(keys.masked_fill(masked, -1), missing, value=-1)
        return keys, pad(weights.masked_fill(masked, 0.0), missing)


def near(got: Tensor, wanted: Tensor, atol: float = 1e-6, rtol: float = 1e-6) -> None:
    assert got.dtype == torch.float32
    torch.testing.assert_close(got.double(), wanted.double(), atol=atol, rtol=rtol)


def compare(head: Head, top: int = 5, first: int | None = None, same_keys: bool = True) -> None:
    """Every number of the summary against the table.

    `same_keys` only where both have the same scores to the last bit: in float64 or of small integers.
    Elsewhere two scores that rounding tells apart may change places, and their weights are compared.
    """
    table, got = Table.of(head, first), summarise(head, top, first=first)
    keys, weights = table.top(top)
    near(got.top_weights, weights)
    near(got.log_sum_exp, table.log_sum_exp(), atol=1e-5)
    near(got.entropy, table.entropy(), atol=1e-5)
    near(got.row_sums, table.weights.sum(1))
    near(got.distance, table.distance(), atol=1e-5, rtol=1e-5)
    assert got.top_keys.dtype == torch.int64
    assert torch.equal(got.top_keys < 0, keys < 0)
    if same_keys:
        assert torch.equal(got.top_keys, keys)
        return
    found = torch.where(keys < 0, 0.0, table.weights.gather(1, got.top_keys.clamp(min=0)))
    near(got.top_weights, found)
    for row in got.top_keys.tolist():  # no key twice
        assert len({key for key in row if key >= 0}) == sum(key >= 0 for key in row)
