"""What is done by hand to scores on their way to a softmax, done to the product that is remembered of them.

Each step takes `get`, which knows the products, and the arguments of the function that is called; it gives
the product of the result, or None where the result is not one that could be followed.
"""

import string
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from mirada.watching.product import LOW, Product

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
    if not isinstance(equation, str) or "->" not in equation or len(operands) != 2:
        return None
    given, result = equation.replace(" ", "").split("->")
    left, right = given.split(",")
    if "." in equation:  # letters for the dimensions that have none: the last ones are the same
        spare = "".join(i for i in string.ascii_letters if i not in equation)
        pairs = [*zip((left, right), operands, strict=True)]
        counts = [x.dim() - len(names) + 3 if "." in names else 0 for names, x in pairs]
        left, right = (
            names.replace("...", spare[12 - n : 12]) for (names, _), n in zip(pairs, counts, strict=True)
        )
        result = result.replace("...", spare[12 - max(counts) : 12])
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
        if not isinstance(number, Tensor) or get(number) is not None:
            return None
        number = number.detach()
        if factor(2.0) == 2.0 and ((number == 0) | (number == 1)).all():  # a mask that is multiplied in
            return product.shown(number == 0)
        if number.shape[-2:] != (1, 1) or product.added or product.grid:
            return None
        number = number if factor(2.0) == 2.0 else 1 / number
        return replace(product, query=product.query * number)  # one factor for a head: its queries carry it

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
        return mine.plus((y * (sign * alpha)).to(mine.query.device))

    return step


def of_masked_fill(get: Get, x: Any, mask: Any = None, value: Any = None) -> Product | None:
    product = get(x)
    if product is None or not isinstance(mask, Tensor) or float(value) > LOW:
        return None
    return product.plus(~mask.detach().bool())


def of_where(get: Get, condition: Any, x: Any = None, y: Any = None) -> Product | None:
    product, value, seen = (get(x), y, condition) if get(x) is not None else (get(y), x, ~condition)
    if product is None or (isinstance(value, Tensor) and value.numel() != 1) or float(value) > LOW:
        return None
    return product.plus(seen.detach())


def of_bounds(get: Get, x: Any, y: Any = None, z: Any = None, **kwargs) -> Product | None:
    """Bounds that no score reaches: from below, and perhaps from above."""
    low = kwargs.get("other", kwargs.get("min", y))
    high = kwargs.get("max", z)

    def far(bound: Any, sign: int) -> bool:
        one = isinstance(bound, Tensor) and bound.numel() == 1
        return (one or isinstance(bound, int | float)) and float(bound) * sign > 1e4

    return get(x) if far(low, -1) and (high is None or far(high, 1)) else None


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


def of_cat(get: Get, tensors: Any, dim: int = 0, **kwargs) -> Product | None:
    """Scores of several sorts of keys, side by side."""
    found = [get(x) for x in tensors]
    if not found or kwargs.get("dim", dim) not in (-1, tensors[0].dim() - 1):
        return None
    result = found[0]
    for other in found[1:]:
        result = None if result is None or other is None else result.followed_by(other)
    return result


def of_transposing(get: Get, x: Any, one: int = -1, other: int = -2) -> Product | None:
    """Keys that look at rows: what was a row of scores is now a column."""
    product = get(x)
    if product is None or {one % x.dim(), other % x.dim()} != {x.dim() - 1, x.dim() - 2}:
        return None
    return product.transposed()


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
    **dict.fromkeys((torch.max, torch.maximum, T.max, T.maximum, torch.clamp, T.clamp, T.clamp_), of_bounds),
    **{f: of_viewing(f) for f in (T.view, T.reshape, T.unsqueeze, T.squeeze, T.flatten, T.unflatten)},
    **{f: of_viewing(f) for f in (torch.reshape, torch.unsqueeze, torch.squeeze, torch.flatten)},
    **dict.fromkeys(
        (T.transpose, torch.transpose, T.swapaxes, vars(torch._C.TensorBase)["mT"].__get__), of_transposing
    ),
    **dict.fromkeys((torch.cat, torch.concat, torch.concatenate), of_cat),
    **dict.fromkeys((T.float, T.half, T.bfloat16, T.double, T.to, T.type, T.type_as, T.contiguous), same),
}
FIRST = (of_matmul, of_einsum, of_baddbmm, of_cat)  # those whose arguments need not be products themselves
