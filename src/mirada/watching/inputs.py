"""What one call of attention is given, whichever function was called: the same words for all of them."""

from dataclasses import dataclass

from torch import Tensor, nn

from mirada.layers.masks import Mask
from mirada.watching.call import Call
from mirada.watching.forms import kept


@dataclass(frozen=True, eq=False)
class Inputs:
    """Four dimensions, batch first; not copied, and with their gradients."""

    query: Tensor  # (batch, heads, rows, d)
    key: Tensor  # (batch, a divisor of heads, keys, d)
    value: Tensor  # (batch, a divisor of heads, keys, dv)
    mask: Mask | None
    scale: float
    kernel: str
    softcap: float | None = None
    sinks: Tensor | None = None  # (heads,)
    module: nn.Module | None = None  # who called, where the function was told
    cross: bool | None = None  # whether keys come from elsewhere, where the function knows

    @property
    def shape(self) -> tuple[int, int, int, int]:
        three = (self.query, self.key, self.value)
        batch = next((len(x) for x in three if len(x) != 1), 1)
        # A key head serves a group of query heads; one query head may also meet many heads of keys or values.
        heads = max(x.shape[1] for x in three)
        return batch, heads, self.query.shape[2], self.key.shape[2]

    def call(self, training: bool) -> Call:
        """A copy to keep."""
        return Call(
            kept(self.query),
            kept(self.key),
            self.shape,
            self.scale,
            self.mask,
            self.softcap,
            None if self.sinks is None else self.sinks.detach().clone(),
            self.kernel,
            training,
            tuple(range(self.shape[1])),
        )

    def bare(self) -> Call:
        """The same without a copy, to compute with at once."""
        return Call(
            self.query,
            self.key,
            self.shape,
            self.scale,
            self.mask,
            self.softcap,
            self.sinks,
            heads=tuple(range(self.shape[1])),
        )
