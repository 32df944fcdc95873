"""Padding hides columns, a sample at a time."""

import torch

from mirada.exercises.functions import Function, draw


def weights(scores, lengths):
    keys = torch.arange(scores.shape[-1])
    padding = keys >= lengths[:, None, None]
    return scores.masked_fill(padding, -torch.inf).softmax(-1)


def hidden(scores, lengths, extra=0):
    """True at padding, (batch, 1, keys)."""
    return torch.arange(scores.shape[-1]) >= lengths[:, None, None] + extra


def rows_hidden(scores, lengths):
    padding = torch.arange(scores.shape[-2])[:, None] >= lengths[:, None, None]
    return scores.masked_fill(padding, -torch.inf).softmax(-1)


exercise = Function(
    "padding",
    weights,
    cases=[
        (draw(3, 7, 7), torch.tensor([7, 2, 5])),
        (draw(2, 5, 11), torch.tensor([3, 10])),
    ],
    mistakes={
        "inverted": lambda scores, lengths: scores.masked_fill(~hidden(scores, lengths), -torch.inf).softmax(
            -1
        ),
        "rows": rows_hidden,
        "rows_too": lambda scores, lengths: torch.where(
            torch.arange(scores.shape[-2])[:, None] < lengths[:, None, None], weights(scores, lengths), 0
        ),
        "zeroed_after": lambda scores, lengths: scores.softmax(-1).masked_fill(hidden(scores, lengths), 0),
        "zeroed_before": lambda scores, lengths: scores.masked_fill(hidden(scores, lengths), 0).softmax(-1),
        "one_too_many": lambda scores, lengths: scores.masked_fill(
            hidden(scores, lengths, 1), -torch.inf
        ).softmax(-1),
        "one_too_few": lambda scores, lengths: scores.masked_fill(
            hidden(scores, lengths, -1), -torch.inf
        ).softmax(-1),
        "one_length_for_all": lambda scores, lengths: weights(scores, lengths.max().expand(len(lengths))),
        "no_mask": lambda scores, lengths: scores.softmax(-1),
        "no_softmax": lambda scores, lengths: scores.masked_fill(hidden(scores, lengths), -torch.inf),
    },
)
