"""What is left to a model that does not know where anything stands: the most frequent of the other seven."""

from collections import Counter
from itertools import combinations_with_replacement
from math import factorial, prod

from mirada.exercises.values import Values


def ceiling(others=7):
    total = 0
    for digits in combinations_with_replacement(range(10), others):
        counts = Counter(digits).values()
        orders = factorial(others) // prod(factorial(count) for count in counts)
        total += orders * max(counts)
    return total / 10**others / others


exercise = Values(
    "blind_ceiling",
    ceiling,
    decimals=3,
    mistakes={
        "a_guess": 0.1,
        "a_place_of_eight": 1 / 8,
        "a_place_of_seven": 1 / 7,
        "all_eight": ceiling(8),
        "over_eight": ceiling() * 7 / 8,
        "count": ceiling() * 7,
        "two_of_seven": 2 / 7,
    },
)
