"""What is left to a model that does not know where anything stands: the most frequent of the other seven."""

from math import comb

from mirada.exercises.values import Values


def ceiling():
    return expected_most(7) / 7


def expected_most(count, digits=10):
    """The mean of how often the most frequent of `count` random digits appears."""
    rows = digits**count
    return sum((rows - never_more(count, digits, most)) / rows for most in range(count))


def never_more(count, digits, most):
    """How many rows of `count` digits hold none of them more than `most` times, a digit at a time."""
    ways = [1] + [0] * count
    for _ in range(digits):
        ways = [sum(comb(n, k) * ways[n - k] for k in range(min(n, most) + 1)) for n in range(count + 1)]
    return ways[count]


exercise = Values(
    "blind_ceiling",
    ceiling,
    decimals=3,
    mistakes={
        "a_guess": 0.1,
        "a_place_of_eight": 1 / 8,
        "a_place_of_seven": 1 / 7,
        "all_eight": expected_most(8) / 8,
        "over_eight": expected_most(7) / 8,
        "count": expected_most(7),
        "two_of_seven": 2 / 7,
    },
)
