"""The causal mask: a triangle, with its diagonal, the right way up."""

import torch

from mirada.exercises.exercise import Odd
from mirada.exercises.functions import Function


def causal_mask(length):
    return torch.ones(length, length).tril().bool()


def table(function, length):
    """What the function gives; one that leans on the library has not written the table yet."""
    from mirada.layers.masks import Mask

    given = function(length)
    if isinstance(given, Mask):
        raise Odd("write_the_mask.description")
    return given


def added(length):
    return torch.zeros(length, length).masked_fill(~causal_mask(length), -torch.inf)


exercise = Function(
    "write_the_mask",
    causal_mask,
    use=table,
    cases=[(5,), (7,), (1,)],
    mistakes={
        "inverted": lambda length: ~causal_mask(length),
        "looks_ahead": lambda length: causal_mask(length).T,
        "not_itself": lambda length: causal_mask(length).tril(-1),
        "not_back": lambda length: torch.eye(length),
        "everybody": lambda length: torch.ones(length, length),
        "one_too_many": lambda length: torch.ones(length, length).tril(1),
        "added": added,
    },
)
