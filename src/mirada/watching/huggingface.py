"""The attention functions of Hugging Face's transformers, which its models look up by name.

Registering a function of our own would change the masks that a model builds: what a model looks up is
wrapped instead, and only for those who watch.
"""

import functools
import sys
from collections.abc import Callable

import torch
from torch import Tensor, nn

from mirada.layers.masks import Mask
from mirada.watching.edits import edited
from mirada.watching.forms import Masks
from mirada.watching.inputs import Inputs
from mirada.watching.watcher import aside, masks_of, places, quiet, record, watching

Output = tuple[Tensor, Tensor | None]  # (batch, rows, heads, dv), and the weights where the function has them


def interface() -> type | None:
    """The class in which the functions are looked up; None where transformers was not imported."""
    return getattr(sys.modules.get("transformers.modeling_utils"), "AttentionInterface", None)


def tap_lookup(lookup: Callable, *args, **kwargs) -> Callable:
    """What a model looks up, wrapped for who watches."""
    found = lookup(*args, **kwargs)
    if not watching.get() or getattr(found, "is_tapped", False) or is_elsewhere(found):
        return found

    @functools.wraps(found)
    def tapped(module, query, key, value, attention_mask=None, *args, **kwargs):
        return tap(found, module, query, key, value, attention_mask, *args, **kwargs)

    tapped.is_tapped = True  # pyright: ignore[reportAttributeAccessIssue]
    return tapped


def is_elsewhere(function: Callable) -> bool:
    """Those that end in `flex_attention`, which is seen itself, and those that no CPU has."""
    return any(name in getattr(function, "__name__", "") for name in ("flex", "flash", "paged"))


def tap(
    function, module: nn.Module, query: Tensor, key: Tensor, value: Tensor, mask, *args, **kwargs
) -> Output:
    """One attention function, seen."""
    if not (seen_by := places(module)):
        return function(module, query, key, value, mask, *args, **kwargs)
    is_sdpa = function.__name__.startswith("sdpa")

    def inputs() -> Inputs:
        return inputs_of(masks_of(seen_by), is_sdpa, module, query, key, value, mask, **kwargs)

    if (new := edited(seen_by, inputs, kwargs.get("dropout", 0.0))) is not None:
        with aside():
            record(seen_by, new.inputs, new.looked)
            _, heads, rows, _ = new.inputs.shape
            weights = (
                None if is_sdpa else new.inputs.bare().weights(range(heads), range(rows)).to(query.dtype)
            )
        return new.output.transpose(1, 2), weights
    with quiet():
        output = function(module, query, key, value, mask, *args, **kwargs)
    with aside():
        mixed = output[0]
        if kwargs.get("dropout", 0.0) and (is_sdpa or module.training):
            mixed = function(module, query, key, value, mask, *args, **{**kwargs, "dropout": 0.0})[0]
        record(seen_by, inputs(), mixed.transpose(1, 2))
    return output


def inputs_of(
    masks: Masks, is_sdpa: bool, module: nn.Module, query: Tensor, key: Tensor, value: Tensor, mask,
    scaling: float | None = None, is_causal: bool | None = None, position_bias: Tensor | None = None,
    softcap: float | None = None, s_aux: Tensor | None = None, sinks: Tensor | None = None, **_,
) -> Inputs:  # fmt: skip
    """What the function makes of its arguments, in our words."""
    if torch.is_autocast_enabled(query.device.type) and query.dtype != torch.float64:
        dtype = torch.get_autocast_dtype(query.device.type)
        query, key, value = query.to(dtype), key.to(dtype), value.to(dtype)
    rows, meaning = query.shape[-2], None
    if is_sdpa:
        causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
        if mask is None and causal and rows > 1:  # a new static cache: the kernel is given its filled part
            key, value = key[..., :rows, :], value[..., :rows, :]
            meaning = Mask.causal() if key.shape[-2] == rows else Mask.causal(first=0)
    tables = [table[..., : key.shape[-2]] for table in (mask, position_bias) if isinstance(table, Tensor)]
    given = (s_aux, sinks, getattr(module, "sinks", None))
    sinks = None if is_sdpa else next((x for x in given if isinstance(x, Tensor)), None)
    if sinks is not None and sinks.dim() > 1:  # one for each row: taken off its scores, it is 0
        tables.append(-sinks)
        sinks = sinks.new_zeros(query.shape[1])
    for table in tables:
        said = masks.of(table)
        meaning = said if meaning is None else meaning & said
    return Inputs(
        query,
        key,
        value,
        meaning,
        query.shape[-1] ** -0.5 if scaling is None else float(scaling),
        "transformers " + ("sdpa" if is_sdpa else "eager"),
        softcap,
        sinks,
        module,
    )
