"""Attention that is written out by hand: softmax of a product, followed from the product to the softmax.

A product of two tensors is remembered; what is done to it on its way is done to what is remembered, as long
as it leaves softmax(scale · QKᵀ + bias) what it is. At the softmax the weights themselves are compared with
the formula's. What cannot be followed, or does not agree, is noted: nobody shall take what is seen for all.
"""

import math
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mirada.watching.forms import four
from mirada.watching.inputs import Inputs
from mirada.watching.watcher import Watcher, aside, masks_of, places


@dataclass(frozen=True)
class Product:
    """scale · query @ keyᵀ + what was added; every tensor broadcasts to (…, rows, keys)."""

    query: Tensor  # (…, rows, d)
    key: Tensor  # (…, keys, d)
    scale: float = 1.0
    added: tuple[Tensor, ...] = ()  # numbers, or booleans: True may be seen

    def times(self, number: float) -> "Product":
        added = tuple(x if x.dtype == torch.bool else x * number for x in self.added)
        return replace(self, scale=self.scale * number, added=added)

    def plus(self, other: "Product | Tensor") -> "Product":
        if isinstance(other, Tensor):
            return replace(self, added=(*self.added, other))
        # q·k + r·s is the product of both laid side by side.
        queries = self.query * self.scale, other.query * other.scale
        keys = self.key, other.key
        query = torch.cat([like(queries[0], queries[1]), like(queries[1], queries[0])], -1)
        key = torch.cat([like(keys[0], keys[1]), like(keys[1], keys[0])], -1)
        return Product(query, key, 1.0, self.added + other.added)

    def shaped(self, shape: Sequence[int]) -> "Product | None":
        """With other leading dimensions, of as many tables; None if the tables change."""
        rows, keys = self.query.shape[-2], self.key.shape[-2]
        if tuple(shape[-2:]) != (rows, keys):
            return None
        lead = torch.broadcast_shapes(self.query.shape[:-2], self.key.shape[:-2])
        lead = torch.broadcast_shapes(lead, *(x.shape[:-2] for x in self.added))
        if math.prod(lead) != math.prod(shape[:-2]):
            return None

        def of(x: Tensor) -> Tensor:
            if math.prod(x.shape[:-2]) == 1:  # the same for every table
                return x.reshape(x.shape[-2:]) if x.dim() > 2 else x
            return x.expand(*lead, *x.shape[-2:]).reshape(*shape[:-2], *x.shape[-2:])

        return replace(self, query=of(self.query), key=of(self.key), added=tuple(map(of, self.added)))


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
        product = None
        if step in (of_matmul, of_einsum, of_baddbmm) or any(self.get(x) is not None for x in args):
            with torch.no_grad(), torch._C.DisableTorchFunction():
                product = step(self.get, *args, **kwargs)
        result = func(*args, **kwargs)
        if isinstance(result, Tensor):
            if product is not None and result.shape[-2:] != (product.query.shape[-2], product.key.shape[-2]):
                product = None
            self.put(result, product)
        return result


Get = Callable[[Any], Product | None]


def of_matmul(get: Get, a: Any, b: Any = None, **kwargs) -> Product | None:
    b = kwargs.get("mat2", kwargs.get("other", b))
    if not (isinstance(a, Tensor) and isinstance(b, Tensor)) or min(a.dim(), b.dim()) < 3 or get(a) or get(b):
        return None
    return Product(a.detach(), b.detach().mT)


def of_baddbmm(get: Get, x: Tensor, a: Any = None, b: Any = None, *, beta=1, alpha=1, **kwargs):
    product = of_matmul(get, kwargs.get("batch1", a), kwargs.get("batch2", b))
    if product is None:
        return None
    return product.times(alpha).plus(x.detach() * beta) if beta else product.times(alpha)


def of_einsum(get: Get, equation: Any, *operands) -> Product | None:
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        operands = tuple(operands[0])
    if not isinstance(equation, str) or "->" not in equation or "." in equation or len(operands) != 2:
        return None
    given, result = equation.replace(" ", "").split("->")
    left, right = given.split(",")
    summed = [i for i in left if i in right and i not in result]
    row, column = result[-2:] if len(result) > 2 else "  "
    if len(summed) != 1 or row not in left or row in right or column not in right or column in left:
        return None
    lead = result[:-2]
    if any(i not in lead and i not in (*summed, row, column) for i in left + right):
        return None

    def ordered(x: Tensor, names: str, length: str) -> Tensor:
        order = [i for i in lead if i in names]
        x = x.detach().permute(*(names.index(i) for i in (*order, length, summed[0])))
        for place, i in enumerate(lead):
            if i not in names:
                x = x.unsqueeze(place)
        return x

    return Product(ordered(operands[0], left, row), ordered(operands[1], right, column))


