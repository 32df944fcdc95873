"""With a causal mask, half of the mirrors lie in the future.

Place i needs the digit of place 7 − i, which it may look at if that is not ahead; else it guesses.
"""

from mirada.exercises.values import Values


def shares():
    return [1.0 if 7 - i <= i else 0.1 for i in range(8)]


exercise = Values(
    "causal_reversal",
    shares,
    decimals=1,
    mistakes={
        "the_mean": 0.55,
        "the_mean_everywhere": [0.55] * 8,
        "wrong_half": [1, 1, 1, 1, 0.1, 0.1, 0.1, 0.1],
        "no_luck": [0, 0, 0, 0, 1, 1, 1, 1],
        "coin": [0.5, 0.5, 0.5, 0.5, 1, 1, 1, 1],
        "mask_does_nothing": [1] * 8,
        "nothing_left": [0.1] * 8,
        "one_too_many": [0.1, 0.1, 0.1, 1, 1, 1, 1, 1],
        "one_too_few": [0.1, 0.1, 0.1, 0.1, 0.1, 1, 1, 1],
    },
)
