"""Mirada's own `attention`, whose mask is kept as it was said."""

import sys

import torch
from torch import Tensor

from mirada.layers.attention import scale_of
from mirada.layers.masks import Mask
from mirada.layers.multihead import MultiHeadAttention
from mirada.watching.edits import edited
from mirada.watching.forms import four, lead_of
from mirada.watching.inputs import Inputs
from mirada.watching.watcher import aside, places, quiet, record


def tap(
    attention,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Mask | None = None,
    *,
    temperature: float = 1.0,
    dropout: float = 0.0,
) -> Tensor:
    """`mirada.attention`, seen."""
    given = (query, key, value, mask)
    if not (seen_by := places(tensors=(query, key, value))):
        return attention(*given, temperature=temperature, dropout=dropout)
    lead = lead_of(query, key, value)

    def inputs() -> Inputs:
        return inputs_of(*given, temperature, lead)

    if (new := edited(seen_by, inputs, dropout)) is not None:
        with aside():
            record(seen_by, new.inputs, new.looked)
        return new.output.reshape(*lead, *new.output.shape[-2:])
    with quiet():  # it ends in the kernel, which is listened to as well
        output = attention(*given, temperature=temperature, dropout=dropout)
    with aside():
        undropped = attention(*given, temperature=temperature) if dropout else output
        record(seen_by, inputs(), four(undropped, lead))
    return output


def inputs_of(query, key, value, mask: Mask | None, temperature: float, lead: tuple[int, ...]) -> Inputs:
    scale = scale_of(query, temperature)
    if mask is not None and len(lead) != 2 and any(part.tensor is not None for part in mask.parts):
        # A tensor of it speaks of other dimensions than the four that are kept; causal and window of none.
        shape = (*lead, query.shape[-2], key.shape[-2])
        table = mask.to_tensor(*shape, device=query.device)
        table = four(table, lead)
        mask = Mask.allowed(table) if table.dtype == torch.bool else Mask.bias(table)
    four_of = [four(x, lead) for x in (query, key, value)]
    return Inputs(four_of[0], four_of[1], four_of[2], mask, scale, "mirada.attention", cross=has_context())


def has_context() -> bool | None:
    """Whether it is a MultiHeadAttention that was given another sequence; None if it is somebody else."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code is MultiHeadAttention.forward.__code__:
            return frame.f_locals["context"] is not None
        frame = frame.f_back
    return None
