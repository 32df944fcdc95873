"""Scores on their way to a softmax, as the product that they are."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor

LOW = -1e3  # so far below others a score is when nobody shall look there


@dataclass(frozen=True)
class Product:
    """scale · query @ keyᵀ + what was added; every tensor broadcasts to (…, rows, keys)."""

    query: Tensor  # (…, rows, d)
    key: Tensor  # (…, keys, d)
    scale: float = 1.0
    added: tuple[Tensor, ...] = ()  # numbers, or booleans: True may be seen
    grid: tuple[int, ...] = ()  # the shape of what holds it, where rows or keys are laid out in several dims
    owed: Tensor | None = None  # True where a score was made 0, and has to become low

    @property
    def table(self) -> tuple[int, int]:
        return self.query.shape[-2], self.key.shape[-2]

    @property
    def lead(self) -> torch.Size:
        tables = self.added if self.owed is None else (*self.added, self.owed)
        return torch.broadcast_shapes(*(x.shape[:-2] for x in (self.query, self.key, *tables)))

    @property
    def is_paid(self) -> bool:
        """Whether nobody looks where scores were made 0."""
        if self.owed is None:
            return True
        low = self.allowance(torch.Tensor.is_floating_point).masked_fill(~self.owed, -math.inf)
        best = self.allowance().amax(-1, keepdim=True)  # of those that may be seen
        return bool(((low <= best + LOW) | (best == -math.inf)).all())

    def held_by(self, x: Tensor) -> bool:
        """Whether a tensor has the shape of these scores."""
        return x.shape == self.grid if self.grid else x.shape[-2:] == self.table

    def times(self, number: float) -> "Product":
        added = tuple(x if x.dtype == torch.bool else x * number for x in self.added)
        return replace(self, scale=self.scale * number, added=added)

    def plus(self, other: "Product | Tensor") -> "Product | None":
        if isinstance(other, Tensor):
            found = self.flat(other)
            return None if found is None else replace(self, added=(*self.added, found))
        if self.grid or other.grid or self.owed is not None or other.owed is not None:
            return None
        # q·k + r·s is the product of both laid side by side.
        query, key = beside(self.query * self.scale, other.query * other.scale), beside(self.key, other.key)
        return Product(query, key, 1.0, self.added + other.added)

    def shown(self, zeros: Tensor) -> "Product | None":
        """Multiplied by ones and `zeros`: where these are True, something low has to be added later."""
        found = self.flat(zeros)
        if found is None or self.owed is not None or any(x.dtype != torch.bool for x in self.added):
            return None
        return replace(self, added=(*self.added, ~found), owed=found)

    def transposed(self) -> "Product | None":
        if self.grid:
            return None
        added = tuple(x.mT for x in self.added)
        owed = None if self.owed is None else self.owed.mT
        return replace(self, query=self.key, key=self.query, added=added, owed=owed)

    def followed_by(self, other: "Product") -> "Product | None":
        """The keys of another behind these: scores that stand side by side."""
        if self.grid or other.grid or self.owed is not None or other.owed is not None:
            return None
        if self.query.shape[-2] != other.query.shape[-2]:
            return None
        mine, theirs = self.query * self.scale, other.query * other.scale
        if mine.shape == theirs.shape and torch.equal(mine, theirs):
            query, keys = mine, (self.key, other.key)
        else:  # a query of both, of which each sort of key takes its part
            query = beside(mine, theirs)
            width, none = mine.shape[-1], theirs.shape[-1]
            keys = (
                F.pad(self.key, (0, none)),
                F.pad(other.key, (width, 0)),
            )
        key = torch.cat([like(keys[0], keys[1]), like(keys[1], keys[0])], -2)
        tables = self.allowance(), other.allowance()
        if not (self.added or other.added):
            return Product(query, key)
        rows = max(table.shape[-2] for table in tables)
        lead = torch.broadcast_shapes(*(table.shape[:-2] for table in tables))
        added = torch.cat([table.expand(*lead, rows, table.shape[-1]) for table in tables], -1)
        return Product(query, key, 1.0, (added,))

    def allowance(self, which: Callable[[Tensor], bool] = lambda x: True) -> Tensor:
        """All that was added, as numbers: (…, rows or 1, keys)."""
        total = self.query.new_zeros(1, self.key.shape[-2])
        for x in filter(which, self.added):
            total = total.masked_fill(~x, -math.inf) if x.dtype == torch.bool else total + x
        return total

    def shaped(self, shape: Sequence[int]) -> "Product | None":
        """In another shape, of as many tables; None if the tables change."""
        flat = flattened(shape, *self.table)
        lead = self.lead
        if flat is None or math.prod(lead) != math.prod(flat[:-2]):
            return None

        def of(x: Tensor) -> Tensor:
            if math.prod(x.shape[:-2]) == 1:  # the same for every table
                return x.reshape(x.shape[-2:]) if x.dim() > 2 else x
            return x.expand(*lead, *x.shape[-2:]).reshape(*flat[:-2], *x.shape[-2:])

        return replace(
            self,
            query=of(self.query),
            key=of(self.key),
            added=tuple(map(of, self.added)),
            grid=() if flat == tuple(shape) else tuple(shape),
            owed=None if self.owed is None else of(self.owed),
        )

    def flat(self, x: Tensor) -> Tensor | None:
        """What broadcasts to these scores, as (…, rows, keys), or a part of it; None if it does not."""
        if not self.grid:
            return torch.atleast_2d(x)
        if x.dim() > len(self.grid) or any(
            size not in (1, whole) for size, whole in zip(x.shape[::-1], self.grid[::-1], strict=False)
        ):
            return None
        shape = flattened(self.grid, *self.table)
        return None if shape is None else x.expand(self.grid).reshape(shape)


def flattened(shape: Sequence[int], rows: int, keys: int) -> tuple[int, ...] | None:
    """(…, rows, keys) of a shape in which rows, or keys, may be laid out as a grid; None if it is another."""
    lead = list(shape)
    for size in (keys, rows):
        found = 0
        while lead and found < size:
            found = max(found, 1) * lead.pop()
        if found != size:
            return None
    return (*lead, rows, keys)


def like(x: Tensor, other: Tensor) -> Tensor:
    """x with the leading dimensions of another, to lay them side by side."""
    return x.expand(*torch.broadcast_shapes(x.shape[:-2], other.shape[:-2]), *x.shape[-2:])


def beside(x: Tensor, other: Tensor) -> Tensor:
    return torch.cat([like(x, other), like(other, x)], -1)