def of_scaling(factor: Callable[[float], float]) -> Callable:
    def step(get: Get, x: Any, y: Any = None, **kwargs) -> Product | None:
        y = kwargs.get("other", y)
        product, number = (get(x), y) if get(x) is not None else (get(y), x)
        if product is None:
            return None
        if isinstance(number, Tensor) and number.numel() == 1:
            number = float(number)
        if isinstance(number, int | float):
            return product.times(factor(number)) if number else None
        whole = isinstance(number, Tensor) and get(number) is None and number.shape[-2:] == (1, 1)
        if not whole or product.added:  # one factor for a head: its queries carry it
            return None
        number = number.detach() if factor(2.0) == 2.0 else 1 / number.detach()
        return replace(product, query=product.query * number)

    return step


def of_adding(sign: int) -> Callable:
    def step(get: Get, x: Any, y: Any = None, *, alpha: float = 1, **kwargs) -> Product | None:
        y = kwargs.get("other", y)
        mine, other = get(x), get(y)
        if mine is not None and other is not None:
            return mine.plus(other.times(sign * alpha))
        if mine is None:
            if sign < 0 or other is None:
                return None
            mine, y = other, x
        y = torch.as_tensor(y).detach()
        return mine.plus(torch.atleast_2d(y * (sign * alpha)).to(mine.query.device))

    return step


def of_masked_fill(get: Get, x: Any, mask: Any = None, value: Any = None) -> Product | None:
    product = get(x)
    if product is None or not isinstance(mask, Tensor) or float(value) > -1e3:
        return None
    return product.plus(torch.atleast_2d(~mask.detach().bool()))


def of_where(get: Get, condition: Any, x: Any = None, y: Any = None) -> Product | None:
    product, value, seen = (get(x), y, condition) if get(x) is not None else (get(y), x, ~condition)
    if product is None or (isinstance(value, Tensor) and value.numel() != 1) or float(value) > -1e3:
        return None
    return product.plus(torch.atleast_2d(seen.detach()))


def of_floor(get: Get, x: Any, y: Any = None, **kwargs) -> Product | None:
    """A bound from below that is lower than any score."""
    bound = kwargs.get("other", kwargs.get("min", y))
    low = isinstance(bound, int | float | Tensor) and (not isinstance(bound, Tensor) or bound.numel() == 1)
    return get(x) if low and float(bound) < -1e4 else None


def of_viewing(function: Callable) -> Callable:
    def step(get: Get, x: Any, *args, **kwargs) -> Product | None:
        product = get(x)
        if product is None:
            return None
        if any(isinstance(a, torch.dtype) for a in args):
            return product
        # Which shape it is, torch knows: asked of a tensor without memory.
        return product.shaped(function(torch.empty(x.shape, device="meta"), *args, **kwargs).shape)

    return step


def same(get: Get, x: Any, *args, **kwargs) -> Product | None:
    return get(x)


T = torch.Tensor
times, over = of_scaling(lambda n: n), of_scaling(lambda n: 1 / n)
plus, minus = of_adding(1), of_adding(-1)
STEPS: dict[Any, Callable] = {
    **dict.fromkeys((torch.matmul, T.matmul, T.__matmul__, torch.bmm, T.bmm), of_matmul),
    **dict.fromkeys((torch.baddbmm, T.baddbmm), of_baddbmm),
    torch.einsum: of_einsum,
    **dict.fromkeys((torch.mul, torch.multiply, T.mul, T.mul_, T.__mul__, T.__rmul__, T.__imul__), times),
    **dict.fromkeys((torch.div, torch.true_divide, T.div, T.div_, T.__truediv__, T.__itruediv__), over),
    **dict.fromkeys((torch.add, T.add, T.add_, T.__add__, T.__radd__, T.__iadd__), plus),
    **dict.fromkeys((torch.sub, T.sub, T.sub_, T.__sub__, T.__isub__), minus),
    **dict.fromkeys((torch.masked_fill, T.masked_fill, T.masked_fill_), of_masked_fill),
    torch.where: of_where,
    **dict.fromkeys((torch.max, torch.maximum, T.max, T.maximum, torch.clamp, T.clamp, T.clamp_), of_floor),
    **{f: of_viewing(f) for f in (T.view, T.reshape, T.unsqueeze, T.squeeze, T.flatten, T.unflatten)},
    **{f: of_viewing(f) for f in (torch.reshape, torch.unsqueeze, torch.squeeze, torch.flatten)},
    **dict.fromkeys((T.float, T.half, T.bfloat16, T.double, T.to, T.type, T.type_as, T.contiguous), same),
}
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
    if found is None:
        return None
    lead = tuple(shape[:-2])
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
    names = ("num_heads", "num_attention_heads", "n_heads", "n_head", "heads")
    heads = next((n for name in names if isinstance(n := getattr(module, name, None), int)), 1)
    lead = x.shape[:-2]
    if len(lead) == 1:
        return x.unflatten(0, (-1, heads)) if lead[0] % heads == 0 else x[:, None]
    if len(lead) > 2 and lead[-1] != heads and heads in lead[1:]:
        x = x.movedim(lead.index(heads, 1), -3)
    return four(x, tuple(x.shape[:-2]))


def like(x: Tensor, other: Tensor) -> Tensor:
    """x with the leading dimensions of another, to lay them side by side."""
    return x.expand(*torch.broadcast_shapes(x.shape[:-2], other.shape[:-2]), *x.shape[-2:])
