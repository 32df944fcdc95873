"""Cut, then transpose: reshaping alone mixes words and heads."""

from mirada.exercises.functions import Function, draw


def split_heads(x, num_heads):
    batch, length, d_model = x.shape
    return x.view(batch, length, num_heads, d_model // num_heads).transpose(1, 2)


exercise = Function(
    "split_heads",
    split_heads,
    cases=[(draw(2, 5, 21), 3), (draw(3, 7, 10), 5), (draw(1, 3, 4), 2)],
    mistakes={
        "only_reshaped": lambda x, num_heads: x.reshape(x.shape[0], num_heads, x.shape[1], -1),
        "not_transposed": lambda x, num_heads: x.reshape(*x.shape[:2], num_heads, -1),
        "every_other": lambda x, num_heads: x.reshape(*x.shape[:2], -1, num_heads).permute(0, 3, 1, 2),
        "width_before_words": lambda x, num_heads: x.reshape(*x.shape[:2], num_heads, -1).permute(0, 2, 3, 1),
        "heads_in_front": lambda x, num_heads: x.reshape(*x.shape[:2], num_heads, -1).permute(2, 0, 1, 3),
    },
)
