"""Broken: the heads are joined without transposing back."""

from mirada.exercises.functions import Function, draw


def broken(x):
    batch, num_heads, length, head_dim = x.shape
    return x.reshape(batch, length, num_heads * head_dim)


def join_heads(x):
    batch, num_heads, length, head_dim = x.shape
    return x.transpose(1, 2).reshape(batch, length, num_heads * head_dim)


exercise = Function(
    "broken_heads",
    join_heads,
    broken=broken,
    cases=[(draw(2, 3, 5, 7),), (draw(3, 5, 2, 11),)],
    mistakes={
        "as_it_was": broken,
        "interleaved": lambda x: x.permute(0, 2, 3, 1).reshape(x.shape[0], x.shape[2], -1),
        "not_joined": lambda x: x.transpose(1, 2),
        "view_refused": lambda x: x.transpose(1, 2).view(x.shape[0], x.shape[2], -1),
    },
)
