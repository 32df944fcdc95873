"""Broken: the softmax runs over the queries."""

import math

from mirada.exercises.functions import Function, draw


def broken(query, key):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    return scores.softmax(dim=-2)


def weights(query, key):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    return scores.softmax(dim=-1)


def scores(query, key):
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])


exercise = Function(
    "broken_softmax",
    weights,
    broken=broken,
    cases=[(draw(2, 3, 5, 7), draw(2, 3, 11, 7)), (draw(3, 2, 7, 5), draw(3, 2, 7, 5))],
    mistakes={
        "as_it_was": broken,
        "heads_axis": lambda query, key: scores(query, key).softmax(1),
        "no_softmax": scores,
        "divided_only": lambda query, key: scores(query, key) / scores(query, key).sum(-1, keepdim=True),
    },
)
