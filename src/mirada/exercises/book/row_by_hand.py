"""One more row of the lesson's example, with a pencil."""

import math

from mirada.exercises.values import Values


def weights():
    products = [2 * 0 - 1 * 2, 2 * 1 - 1 * 0, 2 * 2 - 1 * 1]
    powers = [math.exp(product / math.sqrt(2)) for product in products]
    return [power / sum(powers) for power in powers]


exercise = Values(
    "row_by_hand",
    weights,
    mistakes={
        "products": [-2, 2, 3],
        "scores": [-1.41, 1.41, 2.12],
        "no_root": [0.00, 0.27, 0.73],  # softmax of -2, 2, 3
        "divided_by_d": [0.05, 0.36, 0.59],  # softmax of -2/2, 2/2, 3/2
        "root_of_words": [0.03, 0.35, 0.62],  # softmax of -2, 2, 3 over √3: nearly right
        "no_exponential": [-0.67, 0.67, 1],
        "not_shared": [0.24, 4.11, 8.34],
        "crossed": [0.92, 0.03, 0.05],  # softmax of 4, -1, 0 over the root: first number by second
        "sign_lost": [0.1, 0.1, 0.81],  # softmax of 2, 2, 5 over the root
        "output": [0.68, 0.98],
    },
)
