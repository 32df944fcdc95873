"""A model's outputs before and after edits, and their difference."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils import _pytree as pytree

from mirada.watching.edits import Edit
from mirada.watching.gaze import Gaze
from mirada.watching.watch import watch


@dataclass(frozen=True)
class Comparison:
    """What a model gives before and after its edits, each in the form in which it gives it."""

    before: Any
    after: Any
    difference: Any  # after − before, in the same form, tensors of numbers alone; None for the rest
    gaze_before: Gaze
    gaze_after: Gaze


def compare(model: nn.Module, inputs: Any, edits: Sequence[Edit]) -> Comparison:
    """Run a model on `inputs` (a tensor, a tuple, or a dict of keyword arguments) with and without edits.

    Both runs are made without gradients, and from the same state of the random generator.

    Raises what `watch` raises.
    """
    args, kwargs = (), {}
    if isinstance(inputs, dict):
        kwargs = inputs
    elif isinstance(inputs, tuple | list):
        args = tuple(inputs)
    else:
        args = (inputs,)
    found = []
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        state = torch.get_rng_state()
        for changes in ((), edits):
            torch.set_rng_state(state)
            with watch(model, edits=changes) as gaze:
                found.append((model(*args, **kwargs), gaze))
    (before, gaze_before), (after, gaze_after) = found

    def difference(x, y):
        same = isinstance(x, Tensor) and isinstance(y, Tensor) and x.shape == y.shape
        return y - x if same and x.dtype != torch.bool else None

    return Comparison(before, after, pytree.tree_map(difference, before, after), gaze_before, gaze_after)
