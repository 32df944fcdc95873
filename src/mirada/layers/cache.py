"""The keys and values of the words already read, kept so that they are not computed again."""

import torch
from torch import Tensor


class KVCache:
    """Room for `max_length` keys and values of one attention layer, set aside once and filled step by step.

    Only the filled part is ever handed out, as views: nobody looks at a place that was not written.
    Each layer of a stack needs a cache of its own, and a second one for the context, where it looks at one.

    Made for generation, under `torch.no_grad()`. With gradients on, the values are right all the same, and
    so are the gradients of the latest step; going back through an earlier step is refused by PyTorch
    ("modified by an inplace operation"), since the step after it wrote into the same memory.

    Args:
        batch, num_kv_heads, max_length, head_dim: what is kept has this shape, in this order.
        device, dtype: where and in which numbers; they must be those of the layer.

    Raises:
        ValueError: a size is not a whole number of at least 1 (`batch` may be 0).
    """

    def __init__(
        self,
        batch: int,
        num_kv_heads: int,
        max_length: int,
        head_dim: int,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        for name, size, least in (
            ("batch", batch, 0),
            ("num_kv_heads", num_kv_heads, 1),
            ("max_length", max_length, 1),
            ("head_dim", head_dim, 1),
        ):
            if not isinstance(size, int) or size < least:
                raise ValueError(f"{name} must be a whole number of at least {least}, but is {size!r}")
        shape = (batch, num_kv_heads, max_length, head_dim)
        self._keys = torch.empty(shape, device=device, dtype=dtype)
        self._values = torch.empty(shape, device=device, dtype=dtype)
        self.max_length = max_length
        self.length = 0  # how many places are filled

    @property
    def key(self) -> Tensor:
        """The filled part of the keys: (batch, num_kv_heads, length, head_dim)."""
        return self._keys[:, :, : self.length]

    @property
    def value(self) -> Tensor:
        """The filled part of the values: (batch, num_kv_heads, length, head_dim)."""
        return self._values[:, :, : self.length]

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Keep what follows, (batch, num_kv_heads, new, head_dim), and return all keys and values so far.

        Raises:
            ValueError: another shape, dtype or device than the cache's, or more than there is room for.
                Nothing is kept then.
        """
        placed = self.place(key, value)
        self.length += key.shape[2]
        return placed

    def place(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """What `append` would return for (batch, num_kv_heads, new, head_dim), without counting the new
        places as filled (it raises the same).

        The new keys and values are written behind the filled part, where the next call writes over them.
        """
        self._check("key", key, self._keys)
        self._check("value", value, self._values)
        if key.shape[2] != value.shape[2]:
            raise ValueError(
                f"key and value must be of one length, but are {key.shape[2]} and {value.shape[2]} long"
            )
        end = self.length + key.shape[2]
        if end > self.max_length:
            raise ValueError(
                f"the cache is full: it holds {self.length} of {self.max_length} places and was given "
                f"{key.shape[2]} more; build it with max_length={end} or more, or call reset()"
            )
        self._keys[:, :, self.length : end] = key
        self._values[:, :, self.length : end] = value
        return self._keys[:, :, :end], self._values[:, :, :end]

    def reset(self) -> None:
        """Empty the cache: the next `append` starts at the first place again."""
        self._keys, self._values = self._keys.detach(), self._values.detach()  # let go of any graph
        self.length = 0

    def _check(self, name: str, given: Tensor, kept: Tensor) -> None:
        batch, num_kv_heads, _, head_dim = kept.shape
        if given.dim() != 4 or (given.shape[0], given.shape[1], given.shape[3]) != (
            batch,
            num_kv_heads,
            head_dim,
        ):
            raise ValueError(
                f"the cache keeps a {name} of shape (batch, num_kv_heads, length, head_dim) = "
                f"({batch}, {num_kv_heads}, any, {head_dim}), but was given {tuple(given.shape)}"
            )
        if given.dtype != kept.dtype or given.device != kept.device:
            raise ValueError(
                f"the cache keeps a {name} of {kept.dtype} on {kept.device}, but was given {given.dtype} on "
                f"{given.device}; build the cache with the device and dtype of the layer"
            )

    def __repr__(self) -> str:
        batch, num_kv_heads, max_length, head_dim = self._keys.shape
        return (
            f"KVCache(batch={batch}, num_kv_heads={num_kv_heads}, head_dim={head_dim}, "
            f"filled {self.length} of {max_length}, {self._keys.dtype}, {self._keys.device})"
        )
