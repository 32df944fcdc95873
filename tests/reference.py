"""Attention as the equations say it, in loops over plain Python floats. Slow, and hard to get wrong.

Torch only carries numbers in and out: no product, softmax or mask in here is torch's.
"""

import itertools
import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

# at is (…, head, query, key), shape that of all the scores. What a rule adds to a score; -inf: may not look.
Rule = Callable[[tuple[int, ...], tuple[int, ...]], float]


def everybody(at, shape) -> float:
    return 0.0


def only_if(allowed: Callable[[tuple[int, ...], tuple[int, ...]], bool]) -> Rule:
    return lambda at, shape: 0.0 if allowed(at, shape) else -math.inf


def causal(first: int | None = None) -> Rule:
    return only_if(lambda at, shape: at[-1] <= at[-2] + (shape[-1] - shape[-2] if first is None else first))


def window(size: int) -> Rule:
    return only_if(lambda at, shape: abs(at[-2] + shape[-1] - shape[-2] - at[-1]) < size)


def padding(lengths: Sequence[int], side: str = "right") -> Rule:
    if side == "right":
        return only_if(lambda at, shape: at[-1] < lengths[at[0]])
    return only_if(lambda at, shape: at[-1] >= shape[-1] - lengths[at[0]])


def table(values: Tensor, blocked: float | None = None) -> Rule:
    """A table broadcast from the right. With `blocked`, entries equal to it block and others do nothing."""

    def rule(at, shape) -> float:
        place = tuple(
            0 if size == 1 else i for size, i in zip(reversed(values.shape), reversed(at), strict=False)
        )
        entry = values[tuple(reversed(place))].item()
        if blocked is None:
            return entry
        return -math.inf if entry == blocked else 0.0

    return rule


def both(*rules: Rule) -> Rule:
    return lambda at, shape: sum(rule(at, shape) for rule in rules)


def weights_of_row(scores: list[float]) -> list[float]:
    """Softmax of a list; all zeros if every score is -inf."""
    largest = max(scores, default=-math.inf)
    if largest == -math.inf:
        return [0.0] * len(scores)
    powers = [math.exp(score - largest) for score in scores]
    total = math.fsum(powers)
    return [power / total for power in powers]


def reference_weights(query: Tensor, key: Tensor, rule: Rule = everybody, temperature: float = 1.0) -> Tensor:
    """(…, heads, queries, keys) in float64."""
    shape = (*query.shape[:-1], key.shape[-2])
    q, k = query.double(), key.double()
    result = torch.zeros(shape, dtype=torch.float64)
    for row in itertools.product(*map(range, shape[:-1])):
        mine = q[row].tolist()
        scores = []
        for j in range(shape[-1]):
            theirs = k[(*lead_of(row, query, key), j)].tolist()
            product = math.fsum(a * b for a, b in zip(mine, theirs, strict=True))
            scores.append(product / (math.sqrt(len(mine)) * temperature) + rule((*row, j), shape))
        result[row] = torch.tensor(weights_of_row(scores), dtype=torch.float64)
    return result


def reference_attention(
    query: Tensor, key: Tensor, value: Tensor, rule: Rule = everybody, temperature: float = 1.0
) -> Tensor:
    """(…, heads, queries, dv) in float64."""
    weights = reference_weights(query, key, rule, temperature)
    v = value.double()
    result = torch.zeros(*query.shape[:-1], value.shape[-1], dtype=torch.float64)
    for row in itertools.product(*map(range, weights.shape[:-1])):
        seen = v[lead_of(row, query, key)].tolist()
        for column in range(value.shape[-1]):
            # A weight of 0 takes nothing, whatever stands there.
            parts = [w * x[column] for w, x in zip(weights[row].tolist(), seen, strict=True) if w > 0]
            result[(*row, column)] = math.fsum(parts)
    return result


def lead_of(row: tuple[int, ...], query: Tensor, key: Tensor) -> tuple[int, ...]:
    """Where the keys of this row stand: head h of the queries has head h // group of the keys."""
    lead = row[:-1]
    if query.dim() < 4:
        return lead
    return (*lead[:-1], lead[-1] // (query.shape[-3] // key.shape[-3]))
