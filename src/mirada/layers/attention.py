"""The formula: softmax(QKᵀ/√d)·V.

Two functions. `attention_weights` gives the table: who looks at whom, and how much. `attention` gives the
output through PyTorch's fused kernel, which never builds the table. `attention_weights(q, k, mask) @ v`
equals `attention(q, k, v, mask)`; only their memory differs.

Vaswani et al., "Attention Is All You Need", 2017, equation 1.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import handle_torch_function, has_torch_function

from mirada.layers.masks import Mask, check_mask
from mirada.layers.rows import by_rows, fold


def attention_weights(
    query: Tensor,  # (…, heads, queries, d)
    key: Tensor,  # (…, heads or a divisor of it, keys, d)
    mask: Mask | None = None,
    *,
    temperature: float = 1.0,
) -> Tensor:  # (…, heads, queries, keys)
    """How much each query looks at each key: softmax over the keys of q·k / (√d · temperature), plus biases.

    Each row sums to 1, or to 0 where the mask leaves nobody to look at. Masked weights are exactly 0.
    A low temperature focuses, a high one spreads; the order of the keys stays.

    Raises ValueError for shapes that do not fit and a temperature that is not positive and finite,
    TypeError for a mask that is not a `Mask` and for tensors that are not floating point.
    """
    shape = check_shapes(query, key, key)
    scale = scale_of(query, temperature)
    if mask is not None:
        check_mask(mask).check(shape)
        key = blank_padding(key, mask, shape)
    if query.dim() > 3 and query.size(-3) != key.size(-3):  # the heads of a group share a key
        key = key.repeat_interleave(query.size(-3) // key.size(-3), dim=-3)
    wide = torch.promote_types(query.dtype, torch.float32)  # half precision is too coarse for scores
    scores = (query.to(wide) * scale) @ key.to(wide).transpose(-2, -1)
    if mask is None or shape[-1] == 0:
        return softmax(scores).to(query.dtype)
    table, nobody = mask.piece(shape, slice(0, shape[-2]), slice(0, shape[-1]), query.device, wide)
    weights = softmax(scores + table).to(query.dtype)
    return weights if nobody is None else torch.where(nobody, 0, weights)


def attention(
    query: Tensor,  # (…, heads, queries, d)
    key: Tensor,  # (…, heads or a divisor of it, keys, d)
    value: Tensor,  # (…, heads as key, keys, dv)
    mask: Mask | None = None,
    *,
    temperature: float = 1.0,
    dropout: float = 0.0,
) -> Tensor:  # (…, heads, queries, dv)
    """What each query takes with it: the average of the values, weighted as it looks at their keys.

    Equals `attention_weights(query, key, mask, temperature=temperature) @ value` without the table: memory
    grows with the length, not with its square. `dropout` drops that share of the weights; pass 0 outside
    of training. Where a mask leaves nobody to look at, the output is 0.

    What stands where padding hides a key, NaN included, reaches neither output nor gradient. Behind other
    masks finite values change nothing; NaN there, or in a visible query or key, follows PyTorch's kernel.

    Raises what `attention_weights` raises.
    """
    if has_torch_function(seen := (query, key, value)):  # PyTorch's protocol: a mode may want to know
        return handle_torch_function(attention, seen, *seen, mask, temperature=temperature, dropout=dropout)
    shape = check_shapes(query, key, value)
    scale = scale_of(query, temperature)
    if not 0 <= dropout <= 1:
        raise ValueError(f"dropout is {dropout}; expected a share of the weights, from 0 to 1")
    if mask is not None:
        check_mask(mask).check(shape)
        kept, mask = mask.trim(shape[-1])
        key, value, shape = key[..., kept, :], value[..., kept, :], (*shape[:-1], kept.stop - kept.start)
    if mask is not None:
        key, value = blank_padding(key, mask, shape), blank_padding(value, mask, shape)

    # The fused kernel takes four dimensions and one width: zeros at the end change no product and no average.
    width = max(query.size(-1), value.size(-1))
    q, k, v = (fold(widened(x, width)) for x in (query, key, value))
    options: dict[str, Any] = {"scale": scale, "dropout_p": dropout}
    if q.size(1) != k.size(1):
        options["enable_gqa"] = True  # the heads of a group share a key
    if mask is None or shape[-1] == 0 or (mask.is_causal and shape[-2] == 1):  # the last looks at all
        output = F.scaled_dot_product_attention(q, k, v, **options)
    elif mask.is_causal and shape[-2] == shape[-1]:
        output = F.scaled_dot_product_attention(q, k, v, is_causal=True, **options)
    else:
        output = by_rows(q, k, v, mask, shape, **options)
    return output[..., : value.size(-1)].reshape(*query.shape[:-1], value.size(-1)).to(query.dtype)


def softmax(scores: Tensor) -> Tensor:
    """Over the keys. The table is large: where no gradient needs the scores, it is written over them."""
    needed = torch.is_grad_enabled() or torch._C._are_functorch_transforms_active()
    return torch.softmax(scores, -1, out=None if needed else scores)


def widened(x: Tensor, width: int) -> Tensor:
    return x if x.size(-1) == width else F.pad(x, (0, width - x.size(-1)))


def blank_padding(x: Tensor, mask: Mask, shape: Sequence[int]) -> Tensor:
    """x (…, keys, width) with zeros where nobody in the sample may look: a weight of 0 lets NaN through."""
    visible = mask.visible_keys(shape, x.device)  # (…, 1, keys)
    return x if visible is None else torch.where(visible.transpose(-2, -1), x, 0)


def scale_of(query: Tensor, temperature: float) -> float:
    if not 0 < temperature < math.inf:
        raise ValueError(f"temperature is {temperature}; expected a positive, finite number")
    return 1 / (math.sqrt(query.size(-1)) * temperature)


def check_shapes(query: Tensor, key: Tensor, value: Tensor) -> tuple[int, ...]:
    """The shape of the scores, (…, heads, queries, keys); ValueError or TypeError for what does not fit."""
    for name, x in (("query", query), ("key", key), ("value", value)):
        if not x.is_floating_point():
            raise TypeError(f"{name} has dtype {x.dtype}; expected floating point: write {name}.float()")
        if x.dim() < 2 or x.dim() != query.dim():
            expected = "at least (length, width)" if x is query else f"{query.dim()} dimensions, as query"
            raise ValueError(f"{name} has shape {tuple(x.shape)}; expected {expected}")
    if query.size(-1) == 0:
        raise ValueError(f"query has shape {tuple(query.shape)}; expected at least one number for each token")
    *lead, heads = query.shape[:-2] if query.dim() > 2 else (1,)
    if query.dim() > 3 and key.size(-3) > 0 and heads % key.size(-3) == 0:
        heads = key.size(-3)
    lead = (*lead, heads)[: query.dim() - 2]
    for name, x, width in (("key", key, query.size(-1)), ("value", value, value.size(-1))):
        expected = (*lead, key.size(-2), width)
        if x.shape != expected:
            or_fewer = " or fewer heads, a divisor" if name == "key" and query.dim() > 3 else ""
            raise ValueError(
                f"{name} has shape {tuple(x.shape)}, which does not fit query {tuple(query.shape)}: "
                f"expected {expected}{or_fewer}"
            )
    return (*query.shape[:-1], key.size(-2))
