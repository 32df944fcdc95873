"""Attention that is written out by hand: softmax of a product, followed from the product to the softmax.

A product of two tensors is remembered; what is done to it on its way is done to what is remembered, as long
as it leaves softmax(scale · QKᵀ + bias) what it is. At the softmax the weights themselves are compared with
the formula's. What cannot be followed, or does not agree, is noted: nobody shall take what is seen for all.
"""

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mirada.watching.forms import four
from mirada.watching.inputs import Inputs
from mirada.watching.product import Product
from mirada.watching.scores import FIRST, STEPS
from mirada.watching.watcher import Watcher, aside, masks_of, places


class Followed:
    """The products of one thread that are still on their way, by the tensors that hold them."""

    def __init__(self):
        self.held: dict[int, tuple[weakref.ref, Product]] = {}

    def put(self, x: Tensor, product: Product | None) -> None:
        if product is None:
            self.held.pop(id(x), None)
            return
        key = id(x)
        self.held[key] = (weakref.ref(x, lambda _: self.held.pop(key, None)), product)

    def get(self, x: Any) -> Product | None:
        found = self.held.get(id(x))
        return found[1] if found is not None and found[0]() is x else None

    def call(self, func: Callable, args: tuple, kwargs: dict) -> Any:
        """Run a function and follow what it does to a product."""
        step = STEPS[func]
        if not self.held and step not in FIRST:  # most of what a model does follows no product
            return func(*args, **kwargs)
        product = None
        if step in FIRST or any(self.get(x) is not None for x in args):
            with torch.no_grad(), torch._C.DisableTorchFunction():
                product = step(self.get, *args, **kwargs)
        result = func(*args, **kwargs)
        if isinstance(result, Tensor):
            self.put(result, product if product is not None and product.held_by(result) else None)
        return result


SOFTMAX = {torch.softmax, torch.Tensor.softmax, F.softmax, torch.special.softmax}


def softmax(followed: Followed, function: Callable, scores: Tensor, *args, **kwargs) -> Tensor:
    """The softmax, seen if its scores were followed and it agrees with them; noted otherwise."""
    product = followed.get(scores)
    weights = function(scores, *args, **kwargs)
    dim = kwargs.get("dim", args[0] if args else -1)
    if not isinstance(scores, Tensor) or scores.dim() < 3:
        return weights
    if dim not in (-1, scores.dim() - 1):  # not over the keys of a row
        if product is None:
            return weights
        product = None
    for place in places():
        watcher, path, module = place
        with aside():
            inputs = None if product is None else inputs_of(product, scores.shape, masks_of([place]), module)
            if inputs is not None and not scores.is_meta:
                call = inputs.call(module.training).proved_by_weights(in_heads(weights.detach(), module))
                if call.proved:
                    refuse_edits(watcher, path)
                    watcher.keep(path, module, inputs, call)
                    continue
        name, shape = type(module).__name__, " × ".join(map(str, scores.shape))
        if scores.dim() > 3 or "att" in f"{path} {name}".lower():
            watcher.gaze.note(path, f"{name} takes a softmax over {shape} of what could not be followed")
    return weights


def refuse_edits(watcher: Watcher, path: str) -> None:
    for edit in watcher.edits:
        if edit.chooses(path):
            raise ValueError(
                f"{edit!r} does not reach {path or 'the model itself'}: its attention is written out by "
                "hand, and can be seen but not edited; choose other modules (modules=)"
            )


def inputs_of(product: Product, shape: Sequence[int], masks, module: nn.Module) -> Inputs | None:
    found = product.shaped(shape)
    if found is None or found.grid or not found.is_paid:
        return None
    lead = tuple(shape[:-2])
    heads = heads_of(module)
    if heads > 1 and lead[1:].count(heads) > 1:
        return None  # which of these are the heads?
    query, key = (x.expand(*lead, *x.shape[-2:]) for x in (found.query, found.key))
    mask = None
    for table in found.added:
        if table.dim() > 2:
            table = in_heads(table.expand(*lead, *table.shape[-2:]), module)
        said = masks.of(table)
        mask = said if mask is None else mask & said
    query, key = in_heads(query, module), in_heads(key, module)
    return Inputs(query, key, key, mask, found.scale, "by hand", module=module)


def in_heads(x: Tensor, module: nn.Module) -> Tensor:
    """(batch, heads, …): heads folded into the batch, or standing elsewhere, as the module counts them."""
    heads = heads_of(module)
    lead = x.shape[:-2]
    if len(lead) == 1:
        return x.unflatten(0, (-1, heads)) if lead[0] % heads == 0 else x[:, None]
    if len(lead) > 2 and lead[-1] != heads and heads in lead[1:]:
        x = x.movedim(lead.index(heads, 1), -3)
    return four(x, tuple(x.shape[:-2]))


def heads_of(module: nn.Module) -> int:
    """How many a module says it has; 1 if it does not say."""
    names = ("num_heads", "num_attention_heads", "n_heads", "n_head", "heads")
    return next((n for name in names if isinstance(n := getattr(module, name, None), int)), 1)
