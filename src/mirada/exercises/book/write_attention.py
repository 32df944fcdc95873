"""softmax(QKᵀ/√d)·V, in any number of dimensions."""

import math

from mirada.exercises.functions import Function, draw


def attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    weights = scores.softmax(-1)
    return weights @ value


def scores(query, key):
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])


def divided_by_root(size):
    """Attention that divides by the root of `size(query, key, value)`."""

    def wrong(query, key, value):
        return (query @ key.transpose(-2, -1) / math.sqrt(size(query, key, value))).softmax(-1) @ value

    return wrong


def output_alone(function, *given):
    """The lesson's own six lines give the weights too."""
    value = function(*given)
    return value[0] if isinstance(value, tuple) and len(value) == 2 else value


exercise = Function(
    "write_attention",
    attention,
    use=output_alone,
    cases=[
        (draw(5, 7), draw(5, 7), draw(5, 7)),
        (draw(5, 7), draw(11, 7), draw(11, 3)),
        (draw(2, 3, 5, 7), draw(2, 3, 11, 7), draw(2, 3, 11, 13)),
    ],
    mistakes={
        "wrong_axis": lambda query, key, value: scores(query, key).softmax(-2) @ value,
        "first_axis": lambda query, key, value: scores(query, key).softmax(0) @ value,
        "second_axis": lambda query, key, value: scores(query, key).softmax(1) @ value,
        "whole_table": lambda query, key, value: (
            scores(query, key).flatten(-2).softmax(-1).view(scores(query, key).shape) @ value
        ),
        "sum_of_all": lambda query, key, value: (
            scores(query, key).exp() / scores(query, key).exp().sum() @ value
        ),
        "no_keepdim": lambda query, key, value: (
            scores(query, key).exp() / scores(query, key).exp().sum(-1) @ value
        ),
        "no_root": lambda query, key, value: (query @ key.transpose(-2, -1)).softmax(-1) @ value,
        "divided_by_d": lambda query, key, value: (
            (scores(query, key) / math.sqrt(query.shape[-1])).softmax(-1) @ value
        ),
        "fixed_root": divided_by_root(lambda query, key, value: 2),
        "root_of_length": divided_by_root(lambda query, key, value: key.shape[-2]),
        "root_of_queries": divided_by_root(lambda query, key, value: query.shape[-2]),
        "root_of_first_axis": divided_by_root(lambda query, key, value: query.shape[0]),
        "root_of_value": divided_by_root(lambda query, key, value: value.shape[-1]),
        "root_afterwards": lambda query, key, value: (
            (query @ key.transpose(-2, -1)).softmax(-1) / math.sqrt(query.shape[-1]) @ value
        ),
        "no_softmax": lambda query, key, value: scores(query, key) @ value,
        "not_transposed": lambda query, key, value: (query @ key).softmax(-1) @ value,
        "transposed_all": lambda query, key, value: (
            (query @ key.T / math.sqrt(query.shape[-1])).softmax(-1) @ value
        ),
        "weights_only": lambda query, key, value: scores(query, key).softmax(-1),
        "keys_mixed": lambda query, key, value: scores(query, key).softmax(-1) @ key,
    },
)
