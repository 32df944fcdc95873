"""Several heads that look at the same words, each in its own way ("Attention Is All You Need", 3.2.2)."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mirada.layers.attention import attention, attention_weights
from mirada.layers.cache import KVCache
from mirada.layers.masks import Mask, check_mask
from mirada.layers.positions import RotaryPositions


class MultiHeadAttention(nn.Module):
    """Cut into heads, let each attend, join them, mix them: (batch, length, d_model) in and out.

    Self-attention, `layer(x)`, projects x at once to its queries, keys and values (`qkv_proj`, in that
    order). Cross-attention, `layer(x, context)`, takes the queries from x, keys and values from the context:
    through the same `qkv_proj` where both are equally wide, through `query_proj` and `kv_proj` where the
    context has a width of its own. `output_proj` mixes the heads.

    Args:
        d_model: width of x and of the output.
        num_heads: heads of queries.
        num_kv_heads: heads of keys and values; it divides num_heads, and each serves a group of query heads
            (https://arxiv.org/abs/2305.13245). As many as num_heads unless given.
        head_dim: width of a head; d_model / num_heads unless given.
        d_context: width of the context where it differs from d_model; the layer then needs a context.
        bias: whether the projections add one.
        dropout: share of the weights that is dropped, in training only.
        rotary: turns queries and keys by their position (self-attention only).

    Raises:
        ValueError: sizes that do not fit.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        *,
        num_kv_heads: int | None = None,
        head_dim: int | None = None,
        d_context: int | None = None,
        bias: bool = True,
        dropout: float = 0.0,
        rotary: RotaryPositions | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        super().__init__()
        self.d_model, self.num_heads = d_model, num_heads
        self.num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        self.d_context = d_model if d_context is None else d_context
        self.dropout = dropout
        self.rotary = rotary
        for name in ("d_model", "num_heads", "num_kv_heads", "d_context"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, but is {getattr(self, name)}")
        if head_dim is None and d_model % num_heads:
            raise ValueError(
                f"d_model={d_model} cannot be cut into num_heads={num_heads} equal heads; "
                "choose a multiple, or say how wide a head is with head_dim"
            )
        self.head_dim = d_model // num_heads if head_dim is None else head_dim
        if self.head_dim < 1:
            raise ValueError(f"head_dim must be at least 1, but is {self.head_dim}")
        if num_heads % self.num_kv_heads:
            raise ValueError(f"num_kv_heads={num_kv_heads} must divide num_heads={num_heads}")
        if not 0 <= dropout <= 1:
            raise ValueError(f"dropout must be a share, from 0 to 1, but is {dropout}")
        if rotary is not None and rotary.head_dim != self.head_dim:
            raise ValueError(
                f"rotary is made for head_dim={rotary.head_dim}, the heads are {self.head_dim} wide"
            )

        self._width = num_heads * self.head_dim  # of all queries
        self._kv_width = self.num_kv_heads * self.head_dim  # of all keys, and of all values
        options = {"bias": bias, "device": device, "dtype": dtype}
        if self.d_context == d_model:
            self.qkv_proj = nn.Linear(d_model, self._width + 2 * self._kv_width, **options)
        else:
            self.query_proj = nn.Linear(d_model, self._width, **options)
            self.kv_proj = nn.Linear(self.d_context, 2 * self._kv_width, **options)
        self.output_proj = nn.Linear(self._width, d_model, **options)

    def forward(
        self,
        x: Tensor,
        context: Tensor | None = None,
        mask: Mask | None = None,
        *,
        cache: KVCache | None = None,
        positions: Tensor | None = None,
    ) -> Tensor:
        """What each place of x takes with it: (batch, length, d_model).

        Args:
            x: (batch, length, d_model).
            context: (batch, keys, d_context), the sequence looked at; x itself unless given.
            mask: who may look at whom. It speaks of all keys: with a cache, of those in it and the new ones.
            cache: keeps the keys and values of x behind those it holds, and x looks at all of them. With a
                context it keeps the context's: the first call reads it, those that follow only look at it.
            positions: (length,) or (batch, length), whole numbers, for `rotary`. Unless given, they count
                from 0, with a cache from its length.

        Raises:
            ValueError: what is given does not fit this layer; the message names it.
        """
        mixed = attention(  # the heads are not kept beyond it: their memory is free for what follows
            *self._heads(x, context, mask, cache, positions),
            mask,
            dropout=self.dropout if self.training else 0.0,
        )
        if cache is not None and (context is None or cache.length == 0):
            # Not before: a call that failed leaves the cache as it was.
            cache.length += (x if context is None else context).shape[1]
        return self.output_proj(mixed.transpose(1, 2).flatten(2))  # (batch, length, heads · head_dim)

    def weights(
        self,
        x: Tensor,
        context: Tensor | None = None,
        mask: Mask | None = None,
        *,
        cache: KVCache | None = None,
        positions: Tensor | None = None,
    ) -> Tensor:
        """How `forward`, called with the same, would look: (batch, num_heads, length, keys), before dropout.

        A cache is looked at and stays as long as it was: asking does not advance it.
        """
        query, key, _ = self._heads(x, context, mask, cache, positions)
        return attention_weights(query, key, mask)

    def _heads(self, x, context, mask, cache, positions) -> tuple[Tensor, Tensor, Tensor]:
        """Query, key and value of every head: (batch, heads, length, head_dim)."""
        self._check(x, context, cache, positions)
        start = 0 if cache is None or context is not None else cache.length
        seen = x if context is None else context
        if context is not None and cache is not None and cache.length:
            return self._query(x), cache.key, cache.value
        if mask is not None:
            seen = clean_padding(seen, mask, (x.shape[0], self.num_heads, x.shape[1], start + seen.shape[1]))

        q, kv = self._width, self._kv_width
        if context is None:
            projected = self.qkv_proj(seen).split((q, kv, kv), dim=-1)
        elif self.d_context == self.d_model:  # x needs the first rows of qkv_proj only, the context the rest
            weight, bias = self.qkv_proj.weight[q:], self.qkv_proj.bias
            key_value = F.linear(seen, weight, None if bias is None else bias[q:])
            projected = key_value.split(kv, dim=-1)
        else:
            projected = self.kv_proj(seen).split(kv, dim=-1)
        *first, key, value = (self._in_heads(p) for p in projected)
        query = first[0] if first else self._query(x)

        if self.rotary is not None:
            if positions is None:
                positions = torch.arange(start, start + x.shape[1], device=x.device)
            query, key = self.rotary(query, positions), self.rotary(key, positions)
        if cache is not None:
            key, value = cache.place(key, value)
        return query, key, value

    def _query(self, x: Tensor) -> Tensor:
        """The queries alone, for a context."""
        if self.d_context != self.d_model:
            return self._in_heads(self.query_proj(x))
        weight, bias = self.qkv_proj.weight[: self._width], self.qkv_proj.bias
        return self._in_heads(F.linear(x, weight, None if bias is None else bias[: self._width]))

    def _in_heads(self, x: Tensor) -> Tensor:
        """(batch, length, heads · head_dim) to (batch, heads, length, head_dim)."""
        return x.unflatten(-1, (-1, self.head_dim)).transpose(1, 2)

    def _check(self, x, context, cache, positions) -> None:
        if x.dim() != 3 or x.shape[-1] != self.d_model:
            raise ValueError(f"x must be (batch, length, d_model={self.d_model}), but is {tuple(x.shape)}")
        if context is None:
            if self.d_context != self.d_model:
                raise ValueError(
                    f"this layer looks at a context of width d_context={self.d_context}: give it one"
                )
        elif context.dim() != 3 or (context.shape[0], context.shape[2]) != (x.shape[0], self.d_context):
            raise ValueError(
                f"context must be (batch={x.shape[0]}, keys, d_context={self.d_context}), "
                f"but is {tuple(context.shape)}; x is {tuple(x.shape)}"
            )
        elif cache is not None and cache.length not in (0, context.shape[1]):
            raise ValueError(
                f"cache holds {cache.length} places, but the context has {context.shape[1]}: used with a "
                "context, a cache keeps that one context and nothing else"
            )
        elif self.rotary is not None:
            raise ValueError("rotary positions compare places of one sequence: the layer takes no context")
        if positions is not None and self.rotary is None:
            raise ValueError("positions are for rotary: this layer was built without it")

    def extra_repr(self) -> str:
        return f"num_heads={self.num_heads}, num_kv_heads={self.num_kv_heads}, head_dim={self.head_dim}"


def clean_padding(x: Tensor, mask: Mask, shape: Sequence[int]) -> Tensor:
    """x, (batch, length, width), the last of the keys, with 0 for NaN and infinity where nobody may look.

    `attention` keeps them out of what others see. But 0 · NaN is NaN, and so would be the gradient of every
    projection that x goes through. `shape` is that of the scores, (batch, heads, queries, keys).
    """
    check_mask(mask).check(shape)
    visible = mask.visible_keys(shape, x.device)  # (…, 1, keys)
    if visible is None:
        return x
    hidden = ~visible.flatten(0, -2)[:, shape[-1] - x.shape[1] :, None]  # (batch or 1, length, 1)
    return x.masked_fill(hidden & ~x.isfinite(), 0)
