"""Queries from one side, keys and values from the other."""

import math

from mirada.exercises.functions import Function, draw


def cross_attention(x, context, w_q, w_k, w_v):
    query, key, value = x @ w_q, context @ w_k, context @ w_v
    weights = (query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])).softmax(-1)
    return weights @ value


def looked(query, key, value, root=True, axis=-1):
    scale = math.sqrt(query.shape[-1]) if root else 1
    return (query @ key.transpose(-2, -1) / scale).softmax(axis) @ value


exercise = Function(
    "cross_attention",
    cross_attention,
    cases=[
        (draw(7, 3), draw(7, 3), draw(3, 3), draw(3, 3), draw(3, 3)),
        (draw(5, 7), draw(11, 7), draw(7, 7), draw(7, 7), draw(7, 7)),
    ],
    mistakes={
        "sides_swapped": lambda x, c, q, k, v: looked(c @ q, x @ k, x @ v),
        "looks_at_itself": lambda x, c, q, k, v: looked(x @ q, x @ k, x @ v),
        "context_alone": lambda x, c, q, k, v: looked(c @ q, c @ k, c @ v),
        "values_of_x": lambda x, c, q, k, v: looked(x @ q, c @ k, x @ v),
        "keys_of_x": lambda x, c, q, k, v: looked(x @ q, x @ k, c @ v),
        "no_root": lambda x, c, q, k, v: looked(x @ q, c @ k, c @ v, root=False),
        "wrong_axis": lambda x, c, q, k, v: looked(x @ q, c @ k, c @ v, axis=-2),
        "not_projected": lambda x, c, q, k, v: looked(x, c, c),
        "transposed": lambda x, c, q, k, v: looked(x @ q.T, c @ k.T, c @ v.T),
    },
)
