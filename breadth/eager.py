"""The same weights as the model's own eager attention hands out, by module."""

import copy
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from breadth.build import run
from torch import Tensor
from transformers import PreTrainedModel

WITHIN = 5e-6


@dataclass
class Compared:
    """Looks that were laid beside the weights which the module's eager twin returned."""

    found: list[tuple[Any, float, float]] = field(default_factory=list)  # look, difference, what is allowed
    other: list[str] = field(default_factory=list)  # modules whose twin gives another output: no reference


def compare(model: PreTrainedModel, inputs: dict[str, Any], looks: list[Any]) -> Compared:
    """Each look whose module, in an eager copy, returns a table of its shape, beside that table.

    Rows of padding are left out: what they hold is nobody's business, and kernels differ there. So is a
    module whose eager twin does not compute the same, which happens: transformers ignores some masks there.
    """
    paths = {look.path for look in looks}
    ours = _calls(model, inputs, paths)
    theirs = _calls(_eager(model), inputs, paths, ours)
    result = Compared()
    for path, seen in _by_path(looks).items():
        calls = theirs.get(path, [])
        if len(calls) != len(seen) or len(ours.get(path, [])) != len(seen):
            continue
        for look, mine, twin in zip(seen, ours[path], calls, strict=True):
            weights, table = look.weights(), twin.table
            if table is None or table.shape != weights.shape:
                continue
            keep = rows(inputs, weights)
            if not _alike(mine.output, twin.output, keep):
                result.other.append(path)
            elif keep.any():
                sums = weights.sum(-1, keepdim=True)
                if (sums[keep] < 0.999).any() and (table.sum(-1)[keep] > 0.999).all():
                    table = table * sums  # a sink that its eager twin takes into account after the weights
                if table.shape[1] > 1 and (table == table[:, :1]).all():
                    weights = weights.mean(1, keepdim=True).expand_as(
                        weights
                    )  # it hands out the mean of its heads
                difference = float((weights - table.float()).abs()[keep].max())
                result.found.append((look, difference, WITHIN * max(1.0, _spread(weights[keep]) / 8)))
    return result


def _eager(model: PreTrainedModel) -> PreTrainedModel:
    twin = type(model)._from_config(copy.deepcopy(model.config), attn_implementation="eager").float().eval()
    twin.load_state_dict(model.state_dict())
    return twin


@dataclass
class _Call:
    """One call of a module: what it got, its output, and the weights that it returned, if it did."""

    got: dict[str | int, Any]
    output: Any = None
    table: Tensor | None = None


def _calls(
    model: PreTrainedModel,
    inputs: dict[str, Any],
    paths: set[str],
    first: dict[str, list[_Call]] | None = None,
) -> dict[str, list[_Call]]:
    """{path: its calls}. With `first`, each module gets the activations of that run instead of its own, so
    that what earlier modules rounded otherwise is not laid at its door."""
    found: dict[str, list[_Call]] = defaultdict(list)

    def before(path: str):
        def hook(module, arguments, named):
            got = {**dict(enumerate(arguments)), **named}
            earlier = (first or {}).get(path, [])
            if len(earlier) > len(found[path]):
                theirs = earlier[len(found[path])].got
                got = {n: theirs[n] if _activations(v, theirs.get(n)) else v for n, v in got.items()}
            found[path].append(_Call({n: v.clone() if isinstance(v, Tensor) else v for n, v in got.items()}))
            return tuple(got[i] for i in range(len(arguments))), {n: got[n] for n in named}

        return hook

    def after(path: str):
        def hook(module, arguments, output):
            call = found[path][-1]
            call.output = output[0] if isinstance(output, tuple | list) else output
            call.table = next(_tables(output), None)

        return hook

    modules = [(path, module) for path, module in model.named_modules() if path in paths]
    hooks = [m.register_forward_pre_hook(before(path), with_kwargs=True) for path, m in modules]
    hooks += [m.register_forward_hook(after(path)) for path, m in modules]
    try:
        run(model, {**inputs, "output_attentions": True})
    except Exception:
        found.clear()
        run(model, inputs)
    finally:
        for hook in hooks:
            hook.remove()
    return found


def _activations(mine: Any, theirs: Any) -> bool:
    """Whether both are (batch, length, width) of the same sizes: what flows between modules, not a mask."""
    return (
        isinstance(mine, Tensor)
        and isinstance(theirs, Tensor)
        and mine.dim() == 3
        and mine.is_floating_point()
        and mine.shape == theirs.shape
    )


def _alike(one: Any, other: Any, keep: Tensor) -> bool:
    """Whether two outputs (batch, rows, width) are the same but for rounding, in the rows to be compared."""
    if not (isinstance(one, Tensor) and isinstance(other, Tensor) and one.shape == other.shape):
        return False
    difference = (one - other).abs()
    if one.dim() == 3 and one.shape[:2] == keep.shape[::2]:
        difference = difference[keep.any(1)]
    return bool(difference.numel() == 0 or difference.max() <= 1e-4 * (1 + one.abs().max()))


def _spread(weights: Tensor) -> float:
    """How far the scores behind these weights lie apart: rounding of the scores grows with them."""
    logs = weights[weights > 0].log()
    return float(logs.max() - logs.min())


def _tables(output: Any) -> Iterator[Tensor]:
    """4-D tensors behind the first output of an attention module whose rows are weights."""
    for value in output[1:] if isinstance(output, tuple | list) else ():
        table = isinstance(value, Tensor) and value.dim() == 4 and value.is_floating_point() and value.numel()
        if table and value.min() >= 0 and value.sum(-1).max() < 1.001:  # else a bias, or keys
            yield value


def rows(inputs: dict[str, Any], weights: Tensor) -> Tensor:
    """(batch, heads, rows): True where a table is to be compared."""
    keep = weights.sum(-1) > 1e-3  # a row that may look at nobody: 0 in one kernel, uniform in another
    mask = inputs.get("attention_mask")
    if (
        isinstance(mask, Tensor)
        and mask.dim() == 2
        and len(mask) == len(weights)
        and mask.shape[1] == weights.shape[2]
    ):
        keep &= mask.bool()[:, None, :]
    return keep


def _by_path(looks: list[Any]) -> dict[str, list[Any]]:
    found = defaultdict(list)
    for look in looks:
        found[look.path].append(look)
    return found
