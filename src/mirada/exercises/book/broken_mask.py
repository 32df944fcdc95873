"""Broken: erasing after the softmax."""

import torch

from mirada.exercises.functions import Function, draw


def broken(scores, blocked):
    weights = scores.softmax(dim=-1)
    return weights.masked_fill(blocked, 0)


def masked_weights(scores, blocked):
    scores = scores.masked_fill(blocked, -torch.inf)
    return scores.softmax(dim=-1)


def ahead(length):
    return torch.ones(length, length).triu(1).bool()


exercise = Function(
    "broken_mask",
    masked_weights,
    broken=broken,
    cases=[(draw(5, 5), ahead(5)), (draw(2, 3, 7, 7), ahead(7))],
    mistakes={
        "as_it_was": broken,
        "zeroed_before": lambda scores, blocked: scores.masked_fill(blocked, 0).softmax(-1),
        "inverted": lambda scores, blocked: scores.masked_fill(~blocked, -torch.inf).softmax(-1),
        "below_zero_after": lambda scores, blocked: scores.softmax(-1).masked_fill(blocked, -torch.inf),
        "not_low_enough": lambda scores, blocked: scores.masked_fill(blocked, -1).softmax(-1),
        "softmax_twice": lambda scores, blocked: (
            scores.softmax(-1).masked_fill(blocked, -torch.inf).softmax(-1)
        ),
        "no_softmax": lambda scores, blocked: scores.masked_fill(blocked, -torch.inf),
    },
)
