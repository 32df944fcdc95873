"""Broken: √d_model in place of √head_dim."""

import math

from mirada.exercises.functions import Function, draw


def broken(query, key):
    num_heads, head_dim = query.shape[1], query.shape[3]
    d_model = num_heads * head_dim
    scores = query @ key.transpose(-2, -1) / math.sqrt(d_model)
    return scores.softmax(dim=-1)


def weights(query, key):
    head_dim = query.shape[-1]
    scores = query @ key.transpose(-2, -1) / math.sqrt(head_dim)
    return scores.softmax(dim=-1)


def scaled(query, key, divisor):
    return (query @ key.transpose(-2, -1) / divisor).softmax(-1)


exercise = Function(
    "broken_scale",
    weights,
    broken=broken,
    cases=[(draw(2, 3, 5, 7), draw(2, 3, 5, 7)), (draw(3, 5, 11, 13), draw(3, 5, 11, 13))],
    mistakes={
        "as_it_was": broken,
        "no_root": lambda query, key: scaled(query, key, query.shape[-1]),
        "not_divided": lambda query, key: scaled(query, key, 1),
        "root_of_heads": lambda query, key: scaled(query, key, math.sqrt(query.shape[1])),
    },
)
