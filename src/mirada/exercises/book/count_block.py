"""Every matrix and every bias of a block, counted."""

from mirada.exercises.functions import Function


def block_parameters(d_model, num_heads, d_mlp):
    attention = 4 * (d_model * d_model + d_model)
    mlp = (d_model * d_mlp + d_mlp) + (d_mlp * d_model + d_model)
    layer_norms = 2 * (d_model + d_model)
    return attention + mlp + layer_norms


def less(part):
    return lambda d, h, m: block_parameters(d, h, m) - part(d, h, m)


exercise = Function(
    "count_block",
    block_parameters,
    cases=[(64, 4, 256), (21, 3, 11), (55, 5, 130)],
    mistakes={
        "only_the_example": lambda d, h, m: 49_984,
        "no_biases": less(lambda d, h, m: 4 * d + m + d),
        "no_mlp_biases": less(lambda d, h, m: m + d),
        "one_norm": less(lambda d, h, m: 2 * d),
        "no_norms": less(lambda d, h, m: 4 * d),  # as many as the biases of attention
        "no_output": less(lambda d, h, m: d * d + d),
        "times_heads": lambda d, h, m: block_parameters(d, h, m) + (h - 1) * 4 * (d * d + d),
        "narrow_heads": less(lambda d, h, m: 3 * (d * d + d - d * (d // h) - d // h)),
        "four_times": lambda d, h, m: block_parameters(d, h, 4 * d),
        "no_mlp": less(lambda d, h, m: 2 * m * d + m + d),
    },
)
