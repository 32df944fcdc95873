"""How much each head looks at the mirror of its place."""

import torch

from mirada.exercises.functions import Function


def looks(samples, heads, length):
    """Weights as a trained model has them, chiefly at the mirror."""

    def drawn(generator):
        scores = torch.randn(samples, heads, length, length, generator=generator)
        strength = torch.arange(1, heads + 1).view(heads, 1, 1)
        return (scores + strength * torch.eye(length).flip(1)).softmax(-1)

    return drawn


def at_the_mirror(weights):
    length = weights.shape[-1]
    i = torch.arange(length)
    return weights[:, :, i, length - 1 - i].mean(dim=(0, 2))


exercise = Function(
    "read_a_head",
    at_the_mirror,
    cases=[(looks(3, 2, 8),), (looks(5, 3, 7),), (looks(2, 5, 11),)],
    mistakes={
        "diagonal": lambda weights: weights.diagonal(dim1=-2, dim2=-1).mean((0, 2)),
        "summed": lambda weights: at_the_mirror(weights) * weights.shape[-1],
        "one_number": lambda weights: at_the_mirror(weights).mean(),
        "whole_table": lambda weights: at_the_mirror(weights) / weights.shape[-1],
        "mean_of_all": lambda weights: weights.mean((0, 2, 3)),
        "each_place": lambda weights: weights.flip(-1).diagonal(dim1=-2, dim2=-1).mean(0),
        "each_sample": lambda weights: weights.flip(-1).diagonal(dim1=-2, dim2=-1).mean(2),
        "a_sample_each": lambda weights: weights.flip(-1).diagonal(dim1=-2, dim2=-1).mean((1, 2)),
        "largest": lambda weights: weights.amax(-1).mean((0, 2)),
        "how_often": lambda weights: (
            (weights.argmax(-1) == torch.arange(weights.shape[-1]).flip(0)).float().mean((0, 2))
        ),
    },
)
