"""Attention without positions: shuffle what goes in, and what comes out is shuffled alike."""

import torch

from mirada.exercises.functions import Function, draw


def unshuffled(output, order):
    straight = torch.empty_like(output)
    straight[order] = output
    return straight


exercise = Function(
    "permutation",
    unshuffled,
    cases=[
        (draw(5, 3), torch.tensor([2, 0, 4, 1, 3])),
        (draw(7, 2), torch.tensor([3, 6, 0, 2, 5, 1, 4])),
    ],
    mistakes={
        "unchanged": lambda output, order: output,
        "shuffled_again": lambda output, order: output[order],
        "reversed": lambda output, order: output.flip(0),
        "columns": lambda output, order: output[:, order.argsort()],
        "order_itself": lambda output, order: order.argsort(),
    },
)
