"""`flex_attention`, whose formula is two small functions: the weights are recomputed from both.

https://pytorch.org/blog/flexattention/
"""

from collections.abc import Callable

import torch
from torch import Tensor

from mirada.layers.masks import Mask
from mirada.watching.edits import edited
from mirada.watching.inputs import Inputs
from mirada.watching.watcher import aside, places, quiet, record


def tap(
    kernel, query: Tensor, key: Tensor, value: Tensor, score_mod, block_mask: tuple, scale, *rest, **kwargs
):
    """The operator under `flex_attention`, seen."""
    given = (query, key, value, score_mod, block_mask, scale, *rest)
    if not (seen_by := places(tensors=(query, key, value))):
        return kernel(*given, **kwargs)

    def inputs() -> Inputs:
        with torch.no_grad():  # the places of a table need none; queries and keys keep theirs
            return inputs_of(query, key, value, score_mod, block_mask, scale)

    if (new := edited(seen_by, inputs, 0.0)) is not None:
        with aside():
            record(seen_by, new.inputs, new.looked)
            scores = new.inputs.bare().scores(range(query.shape[1]), range(query.shape[2]))
        return new.output, torch.logsumexp(scores, -1), scores.amax(-1)
    with quiet():
        output = kernel(*given, **kwargs)
    with aside():
        record(seen_by, inputs(), output[0])
    return output


def inputs_of(query, key, value, score_mod: Callable, block_mask: tuple, scale: float) -> Inputs:
    """What score_mod makes of each score is kept as what it adds to it: it may be any function of it."""
    batch, heads, rows, keys = query.shape[0], query.shape[1], query.shape[2], key.shape[2]
    wide = torch.promote_types(query.dtype, torch.float32)
    shared = key.repeat_interleave(heads // key.shape[1], dim=1)
    scores = (query.to(wide) * scale) @ shared.to(wide).mT
    added = at_every_place(score_mod, scores) - scores
    allowed = at_every_place(lambda _, *place: block_mask[-1](*place), scores)
    mask = None
    if not allowed.all():
        mask = Mask.allowed(shared_once(allowed.expand(batch, heads, rows, keys)))
    if added.any():
        bias = Mask.bias(shared_once(added))
        mask = bias if mask is None else mask & bias
    return Inputs(query, key, value, mask, scale, "flex_attention")


def at_every_place(function: Callable, scores: Tensor) -> Tensor:
    """function(score, sample, head, row, key) at every place of the table."""
    for dim in reversed(range(4)):
        function = torch.vmap(function, in_dims=(0, *(0 if place == dim else None for place in range(4))))
    return function(scores, *(torch.arange(size, device=scores.device) for size in scores.shape))


def shared_once(table: Tensor) -> Tensor:
    """What is the same for every sample, or for every head, once."""
    for dim in (0, 1):
        first = table.narrow(dim, 0, 1)
        if torch.equal(first.expand_as(table), table):
            table = first
    return table
