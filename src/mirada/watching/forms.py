"""What a model hands to attention, in the form in which it is kept."""

import math

import torch
from torch import Tensor

from mirada.layers.masks import Mask


def four(x: Tensor, lead: tuple[int, ...]) -> Tensor:
    """(batch, heads, length, width): `lead` is what stands before the last two, the heads last of it."""
    if len(lead) < 2:  # (length, width), or (batch, length, width): one head
        return x.reshape(-1, 1, *x.shape[-2:]) if x.dim() == 3 else x[None, None]
    x = x.reshape(*[1] * (len(lead) + 2 - x.dim()), *x.shape)
    if len(lead) == 2:
        return x
    return x.expand(*lead[:-1], *x.shape[-3:]).flatten(0, -4)


def lead_of(*tensors: Tensor) -> tuple[int, ...]:
    """What stands before the last two dimensions; the heads are those of the first."""
    lead = tensors[0].shape[:-2]
    if all(x.shape[:-2] == lead for x in tensors):  # nearly always, and quicker than to work it out
        return tuple(lead)
    dims = max(x.dim() for x in tensors)
    if dims < 4:
        return tuple(torch.broadcast_shapes(*(x.shape[:-2] for x in tensors)))
    lead = torch.broadcast_shapes(*(x.shape[:-3] for x in tensors))
    return (*lead, max(x.shape[-3] if x.dim() > 2 else 1 for x in tensors))


def kept(x: Tensor) -> Tensor:
    """A copy of its own: caches are overwritten by the next step. What only repeats itself, once."""
    x = once(x.detach(), dims=2)
    return x.clone()  # laid out as it was: to change that takes longer than to copy


def once(x: Tensor, dims: int | None = None) -> Tensor:
    """Without the repetitions of an expanded dimension, of the first `dims` of them."""
    for dim, (size, stride) in enumerate(zip(x.shape[:dims], x.stride()[:dims], strict=True)):
        if stride == 0 and size > 1:
            x = x.narrow(dim, 0, 1)
    return x


class Masks:
    """The masks of one watch. Layers share a mask: it is kept once."""

    def __init__(self):
        self.seen: list[tuple[Tensor, Mask]] = []

    def of(self, table: Tensor) -> Mask:
        """Of a boolean table (True: may look) or numbers to add, which broadcasts to the scores.

        Models write "may not look" as the lowest number there is: that is −inf here.
        """
        table = once(table.detach())
        for before, mask in self.seen:
            if before.shape == table.shape and before.dtype == table.dtype and torch.equal(before, table):
                return mask
        table = table.clone(memory_format=torch.contiguous_format)
        mask = meaning_of(table)
        self.seen = [*self.seen[-3:], (table, mask)]
        return mask


def meaning_of(table: Tensor) -> Mask:
    if table.dtype == torch.bool:
        return Mask.allowed(table)
    if not table.is_floating_point():
        table = table.float()
    lowest = torch.finfo(table.dtype).min / 2
    hidden = table <= lowest
    if hidden.all(-1).any():
        table = settled(table, lowest)
        hidden = table <= lowest
    bias = table.masked_fill(hidden, 0)
    if not bias.any():
        return Mask.allowed(~hidden)
    return Mask.bias(table.masked_fill(hidden, -math.inf))


def settled(table: Tensor, lowest: float) -> Tensor:
    """Rows in which all numbers are low, and which are not all one number, less their largest.

    A row of one low number may look at nobody. Where they differ, the softmax is one over the differences:
    the key with the largest is looked at, as if all of it had not been so low.
    """
    finite = table > -math.inf
    largest = table.amax(-1, keepdim=True)
    differ = (finite & (table < largest)).any(-1, keepdim=True) & (largest <= lowest)
    return torch.where(differ & finite, table - largest, table)
