"""One head of a look as a scene, which is all that a view knows."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from mirada.views.scene import Scene, SceneMask
from mirada.watching.call import runs
from mirada.watching.steps import parts

if TYPE_CHECKING:
    from mirada.watching.look import Look

LARGEST = 4_000_000  # cells of a mask that is written out


def scene_of(look: "Look", head: int, sample: int, tokens: Sequence[str] | None, rows: list[int]) -> Scene:
    """`head` is its place among those kept; `rows` are numbers from 0."""
    first = look.calls[0]
    if first.softcap is not None or first.sinks is not None:
        what = "sinks" if first.sinks is not None else "scores bent by tanh"
        raise ValueError(f"{look.path} has {what}, which a scene cannot say; take .weights() instead")
    tokens = names_of(look) if tokens is None else tokens
    if len(tokens) < look.keys:
        raise ValueError(f"there are {len(tokens)} tokens and {look.keys} keys: expected one for each key")
    heads = [call.head(sample, head) for call in look.calls]
    key = torch.zeros(look.keys, look.head_dim, dtype=torch.float64)
    for start, part in zip(look.starts, heads, strict=True):
        key[start : start + part.keys] = part.key.double()
    query = torch.cat([part.query.double() for part in heads])[rows]
    masks = masks_of(look, head, sample, rows)
    positions = look.positions
    names = [
        tokens[positions[row]]
        if look.kind == "self" and positions[row] < len(tokens)
        else str(positions[row])
        for row in rows
    ]
    return Scene(tuple(names), tuple(tokens[: look.keys]), query, key, scale=first.scale, masks=masks)  # pyright: ignore[reportArgumentType]


def names_of(look: "Look") -> list[str]:
    """Of the keys: the gaze's tokens where there are as many, else their numbers."""
    if look.tokens is not None and len(look.tokens) == look.keys:
        return list(look.tokens)
    return [str(i) for i in range(look.keys)]


def masks_of(look: "Look", head: int, sample: int, rows: list[int]) -> tuple[SceneMask, ...]:
    """In words where the words say all; else as the table of what may not be looked at."""
    call = look.calls[0]
    whole = look.steps == 1 and rows == list(range(look.rows))
    if whole and call.mask is None:
        return ()
    if whole and call.mask is not None and call.mask.is_causal:
        return (SceneMask("causal"),)
    if len(rows) * look.keys > LARGEST:
        raise ValueError(f"the mask of {len(rows):,} × {look.keys:,} is too large for a scene: choose rows")
    added = torch.full((len(rows), look.keys), -math.inf)
    done = 0
    for step, chosen in parts(look.calls, rows):
        start, part = look.starts[step], look.calls[step].head(sample, head)
        for run in runs(chosen):
            allowance = part.allowance(run, slice(0, part.keys))
            place = added[done : done + run.stop - run.start, start : start + part.keys]
            place.copy_(torch.zeros(()) if allowance is None else allowance)
            done += run.stop - run.start
    blocked = added == -math.inf
    found = [SceneMask("blocked", table=lists(blocked))] if blocked.any() else []
    bias = added.masked_fill(blocked, 0)
    if bias.any():
        found.append(SceneMask("bias", table=lists(bias)))
    return tuple(found)


def lists(table: Tensor):
    return tuple(tuple(row) for row in table.tolist())
