"""How the spread of a product grows with the number of its terms."""

import math

from mirada.exercises.values import Values


def spreads():
    return [math.sqrt(d) for d in (16, 64, 400)]


exercise = Values(
    "sqrt_d",
    spreads,
    decimals=1,
    mistakes={
        "variance": [16, 64, 400],
        "after_dividing": [1, 1, 1],
        "inverse": [1 / 4, 1 / 8, 1 / 20],
        "root_twice": [2, 2.8, 4.5],
        "mean": [0, 0, 0],
    },
)
