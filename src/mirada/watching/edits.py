"""Changes made to a model's attention on its way: `mirada.watch(model, edits=[…])`.

An edited call is computed by the formula, in float32 or wider, instead of by the model's kernel: it is what
these few lines say, whichever function the model calls. Calls that no edit chooses run as they would.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from mirada.layers.masks import Mask
from mirada.watching.asking import Which, places
from mirada.watching.gaze import Gaze
from mirada.watching.head import shares
from mirada.watching.inputs import Inputs
from mirada.watching.watcher import Place, is_cross, matches

__all__ = ["Edit", "ablate_head", "add_to_key", "add_to_query", "block_look", "patch", "temperature"]


@dataclass(frozen=True, eq=False)
class Edit:
    """One change, for the modules and heads that it chooses. Made by the functions below."""

    what: str
    modules: tuple[str, ...]
    heads: Which
    inputs: Callable[[Inputs, "At"], Inputs] | None = None  # changes what attention is given
    output: Callable[[Tensor, "At"], Tensor] | None = None  # or what it gives, (batch, heads, rows, dv)

    def chooses(self, path: str) -> bool:
        return not self.modules or any(matches(path, pattern) for pattern in self.modules)

    def __repr__(self) -> str:
        chosen = f"modules={list(self.modules)}" if self.modules else "all modules"
        return f"{self.what}({chosen}, {'all heads' if self.heads is None else f'heads={self.heads}'})"


@dataclass(frozen=True)
class At:
    """Where an edit is at work: which module, which of its heads."""

    path: str
    kind: str
    heads: list[int]


def block_look(
    query: Which = None, key: Which = None, *, modules: str | Sequence[str] = (), heads: Which = None
) -> Edit:
    """Rows `query` may not look at keys `key`. A row that may look at nobody takes nothing: it gets 0."""

    def inputs(given: Inputs, at: At) -> Inputs:
        _, count, rows, keys = given.shape
        blocked = torch.zeros(count, rows, keys, dtype=torch.bool, device=given.query.device)
        chosen = torch.zeros(rows, keys, dtype=torch.bool, device=given.query.device)
        chosen[torch.tensor(places(query, rows, "row"))[:, None], places(key, keys, "key")] = True
        blocked[at.heads] = chosen
        mask = Mask.blocked(blocked)
        return replace(given, mask=mask if given.mask is None else given.mask & mask)

    return Edit("block_look", patterns(modules), heads, inputs)


def ablate_head(*, modules: str | Sequence[str] = (), heads: Which = None, mean: bool = False) -> Edit:
    """What these heads give is 0, or with `mean` the average of what they give over the rows of that run."""

    def output(mixed: Tensor, at: At) -> Tensor:
        def ablated(x: Tensor) -> Tensor:
            return x.mean(-2, keepdim=True).expand_as(x) if mean else torch.zeros_like(x)

        return with_heads(mixed, at.heads, ablated)

    return Edit("ablate_head", patterns(modules), heads, output=output)


def temperature(value: float, *, modules: str | Sequence[str] = (), heads: Which = None) -> Edit:
    """q·k is divided by `value` as well: below 1 these heads focus, above they spread. Biases stay."""
    if not 0 < value < math.inf:
        raise ValueError(f"temperature is {value}; expected a positive, finite number")

    def inputs(given: Inputs, at: At) -> Inputs:
        return replace(given, query=with_heads(given.query, at.heads, lambda x: x / value))

    return Edit("temperature", patterns(modules), heads, inputs)


def add_to_query(
    vector: Tensor, query: Which = None, *, modules: str | Sequence[str] = (), heads: Which = None
) -> Edit:
    """Add `vector`, broadcast to (batch, heads, rows, d) of those chosen, after rotary positions."""
    return _add("query", vector, query, modules, heads)


def add_to_key(
    vector: Tensor, key: Which = None, *, modules: str | Sequence[str] = (), heads: Which = None
) -> Edit:
    """Add `vector`, broadcast to (batch, heads, keys, d) of those chosen, after rotary positions.

    `heads` are query heads: where a group shares a key, each of them has a key of its own from then on.
    """
    return _add("key", vector, key, modules, heads)


def patch(gaze: Gaze, *, modules: str | Sequence[str] = (), heads: Which = None) -> Edit:
    """These heads look as they did in another run, mask and all, and take this run's values.

    The modules must have been seen in `gaze`, with as many rows and keys.
    """

    def inputs(given: Inputs, at: At) -> Inputs:
        look = gaze[at.path, at.kind]
        call = look.calls[-1]
        kept = look._heads(at.heads)
        if call.shape[2:] != given.shape[2:] or call.shape[0] not in (1, given.shape[0]):
            raise ValueError(
                f"patch: {at.path} had {call.shape[2]} rows, {call.shape[3]} keys, batch {call.shape[0]}, "
                f"and has {given.shape[2]}, {given.shape[3]}, {given.shape[0]} in this run"
            )
        query = call.query.expand(-1, call.shape[1], -1, -1)[:, kept].to(given.query)
        key = call.key[:, [head // call.group for head in kept]].to(given.key)
        return replace(
            given,
            query=with_heads(given.query, at.heads, lambda x: query.expand_as(x)),
            key=with_heads(own_keys(given), at.heads, lambda x: key.expand_as(x)),
            mask=of_both(given, call.mask, call.shape, at.heads, kept),
        )

    return Edit("patch", patterns(modules), heads, inputs)


def of_both(given: Inputs, other: Mask | None, shape: tuple[int, ...], heads: list[int], kept: list[int]):
    """The mask of this run, but for some heads that of another."""
    if repr(given.mask) == repr(other) and (
        other is None or all(part.tensor is None for part in other.parts)
    ):
        return other  # the same words say the same
    device, everything = given.query.device, Mask.allowed(torch.ones((), dtype=torch.bool))
    mine = (given.mask or everything).to_tensor(*given.shape, device=device)
    theirs = (other or everything).to_tensor(*shape, device=device)[:, kept]
    numbers = [torch.where(x, 0.0, -math.inf) if x.dtype == torch.bool else x for x in (mine, theirs)]
    return Mask.bias(with_heads(numbers[0], heads, lambda x: numbers[1].expand_as(x)))


def _add(name: str, vector: Tensor, where: Which, modules: str | Sequence[str], heads: Which) -> Edit:
    vector = torch.as_tensor(vector)

    def inputs(given: Inputs, at: At) -> Inputs:
        x = own_keys(given) if name == "key" else given.query

        def added(chosen: Tensor) -> Tensor:
            rows = places(where, chosen.shape[-2], name)
            change = torch.zeros_like(chosen)
            change[..., rows, :] = vector.to(chosen).expand(*chosen.shape[:-2], len(rows), chosen.shape[-1])
            return chosen + change

        return replace(given, **{name: with_heads(x, at.heads, added)})

    return Edit(f"add_to_{name}", patterns(modules), heads, inputs)


class Edited(NamedTuple):
    inputs: Inputs  # after the edits
    output: Tensor  # what comes of them, (batch, heads, rows, dv)
    looked: Tensor  # the same before the edits of the output, and without dropout: what proves the look


def edited(seen_by: Sequence[Place], inputs: Callable[[], Inputs], dropout: float) -> Edited | None:
    """One call of attention after all edits that choose its module; None if none does."""
    if not any(watcher.edits for watcher, *_ in seen_by):
        return None
    given = inputs()
    steps: list[tuple[Edit, At]] = []
    for watcher, path, module in seen_by:
        kind = "cross" if is_cross(path, module, given) else "self"
        for i, edit in enumerate(watcher.edits):
            if edit.chooses(path):
                heads = places(edit.heads, given.shape[1], f"{edit.what} at {path}: head")
                steps.append((edit, At(path, kind, heads)))
                watcher.edited.add(i)
    if not steps:
        return None
    batch, heads, rows, _ = given.shape
    given = replace(given, query=given.query.expand(batch, heads, -1, -1))
    for edit, at in steps:
        if edit.inputs is not None:
            given = edit.inputs(given, at)
    scores = given.bare().scores(range(heads), range(rows))
    weights = shares(scores, None if given.sinks is None else given.sinks[:, None, None])
    value = given.value.to(weights.dtype)
    value = value.repeat_interleave(heads // value.shape[1], dim=1)
    output = looked = weights @ value
    if dropout:
        output = F.dropout(weights, dropout) @ value
    for edit, at in steps:
        if edit.output is not None:
            output = edit.output(output, at)
    return Edited(given, output.to(given.value.dtype), looked)


def own_keys(given: Inputs) -> Tensor:
    """Where a group of heads shares a key, each with a key of its own."""
    batch, heads, _, _ = given.shape
    return given.key.expand(batch, -1, -1, -1).repeat_interleave(heads // given.key.shape[1], dim=1)


def with_heads(x: Tensor, heads: list[int], change: Callable[[Tensor], Tensor]) -> Tensor:
    """x (batch, heads, …) with some heads changed."""
    changed = x.clone()
    changed[:, heads] = change(x[:, heads])
    return changed


def patterns(modules: str | Sequence[str]) -> tuple[str, ...]:
    return (modules,) if isinstance(modules, str) else tuple(modules)
