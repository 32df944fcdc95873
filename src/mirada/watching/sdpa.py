"""PyTorch's fused kernel, `F.scaled_dot_product_attention`: where most of the world's attention ends."""

import math

import torch
from torch import Tensor

from mirada.layers.masks import Mask
from mirada.watching.edits import edited
from mirada.watching.forms import Masks, four, lead_of
from mirada.watching.inputs import Inputs
from mirada.watching.watcher import aside, masks_of, places, record, watching


def given(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> dict:
    """Its arguments by name, as the kernel takes them."""
    return locals()


def inputs_of(
    masks: Masks, query, key, value, attn_mask, is_causal, scale, kernel="sdpa", cross=None, **_
) -> Inputs:
    if torch.is_autocast_enabled(query.device.type) and query.dtype != torch.float64:  # as the kernel does
        dtype = torch.get_autocast_dtype(query.device.type)
        query, key, value = (x.to(dtype) for x in (query, key, value))
        if attn_mask is not None and attn_mask.is_floating_point():
            attn_mask = attn_mask.to(dtype)
    lead = lead_of(query, key, value)
    # Its flag counts from the first key, whatever the lengths are.
    mask = Mask.causal(first=0) if is_causal else None
    if is_causal and query.shape[-2] == key.shape[-2]:
        mask = Mask.causal()
    if (variant := getattr(attn_mask, "variant", None)) is not None:  # torch.nn.attention.bias, which is lazy
        attn_mask, mask = None, Mask.causal(**({} if variant.name == "LOWER_RIGHT" else {"first": 0}))
    if attn_mask is not None:
        if len(lead) == 1 and attn_mask.dim() == 3:
            attn_mask = attn_mask[:, None]
        elif attn_mask.dim() > 3 and len(lead) != 2:
            attn_mask = four(attn_mask, lead)
        mask = masks.of(attn_mask) if mask is None else mask & masks.of(attn_mask)
    return Inputs(
        four(query, lead),
        four(key, lead),
        four(value, lead),
        mask,
        1 / math.sqrt(query.shape[-1]) if scale is None else scale,
        kernel,
        cross=cross,
    )


def tap(kernel, *args, **kwargs) -> Tensor:
    """The kernel, seen."""
    if not watching.get():
        return kernel(*args, **kwargs)
    arguments = given(*args, **kwargs)
    three = (arguments["query"], arguments["key"], arguments["value"])
    if not (seen_by := places(tensors=three)):
        return kernel(*args, **kwargs)
    lead = lead_of(*three)

    def inputs() -> Inputs:
        return inputs_of(masks_of(seen_by), **arguments)

    if (new := edited(seen_by, inputs, arguments["dropout_p"])) is not None:
        with aside():
            record(seen_by, new.inputs, new.looked)
        return new.output.reshape(*lead, *new.output.shape[-2:])
    output = kernel(*args, **kwargs)
    with aside():
        undropped = kernel(**{**arguments, "dropout_p": 0.0}) if arguments["dropout_p"] > 0 else output
        record(seen_by, inputs(), four(undropped, lead))
    return output
